"""Compare the plugin tactile.skin with MuJoCo's touch_grid: python bench/mujoco_plugin.py.

A box of 2 kg rests on a plane on four contact points. The skin covers the lower face of the box; the grid of
the site looks at it from inside. Costs are differences of the CPU time of a step with and without the sensor.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import mujoco
import numpy as np

import tactile_sim
from tactile_sim.simulation.export import export

SCENE = """<mujoco><worldbody><geom type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/>
    <site name="center"/></body></worldbody>{}</mujoco>"""
GRID = """<extension><plugin plugin="mujoco.sensor.touch_grid"/></extension>
<sensor><plugin name="box" plugin="mujoco.sensor.touch_grid" objtype="site" objname="center">
  <config key="size" value="32 32"/><config key="fov" value="90 90"/><config key="nchannel" value="3"/>
</plugin></sensor>"""
PAD = {"body": "box", "region": {"box": [-1, -1, -1, 1, 1, -0.099], "normal": [0, 0, -1]}, "spacing": 0.00625}


def skin_sensor(response: str, folder: Path) -> str:
    """Export a skin of about 1,000 taxels, and return the MJCF of its sensor."""
    settings = {"skin": {"pads": {"box": PAD}, "response_function": response}}
    scene = mujoco.MjSpec.from_string(SCENE.format(""))
    export(tactile_sim.Simulation(scene, settings), folder)
    return f'<include file="{folder}/skin.xml"/>'


def cost(models: list[mujoco.MjModel]) -> tuple[np.ndarray, list[mujoco.MjData]]:
    """Return the CPU time of a step of each model [s], measured alternately, and their states at rest."""
    states = [mujoco.MjData(model) for model in models]
    for model, state in zip(models, states, strict=True):
        mujoco.mj_step(model, state, 1000)
    times = np.full((60, len(models)), np.inf)
    for row in times:
        for k, (model, state) in enumerate(zip(models, states, strict=True)):
            start = time.process_time()
            mujoco.mj_step(model, state, 300)
            row[k] = (time.process_time() - start) / 300
    return times.min(axis=0), states


def main() -> None:
    """Print the table."""
    tactile_sim.load_mujoco_plugin()
    (shipped,) = (Path(mujoco.__file__).parent / "plugin").glob("libsensor.*")
    mujoco.mj_loadPluginLibrary(str(shipped))
    with tempfile.TemporaryDirectory() as folder:
        sensors = {"none": "", "`touch_grid` 32 x 32": GRID}
        for response in ("nearest", "spread_linear", "elastic_foundation"):
            sensors[f"`tactile.skin` {response}"] = skin_sensor(response, Path(folder) / response)
        models = [mujoco.MjModel.from_xml_string(SCENE.format(tail)) for tail in sensors.values()]
        times, states = cost(models)
    print("| sensor | values | sum of normal forces [N] | largest [N] | cost of a step [us] |")
    print("|---" * 5 + "|")
    for name, state, duration in list(zip(sensors, states, times, strict=True))[1:]:
        values = state.sensordata
        normal = values[2::3] if "skin" in name else values[: len(values) // 3]
        print(
            f"| {name} | {len(values)} | {abs(normal.sum()):.3f} | {abs(normal).max():.3f} "
            f"| {(duration - times[0]) * 1e6:.2f} |"
        )


if __name__ == "__main__":
    main()

"""MuJoCo's plugin tactile.skin: readings in sensordata, see docs/mujoco_plugin.md."""

import mujoco
import numpy as np
import pytest

import tactile_sim
from tactile_sim.common.files import find_shipped
from tactile_sim.engines.contacts import read_contacts
from tactile_sim.simulation.export import export

SCENE = """<mujoco>{}<worldbody><geom type="plane" size="2 2 .1"/>
  <body name="{name}" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
</worldbody></mujoco>"""


@pytest.fixture(scope="module", autouse=True)
def plugin():
    return tactile_sim.load_mujoco_plugin()


@pytest.mark.parametrize("config", ["touch_cube", "gripper", "hand"])
def test_sensors_equal_the_readings_of_the_skin(config, tmp_path):
    simulation = tactile_sim.load(config)
    export(simulation, tmp_path)
    scene = tmp_path / "scene.xml"
    shipped = find_shipped("scenes", f"{config}.xml")
    scene.write_text(f'<mujoco><include file="{shipped}"/><include file="skin.xml"/></mujoco>')
    model = mujoco.MjModel.from_xml_path(str(scene))
    data, skin = mujoco.MjData(model), simulation.skin
    mujoco.mj_step(model, data, 250)
    contacts, poses = read_contacts(model, data), (data.xpos, data.xmat.reshape(-1, 3, 3))
    assert len(contacts) > 0
    functions = zip(simulation.functions.quantities, simulation.functions.responses, strict=True)
    for pad, function in zip(skin.pads, functions, strict=True):
        readings = skin.readings_from_contacts(contacts, *poses, *function)[pad.start : pad.stop]
        np.testing.assert_allclose(
            data.sensor(f"tactile/{pad.name}").data, readings.ravel(), rtol=1e-9, atol=1e-9
        )


def test_weight_is_felt_and_copies_are_independent(tmp_path):
    scene = mujoco.MjSpec.from_string(SCENE.format("", name="box"))
    export(tactile_sim.Simulation(scene, {"skin": {"scales": {"box": 0.02}}}), tmp_path)
    model = mujoco.MjModel.from_xml_string(SCENE.format(f'<include file="{tmp_path}/skin.xml"/>', name="box"))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 1000)
    copied = mujoco.MjData(model)
    mujoco.mj_copyData(copied, model, data)
    data.qpos[2] += 1.0
    for state, force in ((data, 0.0), (copied, 2 * 9.81)):
        mujoco.mj_forward(model, state)
        np.testing.assert_allclose(
            state.sensor("tactile/box").data.reshape(-1, 3).sum(axis=0), [0, 0, force], atol=1e-3
        )
    with pytest.raises(ValueError, match="its body 1 is box, not bag"):
        mujoco.MjModel.from_xml_string(SCENE.format(f'<include file="{tmp_path}/skin.xml"/>', name="bag"))


def test_invalid_layouts_are_errors_of_the_scene(tmp_path):
    scene = mujoco.MjSpec.from_string(SCENE.format("", name="box"))
    export(tactile_sim.Simulation(scene, {"skin": {"scales": {"box": 0.02}}}), tmp_path)
    include = SCENE.format(f'<include file="{tmp_path}/skin.xml"/>', name="box")
    layout = tmp_path / "skin.layout"
    content = layout.read_bytes()
    for damaged in (b"no skin", content[: len(content) // 2], None):
        layout.unlink(missing_ok=True)
        if damaged:
            layout.write_bytes(damaged)
        with pytest.raises(ValueError, match="skin.layout"):
            mujoco.MjModel.from_xml_string(include)

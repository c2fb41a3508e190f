"""The skin as a sensor in a scene of mjlab. `make test-extras` runs this file."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

pytest.importorskip("mjlab", reason="installed by make test-extras only, in an environment of its own")

from mjlab.entity import EntityCfg  # noqa: E402
from mjlab.scene import Scene, SceneCfg  # noqa: E402
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg  # noqa: E402

from tactile_sim import ConfigError  # noqa: E402
from tactile_sim.batch.mjlab import TactileSensorCfg  # noqa: E402

MASS, GRAVITY, ENVS = 0.5, 9.81, 3
BOX = f"""<mujoco><worldbody><body name="box" pos="0 0 0.05"><freejoint/>
  <geom name="box" type="box" size=".05 .05 .05" mass="{MASS}"/></body></worldbody></mujoco>"""
FLOOR = '<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/></worldbody></mujoco>'


def scene_with(skin: dict) -> tuple[Scene, Simulation]:
    entities = {
        name: EntityCfg(spec_fn=lambda xml=xml: mujoco.MjSpec.from_string(xml))
        for name, xml in (("object", BOX), ("ground", FLOOR))
    }
    sensors = (TactileSensorCfg("skin", skin),)
    scene = Scene(SceneCfg(num_envs=ENVS, entities=entities, sensors=sensors), device="cpu")
    settings = SimulationCfg(mujoco=MujocoCfg(timestep=0.002), nconmax=32, njmax=64)
    simulation = Simulation(ENVS, settings, scene.compile(), device="cpu")
    scene.initialize(simulation.mj_model, simulation.model, simulation.data)
    return scene, simulation


def test_skin_of_an_mjlab_scene_reads_the_weight_in_each_environment():
    scene, simulation = scene_with({"scales": {"object/box": 0.02}, "touch_function": "force_vector_global"})
    box = simulation.mj_model.body("object/box").id
    for env in range(ENVS):
        simulation.data.xfrc_applied[env, box, 2] = -env * MASS * GRAVITY
    for _ in range(600):
        simulation.step()
    scene.update(1.2)
    sensor = scene["skin"]
    assert sensor.data.readings.shape == (ENVS, len(sensor.skin.positions), 3)
    loads = MASS * GRAVITY * np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(sensor.data.readings.numpy().sum(axis=1)[:, 2], loads, rtol=1e-3)
    np.testing.assert_allclose(sensor.data.wrenches.numpy()[:, 0, 2], loads, rtol=1e-3)
    below = sensor.skin.positions[:, 2] < 0.0
    assert not sensor.data.readings.numpy()[:, ~below].any()


def test_unsupported_touch_function_is_refused():
    with pytest.raises(ConfigError, match="slip"):
        scene_with({"scales": {"object/box": 0.02}, "touch_function": "slip"})

"""Several environments in MotrixSim."""

from __future__ import annotations

import numpy as np
import pytest
from support.errors import raises

pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")

from tactile_sim import EngineError  # noqa: E402
from tactile_sim.engines import load  # noqa: E402

PUSHED = """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
  <body name="sledge" pos="0 0 .049"><freejoint/><geom name="left" size=".05" pos="0 .1 0"/>
    <geom name="right" size=".05" pos="0 -.1 0"/>
    <site name="left" type="box" size=".1 .05 .1" pos=".05 .1 0"/>
    <body name="top" pos="0 0 .3"><joint name="swing" axis="0 1 0"/>
      <geom name="top" size=".02" pos="0 0 .1"/></body></body>
  </worldbody><actuator><motor name="motor" joint="swing"/></actuator>
<sensor><jointpos name="angle" joint="swing"/></sensor>
<keyframe><key name="up" qpos="0 0 1 1 0 0 0 0"/></keyframe></mujoco>"""
SENSORS = {
    "net": {"geom1": "left", "geom2": "floor", "data": ["force"], "reduce": "netforce"},
    "all": {"body1": "world", "subtree2": "sledge", "num": 3},
    "deep": {"body1": "sledge", "data": ["dist", "pos"], "num": 1, "reduce": "mindist"},
    "strong": {"geom1": "floor", "data": ["force", "normal"], "num": 2, "reduce": "maxforce"},
    "sum": {"body2": "sledge", "data": ["force", "torque"], "reduce": "netforce"},
    "near_left": {"site": "left", "data": ["found", "pos"], "num": 2},
    "floor_near_left": {"site": "left", "geom2": "floor", "data": ["force", "normal"]},
}


@pytest.fixture
def pushed(tmp_path):
    """Return a function that loads the scene into n environments."""
    (tmp_path / "scene.xml").write_text(PUSHED)
    return lambda n: load(tmp_path / "scene.xml", "motrix", n, contact_sensors=SENSORS)


def test_batch_equals_single_environments(pushed):
    batch, alone = pushed(3), pushed(1)
    starts = {"qpos": [0.049, 0.0485, 2.0], "qvel": [0.1, -0.2, 0.3], "ctrl": [0.0, 0.01, -0.01]}
    batch.data.qpos[:, 2], batch.data.qvel[:, 0] = starts["qpos"], starts["qvel"]
    batch.data.ctrl[:, 0] = starts["ctrl"]
    batch.step(6)
    for env in range(3):
        alone.reset()
        alone.data.qpos[2], alone.data.qvel[0] = starts["qpos"][env], starts["qvel"][env]
        alone.data.ctrl[0] = starts["ctrl"][env]
        alone.step(6)
        for name in SENSORS:
            one, many = alone.get_contact_sensor(name), batch.get_contact_sensor(name)
            assert (
                many.found[env]
                == one.found[0]
                == (0 if env == 2 else 1 if "net" in name or "left" in name else 2)
            )
            np.testing.assert_allclose(many.values[env], one.values[0], atol=1e-6)
            np.testing.assert_allclose(
                batch.get_contact_force_magnitude(name)[env], alone.get_contact_force_magnitude(name)[0],
                rtol=1e-5,
            )  # fmt: skip
            np.testing.assert_allclose(
                batch.get_sensor_value(name)[env], alone.get_sensor_value(name), atol=1e-6
            )
            np.testing.assert_allclose(
                batch.get_sensor_data(name)[env], alone.get_sensor_data(name)[0], atol=1e-6
            )
        np.testing.assert_allclose(batch.data.qpos[env], alone.data.qpos, atol=1e-6)
        np.testing.assert_allclose(batch.time[env], alone.time)


def test_forward_of_a_batch_reads_the_current_state_and_keeps_it(pushed):
    looked, other = pushed(2), pushed(2)
    for batch in (looked, other):
        batch.data.qvel[1, 0] = 0.5
    for _ in range(5):
        looked.forward()
        looked.get_contact_sensor("all")
        looked.step()
        other.step()
    np.testing.assert_array_equal(looked.data.qpos, other.data.qpos)
    looked.forward()
    pos = looked.get_contact_sensor("deep").pos[:, 0, 0]
    np.testing.assert_allclose(pos, looked.data.qpos[:, 0], atol=1e-3)


def test_unstable_environment_is_named_and_can_be_reset(pushed):
    batch = pushed(3)
    batch.step(4)
    batch.data.qvel[2, 0] = np.nan
    batch.step(2)
    assert batch.faults() == {2: "bad velocity"}
    before = batch.data.qpos[0].copy()
    batch.reset(envs=[2])
    assert not batch.faults()
    np.testing.assert_allclose(batch.time, [0.012, 0.012, 0])
    np.testing.assert_allclose(batch.data.qpos[0], before, atol=1e-6)
    batch.step()
    assert not batch.faults() and np.isfinite(batch.data.qpos).all()
    batch.reset("up")
    np.testing.assert_allclose(batch.data.qpos[:, 2], 1.0)
    assert not batch.get_contact_force_magnitude("net").any()
    with raises(EngineError, "'upp'", "'up'"):
        batch.reset("upp")


def test_batch_rejects_unsupported_sensors_and_attributes(pushed):
    batch = pushed(2)
    assert list(batch.sensor_ids) == list(SENSORS)
    assert any("sensor 'angle'" in line and "num_envs=1" in line for line in batch.unsupported)
    with raises(EngineError, "'motrix'", "'angle'", "num_envs=1"):
        batch.get_sensor_data("angle")
    with raises(EngineError, "'motrix'", "'body_positions'", "2", "num_envs=1"):
        batch.body_positions  # noqa: B018

"""Many environments in MotrixSim."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")

from tactile_sim import EngineError  # noqa: E402
from tactile_sim.engines import load  # noqa: E402

PUSHED = """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
  <body name="sledge" pos="0 0 .049"><freejoint/><geom name="left" size=".05" pos="0 .1 0"/>
    <geom name="right" size=".05" pos="0 -.1 0"/>
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
}


@pytest.fixture
def pushed(tmp_path):
    """A scene in motrixsim with some environments."""
    (tmp_path / "scene.xml").write_text(PUSHED)
    return lambda n: load(tmp_path / "scene.xml", "motrix", n, contact_sensors=SENSORS)


def test_each_environment_of_a_batch_moves_and_feels_as_it_would_alone(pushed):
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
            assert many.found[env] == one.found[0] == (0 if env == 2 else 1 if name == "net" else 2)
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


def test_a_look_at_a_batch_changes_nothing_and_tells_the_present_state(pushed):
    looked, other = pushed(2), pushed(2)
    for batch in (looked, other):
        batch.data.qvel[1, 0] = 0.5
    for _ in range(5):
        looked.forward()
        looked.get_contact_sensor("all")
        looked.step()
        other.step()
    # What was looked at is taken back in single precision.
    np.testing.assert_allclose(looked.data.qpos, other.data.qpos, atol=1e-4)
    looked.forward()
    pos = looked.get_contact_sensor("deep").pos[:, 0, 0]
    np.testing.assert_allclose(pos, looked.data.qpos[:, 0], atol=1e-3)


def test_one_broken_environment_is_named_and_started_anew_while_the_others_go_on(pushed):
    batch = pushed(3)
    batch.step(4)
    batch.data.qvel[2, 0] = np.nan
    batch.step(2)
    assert batch.fault() == "bad position in environment 2"
    before = batch.data.qpos[0].copy()
    batch.reset(envs=[2])
    assert batch.fault() is None
    np.testing.assert_allclose(batch.time, [0.012, 0.012, 0])
    np.testing.assert_allclose(batch.data.qpos[0], before, atol=1e-6)
    batch.step()
    assert batch.fault() is None and np.isfinite(batch.data.qpos).all()
    batch.reset("up")
    np.testing.assert_allclose(batch.data.qpos[:, 2], 1.0)
    assert not batch.get_contact_force_magnitude("net").any()
    with pytest.raises(EngineError, match="no keyframe 'upp'"):
        batch.reset("upp")


def test_what_a_batch_does_not_tell_is_refused_by_name(pushed):
    batch = pushed(2)
    told = "sensor 'angle'.*: several environments at once tell contact sensors alone; .*num_envs=1"
    assert list(batch.sensor_ids) == list(SENSORS)
    assert any("sensor 'angle' is not told" in line for line in batch.limits)
    with pytest.raises(EngineError, match=f"engine 'motrix' does not tell {told}"):
        batch.get_sensor_data("angle")
    with pytest.raises(EngineError, match="engine 'motrix' has no contacts for 2 environments at once"):
        batch.contacts()

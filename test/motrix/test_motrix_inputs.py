"""Applied forces, stateful actuators and partial resets in MotrixSim, compared with MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")

from tactile_sim.engines import load, make, make_many  # noqa: E402

LOOSE = """<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody>
  <body euler="0 0 40"><freejoint/><geom size=".1" mass="1" pos=".1 0 0"/></body>
  <body pos="2 0 0"><joint type="ball"/><geom size=".1" mass="1" pos=".1 0 0"/></body>
</worldbody></mujoco>"""
STATEFUL = """<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody>
  <body><joint name="x" type="slide"/><geom size=".1" mass="1"/></body>
  <body pos="1 0 0"><joint name="y" type="slide"/><geom size=".1" mass="1"/></body>
  <body pos="2 0 0"><joint name="z" type="slide"/><geom size=".1" mass="1"/></body></worldbody>
<actuator><general joint="x" dyntype="filter" dynprm=".5" ctrlrange="-2 2"/>
  <general joint="y" dyntype="filterexact" dynprm=".05" actearly="true"/>
  <general joint="z" dyntype="integrator" actrange="-.05 .05"/></actuator></mujoco>"""
HOPPING = """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
  <body pos="0 0 .13"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="1"/></body>
</worldbody></mujoco>"""


def made(text: str, engine_name: str, num_envs: int = 1):
    spec = mujoco.MjSpec.from_string(text)
    model = spec.compile()
    return make(engine_name, spec, model) if num_envs == 1 else make_many(engine_name, spec, model, num_envs)


def test_applied_forces_move_free_and_ball_joints_as_in_mujoco():
    one, reference, many = made(LOOSE, "motrix"), made(LOOSE, "mujoco"), made(LOOSE, "motrix", 2)
    for engine in (one, reference):
        engine.data.qfrc_applied[:] = [1, 0.5, -0.2, 0.02, -0.03, 0.01, 0.02, 0.03, -0.01]
        engine.step(200)
    many.data.qfrc_applied[1] = one.data.qfrc_applied
    many.step(200)
    assert np.linalg.norm(one.data.qpos[:3]) > 0.05
    np.testing.assert_allclose(one.data.qpos, reference.data.qpos, atol=1e-3)
    np.testing.assert_allclose(many.data.qpos[1], one.data.qpos, atol=1e-6)
    np.testing.assert_allclose(many.data.qpos[0], one.model.qpos0, atol=1e-6)


@pytest.mark.parametrize("num_envs", [1, 3])
def test_activations_follow_mujoco_after_extra_forward_calls(num_envs):
    reference, engine = made(STATEFUL, "mujoco"), made(STATEFUL, "motrix", num_envs)
    wanted = [3.0, 1.0, 1.0]
    reference.data.ctrl[:] = engine.data.ctrl[:] = wanted
    for _ in range(20):
        engine.forward()
    for _ in range(30):
        engine.step()
        engine.forward()
        engine.data.ctrl[:] = -1.0
        engine.forward()
        engine.data.ctrl[:] = wanted
    engine.step(20)
    reference.step(50)
    assert reference.data.qpos.min() > 1e-4
    for qpos, act in zip(np.atleast_2d(engine.data.qpos), np.atleast_2d(engine.data.act), strict=True):
        np.testing.assert_allclose(qpos, reference.data.qpos, atol=1e-6)
        np.testing.assert_allclose(act, reference.data.act, rtol=1e-12)
    if num_envs == 1:
        reference.forward()
        engine.forward()
        np.testing.assert_allclose(engine.data.qfrc_actuator, reference.data.qfrc_actuator, rtol=1e-9)


def test_reset_clears_activations_of_the_environments_that_are_reset_only():
    fresh, batch, other = (made(STATEFUL, "motrix", 3) for _ in range(3))
    for engine in (batch, other):
        engine.data.ctrl[:] = 1.0
        engine.step(50)
    batch.reset(envs=[1])
    for engine in (fresh, batch, other):
        engine.data.ctrl[:] = 1.0
        engine.step(50)
    np.testing.assert_allclose(batch.data.qpos[1], fresh.data.qpos[1], atol=1e-7)
    np.testing.assert_array_equal(batch.data.qpos[[0, 2]], other.data.qpos[[0, 2]])


def test_partial_reset_leaves_other_environments_unchanged_bit_for_bit(tmp_path):
    (tmp_path / "scene.xml").write_text(HOPPING)
    sensors = {"force": {"geom1": "floor", "geom2": "box", "data": ["force"], "reduce": "netforce"}}
    batch, other = (load(tmp_path / "scene.xml", "motrix", 3, contact_sensors=sensors) for _ in range(2))
    touched = 0
    for step in range(120):
        for engine in (batch, other):
            engine.step()
        before = batch.get_sensor_data("force")
        if step % 7 == 0:
            batch.reset(envs=[1])
        np.testing.assert_array_equal(batch.get_sensor_data("force")[[0, 2]], before[[0, 2]])
        np.testing.assert_array_equal(batch.data.qpos[[0, 2]], other.data.qpos[[0, 2]])
        touched += before[0].any()
    assert touched > 10


def test_states_set_before_a_partial_reset_are_kept():
    batch = made(HOPPING, "motrix", 3)
    batch.step(5)
    batch.data.qpos[0, 2] = 1.0
    batch.data.qvel[2, 0] = 0.5
    batch.reset(envs=[1])
    batch.step()
    assert batch.data.qpos[0, 2] == pytest.approx(1.0, abs=1e-3)
    assert batch.data.qvel[2, 0] == pytest.approx(0.5, abs=1e-3)

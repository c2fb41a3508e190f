"""Test MuJoCo through the engine interface."""

from __future__ import annotations

import subprocess
import sys

import mujoco
import numpy as np
import pytest
from support.errors import raises

import tactile_sim.engines
from tactile_sim import ConfigError, EngineError
from tactile_sim.engines import MujocoEngine

ARM = """
<mujoco><option integrator="{integrator}" timestep="0.002"/>
<worldbody><body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0" damping=".01"/>
  <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/>
  <body name="lower" pos=".4 0 0"><joint name="elbow" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".02"/>
    <body name="tip" pos=".4 0 0"><geom type="sphere" size=".02"/></body></body></body>
  <body name="free" pos="1 0 1"><freejoint/><geom type="box" size=".1 .2 .3"/></body>
</worldbody><keyframe><key name="bent" qpos=".3 .5 1 0 2 1 0 0 0"/></keyframe></mujoco>"""

INTEGRATORS = ["Euler", "RK4", "implicit", "implicitfast", "discrete"]

JELLY = """
<mujoco><option integrator="discrete"/><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
  <body name="jelly" pos="0 0 .06"><flexcomp name="jelly" type="grid" count="3 3 3" spacing=".05 .05 .05"
    dim="3" radius=".005" mass=".5"><contact selfcollide="none"/>
    <elasticity young="1e5" poisson=".3" damping=".01"/></flexcomp></body>
  <body name="weight" pos="0 0 .15"><joint type="slide" axis="0 0 1"/>
    <geom name="weight" type="box" size=".1 .1 .02" mass=".2"/></body>
</worldbody></mujoco>"""


def arm(integrator: str = "Euler") -> MujocoEngine:
    return MujocoEngine(mujoco.MjModel.from_xml_string(ARM.format(integrator=integrator)))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_forward_and_integrate_equal_one_step_bit_for_bit(integrator):
    whole, halves = arm(integrator), arm(integrator)
    whole.step(300)
    for _ in range(300):
        halves.forward()
        halves.integrate()
    np.testing.assert_array_equal(whole.data.qpos, halves.data.qpos)
    np.testing.assert_array_equal(whole.data.qvel, halves.data.qvel)
    assert whole.time == halves.time


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_changes_between_forward_and_step_count(integrator):
    def other_state(engine):
        kept = engine.qpos.copy()
        engine.qpos[0] += 0.3
        mujoco.mj_forward(engine.model, engine.data)
        engine.qpos[:] = kept

    changes = (
        lambda engine: None,
        lambda engine: engine.qvel.__setitem__(0, 0.2),
        lambda engine: engine.xfrc_applied.__setitem__((3, 2), 1.5),
        lambda engine: setattr(engine.model.opt, "timestep", 0.001),
        lambda engine: engine.model.opt.gravity.__setitem__(2, -3.0),
        other_state,
    )
    plain, observed = arm(integrator), arm(integrator)
    for _ in range(20):
        for change in changes:
            assert observed.forward()
            assert not observed.forward()
            for engine in (plain, observed):
                change(engine)
                engine.step(2)
            np.testing.assert_array_equal(plain.data.qpos, observed.data.qpos)
            np.testing.assert_array_equal(plain.data.qvel, observed.data.qvel)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_poses_after_forward_match_the_joint_positions(integrator):
    engine = arm(integrator)
    engine.step(150)
    engine.forward()
    shoulder, elbow = engine.data.qpos[:2]
    assert abs(engine.data.qvel[0]) > 1.0
    # A rotation by q about +y moves x toward -z.
    tip = [
        0.4 * np.cos(shoulder) + 0.4 * np.cos(shoulder + elbow),
        0.0,
        1.0 - 0.4 * np.sin(shoulder) - 0.4 * np.sin(shoulder + elbow),
    ]
    np.testing.assert_allclose(engine.body_positions[3], tip, atol=1e-12)


def test_flex_with_discrete_integrator_carries_its_load():
    whole, halves = (MujocoEngine(mujoco.MjModel.from_xml_string(JELLY)) for _ in range(2))
    for _ in range(500):
        whole.step()
        before = halves.data.qpos.copy()
        halves.forward()
        np.testing.assert_array_equal(halves.data.qpos, before)
        halves.integrate()
    np.testing.assert_array_equal(whole.data.qpos, halves.data.qpos)
    halves.forward()
    contacts = halves.contacts()
    for body, force in (("weight", 0.2 * 9.81), ("world", -0.7 * 9.81)):
        second_minus_first = (contacts.bodies == halves.model.body(body).id) @ [-1, 1]
        assert second_minus_first @ contacts.wrench_world[:, 2] == pytest.approx(force, rel=0.02)


def test_repeated_forward_changes_nothing():
    engine, other = arm("implicit"), arm("implicit")
    for _ in range(50):
        engine.forward()
        engine.step()
        other.step()
    np.testing.assert_array_equal(engine.data.qpos, other.data.qpos)


def test_reset_restores_the_first_state_or_a_keyframe():
    engine = arm()
    start = engine.data.qpos.copy()
    engine.step(10)
    engine.reset()
    np.testing.assert_array_equal(engine.data.qpos, start)
    assert engine.time == 0.0
    engine.reset("bent")
    np.testing.assert_array_equal(engine.data.qpos[:2], [0.3, 0.5])


def test_unknown_keyframe_is_rejected_with_the_nearest_name():
    with raises(EngineError, "'bend'", "'bent'"):
        arm().reset("bend")


def test_a_free_body_spins_about_the_given_world_axis():
    engine = arm()
    body = engine.model.body("free").id
    half = np.sqrt(0.5)
    engine.set_free_body(
        body,
        np.array([0, 0, 5.0]),
        np.array([half, half, 0, 0]),
        np.array([1.0, 2, 3]),
        np.array([0, 0, 4.0]),
    )
    engine.forward()
    velocity = np.zeros(6)
    mujoco.mj_objectVelocity(engine.model, engine.data, mujoco.mjtObj.mjOBJ_BODY, body, velocity, 0)
    np.testing.assert_allclose(velocity, [0, 0, 4, 1, 2, 3], atol=1e-12)
    np.testing.assert_allclose(engine.body_positions[body], [0, 0, 5])


def test_physics_fault_names_the_joint_and_does_not_reset():
    engine = arm()
    assert engine.fault() is None
    engine.data.qvel[1] = np.nan
    engine.step(1)
    assert engine.fault() == "bad velocity of joint 'elbow'"
    engine.step(3)
    assert engine.fault() == "bad velocity"
    engine.reset()
    assert engine.fault() is None


UNSTABLE = """
import numpy as np
import tactile_sim
from tactile_sim.batch import Batch
simulation = tactile_sim.Simulation("touch_cube")
simulation.engine.qvel[0] = np.nan
try:
    simulation.step(3)
except tactile_sim.PhysicsError as error:
    print(error)
batch = Batch("touch_cube", 2)
batch.qvel[:] = np.nan
batch.step(3)
"""


def test_unstable_physics_is_reported_once_and_leaves_no_file_behind(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", UNSTABLE], cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    (simulation,) = done.stdout.splitlines()
    (batch,) = done.stderr.splitlines()
    assert "bad velocity" in simulation and "bad velocity" in batch
    assert not list(tmp_path.iterdir())


def test_unknown_engine_is_rejected_by_name():
    with raises(EngineError, "'mujco'", "'mujoco'"):
        tactile_sim.engines.load("touch_cube", engine="mujco")
    with raises(EngineError, "None", "motrix, mujoco"):
        tactile_sim.engines.load("touch_cube", engine=None)
    with raises(ConfigError, "contact_sensors", "list"):
        tactile_sim.engines.load("touch_cube", contact_sensors=[{"geom1": "cube"}])
    with raises(EngineError, "3"):
        tactile_sim.engines.load("touch_cube").get_sensor_data(3)


def test_shipped_scene_is_loaded_by_name():
    engine = tactile_sim.engines.load("touch_cube")
    engine.step(2)
    assert engine.time == pytest.approx(2 * engine.timestep)


def test_scene_with_too_little_memory_gives_one_error_line(tmp_path):
    balls = "".join(f'<body pos="0 0 {k}e-3"><freejoint/><geom size="1"/></body>' for k in range(100))
    scene = tmp_path / "scene.xml"
    scene.write_text(f'<mujoco><size memory="100K"/><worldbody>{balls}</worldbody></mujoco>')
    with raises(EngineError, "memory") as refused:
        tactile_sim.engines.load(scene)
    assert str(refused.value).isprintable()

"""The MotrixSim engine, compared with statics and MuJoCo."""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")

from support.errors import raises  # noqa: E402
from support.motrix import MACHINE, of  # noqa: E402

from tactile_sim import EngineError, config  # noqa: E402
from tactile_sim.common.names import Names  # noqa: E402
from tactile_sim.control.commander import (
    Commander,  # noqa: E402
    JointCommand,  # noqa: E402
)
from tactile_sim.engines import make  # noqa: E402
from tactile_sim.scenes.servos import add_actuators  # noqa: E402
from tactile_sim.simulation import Simulation  # noqa: E402

G = 9.81

# -- statics, both engines -------------------------------------------------------------------------------

SHARE = 0.01
"""Maximum relative deviation of both engines from analytical results."""


def test_skin_of_a_cube_at_rest_reads_its_weight(engine_name):
    keys = {"scene": "touch_cube.xml", "engine": engine_name, "skin": {"scales": {"cube": 0.02}}}
    simulation = Simulation(config.from_mapping(keys, None, "test"))
    simulation.step(1500)
    snapshot = simulation.observe()
    np.testing.assert_allclose(snapshot.forces_world.sum(axis=0), [0, 0, G], atol=SHARE * G)
    np.testing.assert_allclose(np.linalg.norm(snapshot.wrenches[0, :3]), G, rtol=SHARE)
    np.testing.assert_allclose(snapshot.wrenches[0, 3:], 0, atol=SHARE * G * 0.1)
    assert len(snapshot.contacts) == 4
    np.testing.assert_allclose(snapshot.contacts.position[:, 2], 0, atol=2e-3)
    np.testing.assert_allclose(np.abs(snapshot.contacts.frame[:, 0, 2]), 1, atol=1e-6)
    assert simulation.fault() is None


def test_contacts_of_a_press_carry_the_known_force(engine_name):
    engine = of(
        """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
          <body name="object" pos="0 0 .05"><freejoint/>
            <geom name="object" type="box" size=".05 .05 .05" mass=".5"/></body>
          <body name="press" pos="0 0 .15"><joint name="rail" type="slide" axis="0 0 1" damping="50"/>
            <geom name="press" type="sphere" size=".05" mass="2"/></body></worldbody>
        <actuator><motor name="push" joint="rail"/></actuator></mujoco>""",
        engine_name,
    )
    engine.data.ctrl[:] = -30.0
    engine.step(1000)
    contacts = engine.contacts()
    for names, force in ((("object", "press"), 30 + 2 * G), (("floor", "object"), 30 + 2.5 * G)):
        below, above = (engine.model.geom(name).id for name in names)
        chosen = np.isin(contacts.geoms, (below, above)).all(axis=1)
        up = np.where(contacts.geoms[chosen, 1] == above, 1, -1) @ contacts.wrench_world[chosen, :3]
        np.testing.assert_allclose(up, [0, 0, force], atol=SHARE * force)
    assert (contacts.distance < 0).all()


def test_sensors_of_a_lever_at_rest_read_weight_and_torque(engine_name):
    engine = of(
        """<mujoco><option timestep="0.002"/><worldbody>
          <body name="lever" pos="0 0 1"><joint name="hinge" axis="0 1 0" damping="1"/>
            <geom size=".05" pos=".4 0 0" mass="2"/><site name="root"/>
            <site name="pad" pos=".4 0 0" type="sphere" size=".1"/></body>
          <body name="load" pos=".4 0 1.08"><freejoint/>
            <geom type="box" size=".04 .04 .03" mass="1"/></body></worldbody>
        <actuator><position name="servo" joint="hinge" kp="2000" kv="100"/></actuator>
        <sensor><accelerometer site="root"/><force site="root"/><torque site="root"/><touch site="pad"/>
          <jointactuatorfrc joint="hinge"/></sensor></mujoco>""",
        engine_name,
    )
    engine.step(750)
    upward, force, torque, touch, effort = (engine.get_sensor_data(f"sensor{k}")[0] for k in range(5))
    np.testing.assert_allclose(upward, [0, 0, G], atol=SHARE * G)
    # Force and torque of the world on the lever, in the site's frame, balance the weight.
    np.testing.assert_allclose(force, [0, 0, 3 * G], atol=SHARE * 3 * G)
    np.testing.assert_allclose(torque, [0, -0.4 * 3 * G, 0], atol=SHARE * 1.2 * G)
    np.testing.assert_allclose(touch, G, rtol=SHARE)
    np.testing.assert_allclose(effort, -0.4 * 3 * G, rtol=SHARE)


def test_acceleration_and_force_sensors_follow_each_step(engine_name):
    engine = of(
        """<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
          <body pos="0 0 .1"><freejoint/><geom size=".05" mass="1"/><site name="middle"/>
            <body pos="0 0 -.02"><geom size=".02" mass=".5" contype="0"/><site name="top"/></body></body>
        </worldbody>
        <sensor><accelerometer site="middle"/><force site="top"/><framelinacc objtype="site" objname="top"/>
        </sensor></mujoco>""",
        engine_name,
    )
    for _ in range(2):
        engine.reset()
        for steps, reading in ((5, 0.0), (1500, G), (5, G)):  # free fall, then at rest
            engine.step(steps)
            upward, held, moved = (engine.get_sensor_data(f"sensor{k}")[0] for k in range(3))
            np.testing.assert_allclose(upward, [0, 0, reading], atol=SHARE * G)
            np.testing.assert_allclose(held, [0, 0, 0.5 * reading], atol=SHARE * G)
            np.testing.assert_allclose(moved, upward, atol=1e-9)


def test_documentation_example_weighs_the_scene():
    page = (Path(__file__).resolve().parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict = {}
    exec(code, names)
    # A cube of 1 kg and four balls of 60 g.
    assert names["engine"].contacts().wrench_world[:, 2].sum() == pytest.approx(1.24 * G, rel=0.1)
    assert names["many"].num_envs == 64


# -- motion, compared with MuJoCo ------------------------------------------------------------------------


def test_joints_actuators_and_applied_forces_act_as_in_mujoco():
    one, other = of(MACHINE, "mujoco"), of(MACHINE)
    for engine in (one, other):
        engine.data.qvel[:] = 0.1 * np.arange(13)
        engine.data.ctrl[:] = 2.0, 3.0
        engine.data.qfrc_applied[-1] = 0.8
        engine.step(300)
        engine.forward()
    assert one.time == pytest.approx(0.3) and other.time == pytest.approx(0.3)
    np.testing.assert_allclose(other.data.qpos, one.data.qpos, atol=5e-3)
    np.testing.assert_allclose(other.data.qvel, one.data.qvel, atol=3e-2)
    np.testing.assert_allclose(other.body_positions, one.body_positions, atol=5e-3)
    np.testing.assert_allclose(other.body_rotations, one.body_rotations, atol=2e-2)
    np.testing.assert_allclose(other.data.qfrc_actuator, one.data.qfrc_actuator, atol=0.05)
    assert np.abs(one.data.qpos - one.model.qpos0).max() > 0.3


def test_keyframes_and_set_free_body_set_the_state():
    engine = of(MACHINE)
    engine.step(20)
    engine.reset("bent")
    np.testing.assert_allclose(engine.data.qpos[:2], [0.3, 0.05])
    np.testing.assert_allclose(engine.data.ctrl, [0.1, 0.2])
    np.testing.assert_allclose(engine.body_quaternions[engine.model.body("c").id], [0, 1, 0, 0], atol=1e-6)
    with raises(EngineError, "'bend'", "'bent'"):
        engine.reset("bend")
    body = engine.free_bodies[0]
    half = np.sqrt(0.5)
    engine.set_free_body(body, [0, 0, 5], [half, 0, 0, half], [1, 0, 0], [0, 0, 2])
    engine.step(100)

    # The center of mass moves on a parabola, and the origin has turned about it by 0.2 rad.
    def arm(angle):
        return 0.1 * np.array([np.cos(angle), np.sin(angle), 0])

    start = np.array([0, 0, 5]) + arm(np.pi / 2)
    velocity = np.array([1, 0, 0]) + np.cross([0, 0, 2], arm(np.pi / 2))
    center = start + 0.1 * velocity + [0, 0, -G * 0.1**2 / 2]
    np.testing.assert_allclose(engine.body_positions[body], center - arm(np.pi / 2 + 0.2), atol=1e-3)


# -- forward and integrate -------------------------------------------------------------------------------


def test_halves_single_and_multiple_steps_agree():
    whole, halves, many = of(MACHINE), of(MACHINE), of(MACHINE)
    for _ in range(40):
        whole.step()
        halves.forward()
        halves.contacts()
        halves.forward()
        halves.integrate()
    many.step(40)
    for engine in (halves, many):
        np.testing.assert_array_equal(engine.data.qpos, whole.data.qpos)
        assert engine.time == whole.time


def test_command_after_forward_acts_on_the_next_step():
    looked, other = of(MACHINE), of(MACHINE)
    for k in range(40):
        looked.forward()
        for engine in (looked, other):
            engine.data.ctrl[:] = 0.3 * np.sin(k), 1.0
            engine.data.qfrc_applied[-1] = 0.1 * k
            engine.step()
    # The step that forward has taken is undone in single precision.
    np.testing.assert_allclose(looked.data.qpos, other.data.qpos, atol=1e-5)


def test_readings_after_step_belong_to_the_state_before_it():
    engine, behind = of(MACHINE), of(MACHINE)
    for other in (engine, behind):
        other.data.ctrl[:] = 0.2, 1.0
    engine.step(25)
    behind.step(24)
    poses = mujoco.MjData(behind.model)
    poses.qpos[:] = behind.data.qpos
    mujoco.mj_kinematics(behind.model, poses)
    engine.data.ctrl[:] = 0.0
    reached = engine.data.qpos.copy()
    np.testing.assert_allclose(engine.body_positions, poses.xpos, atol=1e-12)
    behind.forward()
    np.testing.assert_allclose(engine.data.qfrc_actuator, behind.data.qfrc_actuator, atol=1e-12)
    np.testing.assert_array_equal(engine.data.qpos, reached)
    assert engine.time == pytest.approx(0.025) and not engine.data.ctrl.any()
    behind.step()
    np.testing.assert_array_equal(behind.data.qpos, reached)


# -- commands --------------------------------------------------------------------------------------------


def test_joint_commands_reach_the_same_positions_with_servos_and_control(engine_name):
    spec = mujoco.MjSpec.from_string(MACHINE.replace("<option", '<option gravity="0 0 0"'))
    add_actuators(spec, {"moved": {"kp": 40.0, "kd": 4.0}}, "control")
    engine = make(engine_name, spec, spec.compile())
    commander = Commander(engine.model, Names(engine.model))
    wanted = {"servoed": 0.3, "moved": -0.4}
    command = JointCommand([*wanted], np.array([*wanted.values()]), np.array([]), np.array([]))
    commander.accept(commander.check(command), engine.data)
    engine.step(3000)
    reached = dict(zip(commander.joint_names, engine.data.qpos[commander.qpos], strict=True))
    assert {name: reached[name] for name in wanted} == pytest.approx(wanted, abs=0.01)

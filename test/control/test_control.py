"""Actuators created from ``control``: stability, limits and holding on every engine, and commands by name."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from support.control import ARM, go
from support.errors import raises

from tactile_sim import CommandError

G = 9.81
SAG = 0.25 * G / 200.0
"""Distance by which the arm stays below its target [m]."""


def test_gains_of_the_documentation_are_stable_and_within_the_effort_of_the_urdf(simulate, engine_name):
    simulation = simulate(engine=engine_name)
    efforts = go(simulation, position=[0.05, 0.5])
    # From the first step on, the wrist's servo requests 100 N m, which is above its limit.
    np.testing.assert_allclose(efforts, [200 * 0.05, 2.0], rtol=1e-5)
    data = simulation.engine.data
    np.testing.assert_allclose(data.qpos, [0.05 - SAG, 0.5], atol=1e-5)
    np.testing.assert_allclose(data.qvel, 0.0, atol=1e-4)
    efforts = go(simulation, effort=[600.0, 600.0])
    assert (efforts <= [20.0 + 1e-5, 2.0 + 1e-5]).all()


LEVER = """<mujoco><option integrator="{}"/><worldbody><body><joint name="lever" axis="0 0 1"/>
  <inertial pos="0 0 0" mass="0.05" diaginertia="1e-6 1e-6 1e-6"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("Euler", "IMPLICITFAST"),
        ("RK4", "IMPLICITFAST"),
        ("implicit", "IMPLICIT"),
        ("implicitfast", "IMPLICITFAST"),
    ],
)
def test_damping_of_servos_is_implicit_whatever_integrator_the_scene_has(simulate, given, used):
    simulation = simulate(LEVER.format(given), "xml", {"lever": {"kp": 200.0, "kd": 10.0}})
    assert simulation.engine.model.opt.integrator == getattr(mujoco.mjtIntegrator, f"mjINT_{used}")
    go(simulation, 1.0, position=[0.5])
    # The inertia is negligible: the error falls with the time constant kd / kp = 50 ms.
    assert simulation.engine.data.qpos[0] == pytest.approx(0.5, abs=0.5 * 1e-6)
    assert simulate(
        LEVER.format(given), "xml", {"lever": {"mode": "effort"}}
    ).engine.model.opt.integrator == getattr(mujoco.mjtIntegrator, f"mjINT_{given.upper()}")


def test_joints_with_gains_hold_their_pose_until_a_command_comes(simulate, engine_name):
    simulation = simulate(
        engine=engine_name, control={"lift": {"kp": 200.0, "kd": 10.0}, "wrist": {"mode": "free"}}
    )
    simulation.engine.data.qvel[1] = 0.2
    go(simulation)
    # Nothing holds the wrist, so it continues to turn about its center of mass.
    np.testing.assert_allclose(simulation.engine.data.qpos, [-SAG, 0.2 * 2.0], atol=1e-4)
    simulation.reset()
    go(simulation, position=[0.05, np.nan])
    assert simulation.engine.data.qpos[0] == pytest.approx(0.05 - SAG, abs=1e-5)


MIXED = """<mujoco><default><motor gear="50" ctrlrange="-1 1"/></default><worldbody>
  <body><joint name="own" type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body>
  <body pos="1 0 0"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body>
  <body pos="2 0 0"><joint name="pushed" type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body>
</worldbody><actuator><position joint="own" kp="100" kv="10" gear="1" ctrllimited="false"/>
  <motor name="motor" joint="pushed"/></actuator>
<keyframe><key name="up" qpos=".2 .3 .4" ctrl=".2 0"/></keyframe></mujoco>"""


def test_actuators_of_the_scene_come_first_and_keyframes_are_held(simulate):
    control = {
        "own": {"kp": 7.0},
        "body2/joint0": {"kp": 400.0, "kd": 40.0},
        "pushed": {"kp": 1e5, "kd": 1e3},
    }
    simulation = simulate(MIXED, "xml", control)
    names = ["actuator0", "motor", "control/body2/joint0", "control/pushed"]  # `own` already has a servo
    assert simulation.names.actuators == names
    simulation.reset("up")
    np.testing.assert_allclose(simulation.engine.data.ctrl, [0.2, 0.0, 0.3, 0.4])
    efforts = go(simulation, position=[0.2, 0.3, 0.5])
    np.testing.assert_allclose(
        simulation.engine.data.qpos, [0.2 - G / 100, 0.3 - G / 400, 0.5 - G / 1e5], atol=1e-5
    )
    assert efforts[2] == pytest.approx(50.0)  # maximum of the motor: gear times control limit


def test_pattern_leaves_out_a_joint_that_follows_another(simulate):
    finger = """<joint name="finger" type="prismatic"><parent link="arm"/><child link="pad"/>
      <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="20" velocity="1"/>
      <mimic joint="lift" multiplier="2"/></joint>
      <link name="pad"><inertial><mass value="0.05"/>
        <inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    simulation = simulate(ARM.replace("</robot>", finger))
    assert simulation.names.actuators == ["control/lift", "control/wrist"]
    assert "'lift'" in simulation.commander.without_position["finger"]
    go(simulation, position=[0.05, 0.0, np.nan])
    lift = 0.05 - 0.3 * G / 200.0
    np.testing.assert_allclose(simulation.engine.data.qpos[[0, 2]], [lift, 2 * lift], atol=1e-4)


def test_velocity_without_position_is_tracked_and_a_position_holds_again(simulate):
    simulation = simulate(control={"lift": {"kp": 200.0, "kd": 100.0}, "wrist": {"kd": 0.1}})
    go(simulation, 1.0, velocity=[0.02, 0.5])
    # The damping carries the weight, so the velocity is lower by m g / kd.
    np.testing.assert_allclose(simulation.engine.data.qvel, [0.02 - 0.25 * G / 100, 0.5], atol=1e-6)
    go(simulation, 7.0, position=[0.03, np.nan])
    assert simulation.engine.data.qpos[0] == pytest.approx(0.03 - SAG, abs=1e-6)
    go(simulation, 7.0, effort=[0.25 * G, np.nan])
    assert simulation.engine.data.qpos[0] == pytest.approx(0.03, abs=1e-6)


def test_raw_controls_and_the_timeout_end_commands(simulate):
    simulation = simulate(command_timeout=0.5)
    simulation.accept_controls(np.array([0]), np.array([0.05]))  # as the view does for one actuator
    go(simulation, 0.4)
    go(simulation, 0.3, effort=[0.25 * G, 0.0])
    assert simulation.engine.data.qpos[0] == pytest.approx(0.05, abs=1e-3)
    go(simulation, 2.0)  # and back to the position at which it is held after the reset
    assert simulation.engine.data.qpos[0] == pytest.approx(-SAG, abs=1e-3)


HAND = """<mujoco><option gravity="0 0 0"/><worldbody><body name="a">
  <joint name="near" damping="1" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 .1 0 0" size=".01"/><body name="b" pos=".1 0 0">
  <joint name="far" damping="1" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .1 0 0" size=".01"/></body>
  </body><body pos="0 1 0"><joint name="wheel" axis="0 0 1"/><geom size=".1" mass="1"/></body></worldbody>
  <tendon><fixed name="flexor"><joint joint="near" coef="1"/><joint joint="far" coef="2"/></fixed></tendon>
  <actuator><position name="flex" tendon="flexor" kp="50" gear="2" ctrlrange="-4 4"/>
  <motor name="spin" joint="wheel" gear="3"/></actuator></mujoco>"""


@pytest.mark.parametrize("name", ["flexor", "flex"])
def test_tendons_and_actuators_are_commanded_by_name(simulate, name):
    simulation = simulate(HAND, "xml", {})
    simulation.command_joints({name: 0.6}, effort={"spin": 1.5})
    assert simulation.engine.data.ctrl.tolist() == pytest.approx([1.2, 0.5])
    go(simulation, 5.0)
    near, far, _ = simulation.engine.data.qpos
    assert near + 2 * far == pytest.approx(0.6, abs=1e-3)
    simulation.command_joints({name: 30.0})
    assert simulation.engine.data.ctrl.tolist() == pytest.approx([4.0, 0.5])  # within ctrlrange
    with raises(CommandError, "'spin'", "position", "effort"):
        simulation.command_joints({"spin": 0.1})
    with raises(CommandError, "'flx'", "'flex'"):
        simulation.command_joints({"flx": 0.1})

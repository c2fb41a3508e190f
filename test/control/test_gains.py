"""Servos made from ``gains``: stable, limited, holding; on every engine."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim import config
from tactile_sim.control.commander import JointCommand
from tactile_sim.simulation import Simulation

G = 9.81
ARM = """<robot name="arm"><link name="base"/>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-0.1" upper="0.1" effort="20" velocity="1"/></joint>
  <link name="arm"><inertial><mass value="0.2"/>
    <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="wrist" type="revolute"><parent link="arm"/><child link="tip"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="2" velocity="5"/></joint>
  <link name="tip"><inertial><mass value="0.05"/>
    <inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
GAINS = {"*": {"kp": 200.0, "kd": 10.0}}
SAG = 0.25 * G / 200.0
"""How far the arm hangs below its target [m]."""


@pytest.fixture
def simulate(tmp_path):
    def make(text: str = ARM, suffix: str = "urdf", gains=GAINS, **keys) -> Simulation:
        (tmp_path / f"scene.{suffix}").write_text(text)
        keys = {"scene": f"scene.{suffix}", "contacts": "all", "gains": gains, **keys}
        return Simulation(config.from_mapping(keys, tmp_path, "test"))

    return make


def go(simulation: Simulation, seconds: float = 2.0, **targets) -> np.ndarray:
    """Command joints, simulate, and return the greatest effort of each joint."""
    if targets:
        names = simulation.commander.joint_names
        arrays = (np.array(targets.get(field, []), float) for field in ("position", "velocity", "effort"))
        simulation.accept_targets(simulation.commander.check(JointCommand(names, *arrays)))
    efforts = np.zeros(len(simulation.commander.joint_names))
    for _ in range(round(seconds / simulation.engine.timestep)):
        efforts = np.maximum(efforts, np.abs(simulation.observe().joint_states[2]))
        simulation.step()
    assert simulation.fault() is None
    return efforts


def test_gains_of_the_documentation_are_stable_and_within_the_effort_of_the_urdf(simulate, engine_name):
    simulation = simulate(engine=engine_name)
    efforts = go(simulation, position=[0.05, 0.5])
    # From the first step on the wrist wants 100 N m.
    np.testing.assert_allclose(efforts, [200 * 0.05, 2.0], rtol=1e-5)
    data = simulation.engine.data
    np.testing.assert_allclose(data.qpos, [0.05 - SAG, 0.5], atol=1e-5)
    np.testing.assert_allclose(data.qvel, 0.0, atol=1e-4)
    efforts = go(simulation, effort=[600.0, 600.0])
    assert (efforts <= [20.0 + 1e-5, 2.0 + 1e-5]).all()


def test_joints_with_gains_hold_their_pose_until_a_command_comes(simulate, engine_name):
    simulation = simulate(engine=engine_name, gains={"lift": {"kp": 200.0, "kd": 10.0}})
    simulation.engine.data.qvel[1] = 0.2
    go(simulation)
    # Nothing holds the wrist: it turns on, about its center of mass.
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
    gains = {"own": {"kp": 7.0}, "body2/joint0": {"kp": 400.0, "kd": 40.0}, "pushed": {"kp": 1e5, "kd": 1e3}}
    simulation = simulate(MIXED, "xml", gains)
    names = ["actuator0", "motor", "gains/body2/joint0", "gains/pushed"]  # `own` has a servo of its own
    assert simulation.names.actuators == names
    simulation.reset("up")
    np.testing.assert_allclose(simulation.engine.data.ctrl, [0.2, 0.0, 0.3, 0.4])
    efforts = go(simulation, position=[0.2, 0.3, 0.5])
    np.testing.assert_allclose(
        simulation.engine.data.qpos, [0.2 - G / 100, 0.3 - G / 400, 0.5 - G / 1e5], atol=1e-5
    )
    assert efforts[2] == pytest.approx(50.0)  # as much as the motor could: its gear times its control


def test_pattern_leaves_out_a_joint_that_follows_another(simulate):
    finger = """<joint name="finger" type="prismatic"><parent link="arm"/><child link="pad"/>
      <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="20" velocity="1"/>
      <mimic joint="lift" multiplier="2"/></joint>
      <link name="pad"><inertial><mass value="0.05"/>
        <inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    simulation = simulate(ARM.replace("</robot>", finger))
    assert simulation.names.actuators == ["gains/lift", "gains/wrist"]
    assert "'lift'" in simulation.commander.without_position["finger"]
    go(simulation, position=[0.05, 0.0, np.nan])
    lift = 0.05 - 0.3 * G / 200.0
    np.testing.assert_allclose(simulation.engine.data.qpos[[0, 2]], [lift, 2 * lift], atol=1e-4)


def test_velocity_without_position_is_tracked_and_a_position_holds_again(simulate):
    simulation = simulate(gains={"lift": {"kp": 200.0, "kd": 100.0}, "wrist": {"kd": 0.1}})
    go(simulation, 1.0, velocity=[0.02, 0.5])
    # The damping carries the weight, and is slower by m g / kd.
    np.testing.assert_allclose(simulation.engine.data.qvel, [0.02 - 0.25 * G / 100, 0.5], atol=1e-6)
    go(simulation, 7.0, position=[0.03, np.nan])
    assert simulation.engine.data.qpos[0] == pytest.approx(0.03 - SAG, abs=1e-6)
    go(simulation, 7.0, effort=[0.25 * G, np.nan])
    assert simulation.engine.data.qpos[0] == pytest.approx(0.03, abs=1e-6)


def test_raw_controls_and_the_timeout_end_commands(simulate):
    simulation = simulate(command_timeout=0.5)
    simulation.command_controls(np.array([0.05, np.nan]))
    go(simulation, 0.4)
    go(simulation, 0.3, effort=[0.25 * G, 0.0])
    assert simulation.engine.data.qpos[0] == pytest.approx(0.05, abs=1e-3)
    go(simulation, 2.0)  # and back to where it was held after the reset
    assert simulation.engine.data.qpos[0] == pytest.approx(-SAG, abs=1e-3)

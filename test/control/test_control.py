"""Actuators made from ``control``, URDFs and defaults: stable, limited, holding; on every engine."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from support.errors import raises

from tactile_sim import CommandError, config
from tactile_sim.control.command_checks import JointCommand
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
"""Distance of the arm below its target [m]."""


@pytest.fixture
def simulate(tmp_path):
    def make(text: str = ARM, suffix: str = "urdf", control=GAINS, **keys) -> Simulation:
        (tmp_path / f"scene.{suffix}").write_text(text)
        keys = {"scene": f"scene.{suffix}", "contacts": "all", "control": control, **keys}
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
    control = {
        "own": {"kp": 7.0},
        "body2/joint0": {"kp": 400.0, "kd": 40.0},
        "pushed": {"kp": 1e5, "kd": 1e3},
    }
    simulation = simulate(MIXED, "xml", control)
    names = ["actuator0", "motor", "control/body2/joint0", "control/pushed"]  # `own` has a servo of its own
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
    assert simulation.names.actuators == ["control/lift", "control/wrist"]
    assert "'lift'" in simulation.commander.without_position["finger"]
    go(simulation, position=[0.05, 0.0, np.nan])
    lift = 0.05 - 0.3 * G / 200.0
    np.testing.assert_allclose(simulation.engine.data.qpos[[0, 2]], [lift, 2 * lift], atol=1e-4)


def test_velocity_without_position_is_tracked_and_a_position_holds_again(simulate):
    simulation = simulate(control={"lift": {"kp": 200.0, "kd": 100.0}, "wrist": {"kd": 0.1}})
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


LINK = """<link name="{name}"><inertial><origin xyz="{half} 0 0"/><mass value="{mass}"/>
  <inertia ixx="1e-4" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{x} 0 0"/><axis xyz="0 {axis}"/>
  <limit lower="{lower}" upper="3" effort="{effort}" velocity="1"/></joint>"""


def chain(effort: float = 300.0, lower: float = -3.0, more: str = "") -> str:
    """A horizontal arm of 1 m with a heavy and a light link, the second also turning about the vertical."""
    links = [("upper", 0.6, 5.0), ("fore", 0.4, 0.5), ("hand", 0.0, 0.001)]
    parts = ['<robot name="chain"><link name="base"/>']
    for name, length, mass in links:
        inertia = max(mass * length**2 / 12, 1e-6)
        parts.append(LINK.format(name=name, half=length / 2, mass=mass, inertia=inertia))
    for name, parent, child, x, axis in (
        ("shoulder", "base", "upper", 0, "1 0"),
        ("elbow", "upper", "fore", 0.6, "1 0"),
        ("turn", "fore", "hand", 0.4, "0 1"),
    ):
        parts.append(
            JOINT.format(name=name, parent=parent, child=child, x=x, axis=axis, effort=effort, lower=lower)
        )
    return "".join([*parts, more, "</robot>"])


def test_default_control_holds_the_pose_under_gravity(simulate, engine_name):
    simulation = simulate(chain(), engine=engine_name, control={})
    assert simulation.names.actuators == ["control/shoulder", "control/elbow", "control/turn"]
    go(simulation, 10.0)
    assert abs(simulation.engine.data.qpos).max() <= 0.005 + 1e-4  # 4 mrad, as the elbow sags, too
    np.testing.assert_allclose(simulation.engine.data.qvel, 0.0, atol=1e-5)
    # One that is too weak gives way, and does no more than it can.
    weight = (5.0 * 0.3 + 0.5 * 0.8 + 0.001 * 1.0) * G
    efforts = go(simulate(chain(effort=0.5 * weight), engine=engine_name, control={}), 0.5)
    assert efforts.max() == pytest.approx(0.5 * weight, rel=1e-5)


def test_default_control_of_light_joints_that_lead_others_rests(simulate):
    inertia = '<inertia ixx="1e-7" iyy="1e-7" izz="1e-7" ixy="0" ixz="0" iyz="0"/>'
    parts = ['<robot name="finger"><link name="palm"/>']
    for name, parent in (("leader", "palm"), ("first", "palm"), ("second", "first"), ("third", "second")):
        parts.append(f'<link name="{name}"><inertial><mass value="0.001"/>{inertia}</inertial></link>')
        joint = JOINT.format(name=name, parent=parent, child=name, x=0.03, axis="1 0", lower=-1, effort=1)
        parts.append(joint)
        if name != "leader":
            parts[-1] = parts[-1].replace("</joint>", '<mimic joint="leader"/></joint>')
    simulation = simulate("".join([*parts, "</robot>"]), control={})
    go(simulation, 2.0)
    data = simulation.engine.data
    assert abs(data.qvel).max() < 1e-3 and abs(data.qpos).max() < 0.05  # else it whirls at 100 rad/s


def test_light_joints_that_follow_one_another_keep_their_pose(simulate):
    inertia = '<inertia ixx="1e-7" iyy="1e-7" izz="1e-7" ixy="0" ixz="0" iyz="0"/>'
    parts = ['<robot name="finger"><link name="0"/>']
    for k in range(1, 9):
        parts.append(f'<link name="{k}"><inertial><origin xyz="0.01 0 0"/><mass value="0.001"/>{inertia}')
        names = {"name": f"j{k}", "parent": k - 1, "child": k}
        joint = JOINT.format(**names, x=0.02 if k > 1 else 0, axis="1 0", lower=-3, effort=1)
        mimic = f'<mimic joint="j{k - 1}"/></joint>' if k > 1 else "</joint>"
        parts.append("</inertial></link>" + joint.replace("</joint>", mimic))
    simulation = simulate("".join([*parts, "</robot>"]), control={})
    go(simulation, 2.0, position=[0.2] + [np.nan] * 7)
    data = simulation.engine.data
    assert data.qpos == pytest.approx(0.2, abs=0.004 + 1e-3) and abs(data.qvel).max() < 1e-3


LEGS = "".join(
    f"""<link name="leg{k}"><inertial><mass value="0.001"/>
    <inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.01"/></geometry></collision></link>
    <joint name="leg{k}" type="prismatic"><parent link="base"/><child link="leg{k}"/>
    <origin xyz="{x} {y} -0.1"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1"/></joint>"""
    for k, (x, y) in enumerate([(0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (-0.1, -0.1)])
)
WALKER = f"""<robot name="walker"><link name="base"><inertial><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>{LEGS}</robot>"""
"""A base of 1 kg that falls on four legs of 1 g each, whose servos have no effort limit."""


def test_default_control_of_light_legs_bears_a_heavy_base(simulate):
    free = {"scene_options": {"floating_base": True}, "ground": True}
    simulation = simulate(WALKER, control={}, **free)
    simulation.engine.data.qpos[2] = 0.115  # 5 mm above the ground
    highest = 0.0
    for _ in range(5):
        go(simulation, 1.0)
        highest = max(highest, simulation.engine.data.qpos[2])
    # Servos whose damping only the integrator knows of throw the base into the air.
    assert highest < 0.12 and abs(simulation.engine.data.qpos[7:]).max() < 0.0005 + 1e-4
    assert abs(simulation.engine.data.qvel).max() < 1e-3


PROP = """<mujoco>
  <worldbody><geom type="plane" size="1 1 1"/>
    <body pos="0 0 0.05"><joint name="height" type="slide" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="10" diaginertia="0.1 0.1 0.1"/>
      <body><joint name="hip" axis="0 1 0"/><geom type="sphere" size="0.05" mass="2" pos="0.4 0 0"/></body>
    </body></worldbody>
  <actuator><motor joint="hip"/></actuator>
</mujoco>"""
"""A base of 10 kg that slides along the vertical and stands on a horizontal leg of 0.4 m and 2 kg."""


def test_default_control_of_a_leg_bears_a_base_that_slides_freely(simulate):
    simulation = simulate(PROP, "xml", {"hip": {"mode": "position"}})
    go(simulation, 3.0)
    # Gains for the leg alone would let it sag by 20 mrad.
    assert simulation.engine.data.qpos[1] == pytest.approx(-0.004 * 10 / 12, rel=0.05)


def test_default_control_goes_to_the_nearer_end_of_the_range(simulate):
    simulation = simulate(chain(lower=0.5), control={})
    go(simulation, 2.0)
    np.testing.assert_allclose(simulation.engine.data.qpos, 0.5, atol=0.01)


def test_joints_that_are_set_are_held_there_until_a_command_comes(simulate):
    simulation = simulate(chain(), control={})
    simulation.set_joints({"shoulder": -0.5, "turn": 1.0})
    go(simulation, 1.0)
    np.testing.assert_allclose(simulation.engine.data.qpos, [-0.5, 0.0, 1.0], atol=0.005)
    simulation.command_joints({"shoulder": 0.2})
    simulation.set_joints({"shoulder": 1.0})
    go(simulation, 2.0)
    np.testing.assert_allclose(simulation.engine.data.qpos, [0.2, 0.0, 1.0], atol=0.005)


def test_default_control_follows_a_step_without_overshoot(simulate):
    simulation = simulate(chain(effort=1e4), control={})
    go(simulation, 0.5)
    simulation.command_joints({"turn": 0.5})
    highest = 0.0
    for _ in range(500):
        simulation.step()
        highest = max(highest, simulation.engine.data.qpos[2])
    assert simulation.engine.data.qpos[2] == pytest.approx(0.5, abs=1e-3) and highest < 0.5 + 1e-3


def test_urdf_says_how_its_joints_are_driven(simulate):
    more = """<ros2_control name="s" type="system"><joint name="shoulder"><command_interface name="velocity"/>
      <command_interface name="position"/></joint>
      <joint name="elbow"><command_interface name="effort"/></joint>
      </ros2_control><transmission name="t"><joint name="turn"><hardwareInterface>
      hardware_interface/VelocityJointInterface</hardwareInterface></joint></transmission>"""
    simulation = simulate(chain(more=more), control={})
    takes = {
        field: simulation.commander.drives.takes[field].tolist()
        for field in ("position", "velocity", "effort")
    }
    assert takes == {
        "position": [True, False, False],
        "velocity": [True, False, True],
        "effort": [True, True, True],  # added to a servo's force
    }
    assert set(simulation.commander.without_position) == {"elbow", "turn"}
    simulation = simulate(chain(more=more), control={"elbow": {"mode": "position"}, "turn": {"mode": "free"}})
    assert simulation.names.actuators == ["control/shoulder", "control/elbow"]


def test_limit_bounds_the_effort_of_an_entry(simulate):
    control = {"*": {"mode": "effort", "limit": 2.0}, "shoulder": {"kp": 1e4, "kd": 100.0, "limit": 7.0}}
    simulation = simulate(chain(), control=control)
    efforts = go(simulation, 0.2, effort=[0.0, 5.0, 5.0])
    np.testing.assert_allclose(efforts, [7.0, 2.0, 2.0], rtol=1e-5)


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

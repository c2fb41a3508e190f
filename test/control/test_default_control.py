"""Actuators that joints get by default: stability, limits and holding on every engine."""

from __future__ import annotations

import numpy as np
import pytest
from support.control import go

G = 9.81
LINK = """<link name="{name}"><inertial><origin xyz="{half} 0 0"/><mass value="{mass}"/>
  <inertia ixx="1e-4" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{x} 0 0"/><axis xyz="0 {axis}"/>
  <limit lower="{lower}" upper="3" effort="{effort}" velocity="1"/></joint>"""


def chain(effort: float = 300.0, lower: float = -3.0, more: str = "") -> str:
    """Return the URDF of a horizontal 1 m arm: a heavy link, a light link, and a vertical wrist joint."""
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
    assert abs(simulation.engine.data.qpos).max() <= 0.005 + 1e-4  # 4 mrad, because the elbow sags, too
    np.testing.assert_allclose(simulation.engine.data.qvel, 0.0, atol=1e-5)
    # A servo that is too weak gives way at its effort limit.
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
    assert abs(data.qvel).max() < 1e-3 and abs(data.qpos).max() < 0.05  # otherwise it spins at 100 rad/s


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
"""A base of 1 kg that falls on four legs of 1 g each. The servos of the legs have no effort limit."""


def test_default_control_of_light_legs_bears_a_heavy_base(simulate):
    free = {"scene_options": {"floating_base": True}, "ground": True}
    simulation = simulate(WALKER, control={}, **free)
    simulation.engine.data.qpos[2] = 0.115  # 5 mm above the ground
    highest = 0.0
    for _ in range(5):
        go(simulation, 1.0)
        highest = max(highest, simulation.engine.data.qpos[2])
    # Servos would throw the base into the air if only the integrator took their damping into account.
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
"""A base of 10 kg that slides vertically and is supported by a horizontal leg of 0.4 m and 2 kg."""


def test_default_control_of_a_leg_bears_a_base_that_slides_freely(simulate):
    simulation = simulate(PROP, "xml", {"hip": {"mode": "position"}})
    go(simulation, 3.0)
    # With gains for the leg alone, it would sag by 20 mrad.
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

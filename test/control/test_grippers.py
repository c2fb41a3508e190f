"""Test grippers: effort and velocity limits, stalls, and commands that replace a gripper's goal."""

import numpy as np
import pytest
from support.errors import raises

import tactile_sim
from tactile_sim import CommandError, ConfigError, Simulation
from tactile_sim.config.settings import GripperSettings
from tactile_sim.control.goals import GripperCommand, GripperGoal, Outcome
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.engines import Contacts

SCENE = """
<mujoco><option timestep="0.001" gravity="0 0 0" integrator="implicitfast"/><worldbody>
  <body name="finger"><joint name="left" type="slide" axis="1 0 0" damping="5"/>
    <geom size=".01" mass="0.1" pos="-.05 0 0"/></body>
  <body name="other" pos="0 0 1"><joint name="right" type="slide" axis="1 0 0" damping="5"/>
    <geom size=".01" mass="0.1"/></body>
  <geom name="wall" type="box" size=".01 1 .1"/></worldbody>
<actuator><position joint="left" kp="1000"/></actuator></mujoco>"""
TOUCH = 0.03
"""Finger position at which the finger's sphere touches the wall [m]."""


@pytest.fixture
def simulation(tmp_path):
    (tmp_path / "finger.xml").write_text(SCENE)
    grippers = {"hand": {"joints": ["left"], "max_effort": 7.0}}
    return Simulation({"scene": str(tmp_path / "finger.xml"), "contacts": "all", "grippers": grippers})


class Goal:
    """A gripper goal for the finger; ``outcomes`` collects the outcomes that the simulation reports."""

    def __init__(self, simulation, *command, **settings):
        self.outcomes = []
        gripper = GripperSettings(("left",), goal_tolerance=1e-3, **settings)
        self.goal = GripperGoal(
            gripper, GripperCommand(*command), lambda outcome, text: self.outcomes.append(outcome)
        )
        simulation.start_goal(self.goal)


@pytest.mark.parametrize(("effort", "expected"), [(3.0, 3.0), (0.0, 7.0)])
def test_effort_is_limited_while_moving_and_at_the_wall(simulation, effort, expected):
    simulation.command_gripper("hand", 0.06, effort)
    greatest = 0.0
    for _ in range(1000):
        simulation.step()
        greatest = max(greatest, abs(simulation.engine.joint_efforts[0]))
    assert greatest <= expected + 1e-9
    assert np.abs(simulation.observe().contacts.values[:, Contacts.WRENCH]).sum() == pytest.approx(
        expected, rel=1e-3
    )


def test_velocity_is_limited(simulation):
    simulation.command_gripper("hand", -0.05, 0.0, 0.1)
    simulation.step(400)
    # A servo without velocity gain lags by damping times velocity over stiffness.
    assert simulation.engine.qpos[0] == pytest.approx(-0.04 + 5 * 0.1 / 1000, abs=2e-4)
    simulation.step(600)
    assert simulation.engine.qpos[0] == pytest.approx(-0.05, abs=1e-4)


def test_goal_ends_when_reached_or_stalled(simulation):
    reached = Goal(simulation, -0.05)
    simulation.step(300)
    assert reached.outcomes == [Outcome.REACHED]
    stalled = Goal(simulation, 0.06, 2.0, stall_timeout=0.5)
    while not stalled.outcomes and simulation.time < 5.0:
        simulation.step()
        if abs(simulation.engine.qvel[0]) > 0.001:
            moved = simulation.time
    assert stalled.outcomes == [Outcome.STALLED]
    assert simulation.time - moved == pytest.approx(0.5, abs=0.01)
    simulation.step(1000)
    assert simulation.engine.joint_efforts[0] == pytest.approx(2.0, rel=1e-3)  # it continues to hold


@pytest.mark.parametrize("end", ["command", "goal", "trajectory", "controls", "reset", "cancel"])
def test_goal_is_replaced_by_commands_to_its_joints_alone(simulation, end):
    goal = Goal(simulation, 0.06, 2.0)
    simulation.step(100)
    simulation.command_joints(effort={"right": 0.1})
    simulation.step(100)
    assert not goal.outcomes
    if end == "command":
        simulation.command_joints({"left": 0.0})
    elif end == "goal":
        Goal(simulation, 0.0)
    elif end == "trajectory":
        simulation.command_trajectory(JointTrajectory(["left"], np.array([0.1]), np.array([[0.0]])))
    elif end == "controls":
        simulation.command_controls(np.array([0.0]))
    elif end == "reset":
        simulation.reset()
    else:
        simulation.cancel_goal(goal.goal)
    simulation.step(500)
    assert goal.outcomes == [Outcome.REPLACED]
    held = TOUCH if end == "cancel" else 0.0
    assert simulation.engine.qpos[0] == pytest.approx(held, abs=1e-3)


@pytest.mark.parametrize(
    ("keys", "facts"),
    [
        ({"joints": ["lefd"]}, ["grippers.hand.joints", "'lefd'", "'left'"]),
        ({"joints": ["right"]}, ["grippers.hand.joints", "'right'", "control"]),
        ({"joints": ["left", "left"]}, ["grippers.hand.joints", "once"]),
        ({"max_effort": 1.0}, ["grippers.hand", "joints"]),
        ({"joints": ["left"], "stall_timeout": -1.0}, ["grippers.hand.stall_timeout", "-1"]),
    ],
)
def test_invalid_grippers_are_rejected(tmp_path, keys, facts):
    (tmp_path / "finger.xml").write_text(SCENE)
    settings = {"scene": str(tmp_path / "finger.xml"), "contacts": "all", "grippers": {"hand": keys}}
    with raises(ConfigError, *facts):
        Simulation(settings)


def test_a_joint_that_follows_another_is_left_out_of_a_gripper(tmp_path):
    coupling = '</actuator><equality><joint joint1="right" joint2="left"/></equality>'
    (tmp_path / "finger.xml").write_text(SCENE.replace("</actuator>", coupling))
    settings = {"scene": str(tmp_path / "finger.xml"), "contacts": "all"}
    with raises(ConfigError, "grippers.hand.joints", "'right'", "'left'", "leave"):
        Simulation(settings | {"grippers": {"hand": {"joints": ["left", "right"]}}})
    simulation = Simulation(settings | {"grippers": {"hand": {"joints": ["left"]}}})
    simulation.command_gripper("hand", 0.02, 7.0)
    simulation.step(3000)
    assert simulation.engine.qpos == pytest.approx([0.02, 0.02], abs=1e-3)


def test_grippers_with_the_same_actions_are_rejected(tmp_path):
    (tmp_path / "finger.xml").write_text(SCENE)
    grippers = {name: {"joints": ["left"]} for name in ("my_hand", "my-hand")}
    with raises(ConfigError, "grippers.my-hand", "'my_hand'"):
        Simulation({"scene": str(tmp_path / "finger.xml"), "contacts": "all", "grippers": grippers})


def test_invalid_commands_are_rejected(simulation):
    for command in (
        ("hand", np.nan),
        ("hand", 0.0, np.inf),
        ("hnd", 0.0),
        ("hand", "open"),
        ("hand", 0.0, [1.0]),
    ):
        with raises(CommandError):
            simulation.command_gripper(*command)
    assert not simulation.commander.every_step


def test_gripper_closes_on_the_block_and_holds_it_lifted():
    """The gripper closes with 8 N, lifts the block by 0.08 m within 2 s and holds it there for 10 s."""
    simulation = tactile_sim.load("gripper")
    block = simulation.names.bodies.index("block")
    simulation.command_gripper("gripper", 0.044, 8.0)

    def contact():
        return simulation.observe().contact_state.contact.tolist()

    assert contact() == [False, False]
    simulation.step(1000)
    assert contact() == [True, True]
    lift = JointTrajectory(["lift"], np.array([2.0]), np.array([[0.08]]), np.array([[0.0]]))
    simulation.command_trajectory(lift)
    simulation.step(2500)
    height = simulation.engine.body_positions[block, 2].copy()
    assert height == pytest.approx(0.03 + 0.08, abs=2e-3)
    for _ in range(10):
        simulation.step(1000)
        assert contact() == [True, True]
        np.testing.assert_allclose(
            np.linalg.norm(simulation.observe().wrenches[:, :2], axis=1), 8.0, rtol=0.02
        )
    # MuJoCo's friction is soft, so objects held by it sink slowly.
    assert simulation.engine.body_positions[block, 2] == pytest.approx(height, abs=3e-3)

"""Joint trajectories: interpolation, tracking, and how they end."""

import numpy as np
import pytest
from support.errors import raises

from tactile_sim import CommandError, Simulation
from tactile_sim.control.goals import Outcome, TrajectoryGoal, tolerances
from tactile_sim.control.trajectory import JointTrajectory

LINK = """<link name="{0}"><inertial><origin xyz="0.25 0 0"/><mass value="2"/>
  <inertia ixx="0.01" iyy="0.04" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="{1}" type="revolute"><parent link="{2}"/><child link="{0}"/>
  <origin xyz="{3} 0 0"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="100" velocity="3"/></joint>"""
ARM = f"""<robot name="arm"><link name="base"/>{LINK.format("upper", "shoulder", "base", 0)}
  {LINK.format("fore", "elbow", "upper", 0.5)}</robot>"""
JOINTS = ["shoulder", "elbow"]


@pytest.fixture
def simulation(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    return Simulation({"scene": str(tmp_path / "arm.urdf"), "contacts": "all"})


def trajectory(times, positions, *more, joints=JOINTS):
    return JointTrajectory(
        joints, np.array(times, float), *(np.array(rows, float) for rows in (positions, *more))
    )


def test_points_are_joined_by_polynomials_that_their_derivatives_allow():
    times, t = [1.0, 3.0], np.linspace(1.0, 3.0, 21)
    for order in (1, 3, 5):
        curve = np.polynomial.Polynomial(np.arange(1, order + 2) * 0.1)
        rows = [[[f(time)] for time in times] for f in (curve, curve.deriv(), curve.deriv(2))]
        path = trajectory(times, *rows[: (order + 1) // 2], joints=["j"])
        found = np.array([path.at(time) for time in t])[:, :, 0]
        assert found[:, 0] == pytest.approx(curve(t))
        assert found[:-1, 1] == pytest.approx(curve.deriv()(t[:-1]))
        assert [path.at(time)[0][0] for time in (0.0, 9.0)] == pytest.approx(curve(np.array(times)))


def test_servos_follow_a_trajectory_of_five_seconds(simulation):
    """With default control and gravity, the error stays within 0.01 rad at all times."""
    times = np.linspace(0.5, 5.0, 10)
    amplitude, phase = np.array([0.8, -1.2]), np.pi * times[:, None] / 5.0
    simulation.command_trajectory(
        trajectory(times, amplitude * (1 - np.cos(phase)) / 2, amplitude * np.sin(phase) * np.pi / 10)
    )
    error = 0.0
    for _ in range(50):
        simulation.step(50)
        expected = amplitude * (1 - np.cos(np.pi * simulation.time / 5.0)) / 2
        error = max(error, np.abs(simulation.engine.data.qpos - expected).max())
    assert error < 0.01
    assert not simulation.commander.every_step
    simulation.step(1000)
    np.testing.assert_allclose(simulation.engine.data.qpos, amplitude, atol=0.01)


def test_a_new_trajectory_continues_and_a_command_ends_it(simulation):
    simulation.command_trajectory(trajectory([2.0], [[1.0, 1.0]]))
    simulation.step(500)
    np.testing.assert_allclose(simulation.engine.data.qpos, 0.5, atol=0.02)
    simulation.command_trajectory(trajectory([1.0], [[0.0]], joints=["elbow"]), delay=0.5)
    simulation.step(250)
    np.testing.assert_allclose(simulation.engine.data.qpos, 0.5, atol=0.02)  # it waits at its position
    simulation.step(250)
    np.testing.assert_allclose(simulation.engine.data.qpos, [0.5, 0.25], atol=0.02)
    simulation.command_joints({"elbow": 0.3})
    simulation.step(1000)
    np.testing.assert_allclose(simulation.engine.data.qpos, [0.5, 0.3], atol=0.01)
    simulation.command_trajectory(trajectory([2.0], [[1.0, 1.0]]))
    simulation.step(500)
    held = simulation.engine.data.qpos.copy()
    simulation.command_trajectory(trajectory([], np.empty((0, 0))))  # stop
    simulation.step(500)
    np.testing.assert_allclose(simulation.engine.data.qpos, held, atol=0.01)


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        (([1.0], [[0.0, 0.0]], [[0.0]]), ["velocities", "(1, 1)"]),
        (([1.0, 1.0], [[0.0, 0.0]] * 2), ["time_from_start", "1 s"]),
        (([-1.0], [[0.0, 0.0]]), ["time_from_start", "-1 s"]),
        (([1.0], [[np.nan, 0.0]]), ["positions", "nan"]),
        (([1.0], [[0.0]]), ["positions", "(1, 2)", "(1, 1)"]),
        (([1.0], np.empty((0, 0))), ["positions"]),
    ],
)
def test_wrong_points_are_refused(simulation, given, facts):
    with raises(CommandError, "joint_trajectory", *facts):
        simulation.command_trajectory(trajectory(*given))


def test_wrong_joints_are_refused(simulation):
    for joints, fact in ((["elbo", "shoulder"], "'elbow'"), (["elbow", "elbow"], "twice")):
        with raises(CommandError, "joint_trajectory", fact):
            simulation.command_trajectory(trajectory([1.0], [[0.0, 0.0]], joints=joints))


class Goal:
    """A trajectory goal for one joint.

    ``outcomes`` collects the reported outcomes, and ``error`` is the largest position error so far [rad].
    """

    def __init__(self, simulation, *points, path=0.0, goal=0.0, patience=0.0, joint="shoulder"):
        self.outcomes, self.error = [], 0.0
        self.goal = TrajectoryGoal(
            trajectory(*zip(*((time, [position]) for time, position in points), strict=True), joints=[joint]),
            tolerances([joint], {joint: (path, 0.0)}, "path"),
            tolerances([joint], {joint: (goal, 0.0)}, "goal"),
            patience,
            lambda outcome, text: self.outcomes.append(outcome),
            self._watch,
        )
        simulation.start_goal(self.goal)

    def _watch(self, set_points, present):
        self.error = max(self.error, abs(set_points - present)[0, 0])


def test_a_goal_ends_when_its_joints_arrive(simulation):
    reached = Goal(simulation, (0.5, 0.2), (1.0, 0.4), path=0.05, goal=0.01)
    simulation.step(499)
    assert not reached.outcomes
    simulation.step(50)
    assert reached.outcomes == [Outcome.REACHED] and 0.0 < reached.error < 0.05
    assert simulation.free_steps() > 1
    simulation.step(10)
    assert len(reached.outcomes) == 1


def test_a_goal_ends_when_a_tolerance_is_exceeded(simulation):
    left = Goal(simulation, (0.001, 1.0), (1.0, 1.0), path=0.1)
    simulation.step(5)
    assert left.outcomes == [Outcome.LEFT_PATH]
    missed = Goal(simulation, (0.1, 0.0), goal=1e-9, patience=0.2)
    simulation.step(145)
    assert not missed.outcomes
    simulation.step(10)
    assert missed.outcomes == [Outcome.MISSED]


@pytest.mark.parametrize("end", ["command", "goal", "trajectory", "reset", "cancel", "late goal"])
def test_a_goal_is_replaced_by_whatever_ends_its_trajectory(simulation, end):
    late = end == "late goal"
    goal = Goal(simulation, (0.1 if late else 10.0, 1.0), goal=1e-12)
    simulation.step(200)
    assert not goal.outcomes
    if end == "command":
        simulation.command_joints({"shoulder": 0.1})
    elif end in ("goal", "late goal"):
        Goal(simulation, (1.0, 0.0), joint="elbow")
    elif end == "trajectory":
        simulation.command_trajectory(trajectory([1.0], [[0.0]], joints=["elbow"]))
    elif end == "reset":
        simulation.reset()
    else:
        simulation.cancel_goal(goal.goal)
    simulation.step(2)
    assert goal.outcomes == [Outcome.REPLACED]
    simulation.cancel_goal(goal.goal)
    assert simulation.commander.every_step == (end in ("goal", "late goal", "trajectory"))


def test_tolerances_of_other_joints_are_rejected():
    with raises(CommandError, "path_tolerance", "'elbwo'", "'elbow'"):
        tolerances(JOINTS, {"elbwo": (0.1, 0.1)}, "path_tolerance")
    with raises(CommandError, "nan"):
        tolerances(JOINTS, {"elbow": (np.nan, 0.1)}, "goal_tolerance")

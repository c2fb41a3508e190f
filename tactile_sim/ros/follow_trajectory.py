"""The action ``~/follow_joint_trajectory``. Import this module only if control_msgs is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from control_msgs.action import FollowJointTrajectory
from rclpy.executors import Executor
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectoryPoint

from tactile_sim.common.errors import CommandError
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.control.trajectory_goal import Outcome, TrajectoryGoal, tolerances
from tactile_sim.loop.runner import Runner
from tactile_sim.ros.conversions import as_time
from tactile_sim.ros.goal_server import FEEDBACK, GoalServer
from tactile_sim.ros.trajectory import from_message

Result = FollowJointTrajectory.Result
CODES = {
    Outcome.REACHED: Result.SUCCESSFUL,
    Outcome.LEFT_PATH: Result.PATH_TOLERANCE_VIOLATED,
    Outcome.MISSED: Result.GOAL_TOLERANCE_VIOLATED,
    Outcome.REPLACED: Result.INVALID_GOAL,
}


class _Content(NamedTuple):
    trajectory: JointTrajectory
    stamp: int
    """Start time of the trajectory [ns]; 0 to start it immediately."""
    path: np.ndarray
    goal: np.ndarray
    """Goal tolerances (k, 2), as returned by `tolerances`. ``path`` contains the path tolerances."""
    patience: float
    """Time allowed after the last point for reaching the goal tolerances [s]."""


class FollowTrajectory(GoalServer):
    """Action server for ``FollowJointTrajectory``."""

    def __init__(self, node: Node, runner: Runner, executor: Executor):
        """Create the server; see `GoalServer`."""
        super().__init__(node, runner, executor, FollowJointTrajectory, "follow_joint_trajectory")

    def parse(self, request: Any) -> _Content:
        """Convert a request to a trajectory with tolerances, and check it; see `GoalServer.parse`."""
        trajectory, stamp = from_message(request.trajectory)
        self._simulation.commander.check_trajectory(trajectory)
        if not len(trajectory.times):
            raise CommandError("trajectory: must have points, got none")
        if request.multi_dof_trajectory.points:
            raise CommandError("multi_dof_trajectory: is not supported; use trajectory")
        path, goal = (
            tolerances(
                trajectory.joints,
                {own.name: (own.position, own.velocity) for own in getattr(request, field)},
                field,
            )
            for field in ("path_tolerance", "goal_tolerance")
        )
        patience = request.goal_time_tolerance.sec + request.goal_time_tolerance.nanosec * 1e-9
        return _Content(trajectory, stamp, path, goal, patience)

    def make(self, content: _Content, handle: Any, end: Callable[[Outcome, str], None]) -> TrajectoryGoal:
        """Create a goal that publishes feedback while it runs; see `GoalServer.make`."""
        watch = _Feedback(handle, content.trajectory, self._simulation)
        return TrajectoryGoal(content.trajectory, content.path, content.goal, content.patience, end, watch)

    def accept(self, goal: TrajectoryGoal, content: _Content) -> None:
        """Start the trajectory at its start time, or immediately if it has none."""
        delay = (content.stamp - self._simulation.stamp) * 1e-9 if content.stamp else 0.0
        self._simulation.accept_goal(goal, delay)

    def cancel(self, goal: TrajectoryGoal) -> None:
        """Cancel the trajectory and stop its joints."""
        self._simulation.cancel_goal(goal)

    def result(self, outcome: Outcome, text: str) -> Any:
        """Return the action result, with the error code that matches the outcome."""
        return Result(error_code=CODES[outcome], error_string=text)


class _Feedback:
    """Publishes feedback on a goal every `FEEDBACK` seconds of simulation time."""

    def __init__(self, handle: Any, trajectory: JointTrajectory, simulation: Any):
        self._handle, self._trajectory, self._simulation = handle, trajectory, simulation
        self._due = -np.inf

    def __call__(self, set_points: np.ndarray, present: np.ndarray) -> None:
        """Publish feedback if it is due.

        Args:
            set_points: (k, 2) desired position [rad or m] and velocity [rad/s or m/s] of each joint.
            present: (k, 2) current position and velocity of each joint, in the same units.
        """
        if self._simulation.time < self._due:
            return
        self._due = self._simulation.time + FEEDBACK
        feedback = FollowJointTrajectory.Feedback(joint_names=self._trajectory.joints)
        feedback.header.stamp = as_time(self._simulation.stamp)
        for name, values in (
            ("desired", set_points), ("actual", present), ("error", set_points - present)
        ):  # fmt: skip
            positions, velocities = values.T.tolist()
            setattr(feedback, name, JointTrajectoryPoint(positions=positions, velocities=velocities))
        self._handle.publish_feedback(feedback)

"""The action ``~/follow_joint_trajectory``. Import this module only if control_msgs is installed."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.executors import Executor
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectoryPoint

from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.control.trajectory_goal import Outcome, TrajectoryGoal, tolerances
from tactile_sim.errors import CommandError, TactileSimError
from tactile_sim.loop.runner import Runner
from tactile_sim.ros.conversions import as_time
from tactile_sim.ros.trajectory import from_message

FEEDBACK = 0.05
"""Interval between two messages of feedback [s of simulation time]."""
Result = FollowJointTrajectory.Result
CODES = {
    Outcome.REACHED: Result.SUCCESSFUL,
    Outcome.LEFT_PATH: Result.PATH_TOLERANCE_VIOLATED,
    Outcome.MISSED: Result.GOAL_TOLERANCE_VIOLATED,
    Outcome.REPLACED: Result.INVALID_GOAL,
}


class FollowTrajectory:
    """Action server whose goals are trajectories. A new goal, or any other command, ends the last one.

    Goals run in the loop; the executor only receives requests and sends results. An execution callback would
    occupy the executor until the end of the trajectory.
    """

    def __init__(self, node: Node, runner: Runner, executor: Executor):
        """Create the server.

        Args:
            node: The node that offers it.
            runner: The loop that runs the goals.
            executor: The executor of the node.
        """
        self._node, self._runner, self._executor = node, runner, executor
        self._simulation = runner.simulation
        self._goals: dict[bytes, TrajectoryGoal] = {}
        """Goals that have not ended, by id."""
        self._server = ActionServer(
            node,
            FollowJointTrajectory,
            "~/follow_joint_trajectory",
            lambda handle: Result(),
            goal_callback=self._check,
            handle_accepted_callback=self._start,
            cancel_callback=self._cancel,
        )

    def _check(self, request: Any) -> GoalResponse:
        """Accept a valid goal; log why another one is rejected, which the action cannot say."""
        try:
            self._parse(request)
        except TactileSimError as error:
            self._node.get_logger().warning(f"follow_joint_trajectory: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _parse(self, request: Any) -> tuple[JointTrajectory, int, np.ndarray, np.ndarray]:
        """Return trajectory, start [ns], path tolerances and goal tolerances.

        Raises:
            CommandError: The goal is invalid.
        """
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
        return trajectory, stamp, path, goal

    def _start(self, handle: Any) -> None:
        trajectory, stamp, path, limits = self._parse(handle.request)
        simulation, runner = self._simulation, self._runner
        tolerance = handle.request.goal_time_tolerance
        patience = tolerance.sec + tolerance.nanosec * 1e-9
        end, watch = partial(self._end, handle), _Feedback(handle, trajectory, simulation)
        goal = TrajectoryGoal(trajectory, path, limits, patience, end, watch)
        self._goals[bytes(handle.goal_id.uuid)] = goal

        def begin() -> None:
            if goal in self._goals.values():  # it may be cancelled before its step in lock-step
                simulation.accept_goal(goal, (stamp - simulation.stamp) * 1e-9 if stamp else 0.0)

        def act() -> None:
            try:
                runner.command(begin)
            except CommandError as error:
                end(Outcome.REPLACED, str(error))

        runner.post(act)

    def _cancel(self, handle: Any) -> CancelResponse:
        goal = self._goals.get(bytes(handle.goal_id.uuid))
        if goal is None:
            return CancelResponse.REJECT

        def stop() -> None:
            self._simulation.cancel_goal(goal)
            self._end(handle, Outcome.REPLACED, "canceled")

        self._runner.post(stop)
        return CancelResponse.ACCEPT

    def _end(self, handle: Any, outcome: Outcome, text: str) -> None:
        """Send the result of a goal, once, in the thread of the executor."""
        if self._goals.pop(bytes(handle.goal_id.uuid), None) is None:
            return

        def finish(handle: Any) -> Any:
            if outcome is Outcome.REACHED:
                handle.succeed()
            elif handle.is_cancel_requested:
                handle.canceled()
            else:
                handle.abort()
            return Result(error_code=CODES[outcome], error_string=text)

        self._executor.create_task(lambda: handle.execute(finish))


class _Feedback:
    """Publishes the feedback of a goal at its interval."""

    def __init__(self, handle: Any, trajectory: JointTrajectory, simulation: Any):
        self._handle, self._trajectory, self._simulation = handle, trajectory, simulation
        self._due = -np.inf

    def __call__(self, set_points: np.ndarray, present: np.ndarray) -> None:
        """Publish set points and present values (k, 2) of position and velocity if they are due."""
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

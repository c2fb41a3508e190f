"""Action servers for trajectories and grippers. Import this module only if control_msgs is installed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from control_msgs import action
from control_msgs.action import FollowJointTrajectory
from control_msgs.action import GripperCommand as GripperCommandAction
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.executors import Executor
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectoryPoint

from tactile_sim.common.errors import CommandError, TactileSimError, suggest
from tactile_sim.common.names import topic_token
from tactile_sim.config.settings import GripperSettings
from tactile_sim.control.goals import GripperCommand, GripperGoal, Outcome, TrajectoryGoal, tolerances
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.ros.commands import from_message
from tactile_sim.ros.services import as_time
from tactile_sim.simulation.runner import Runner

FEEDBACK = 0.05
"""Interval between two feedback messages [s of simulation time]."""


class GoalServer(ABC):
    """Base class of action servers whose goals command joints and run in the simulation loop.

    A later command can replace a goal, which then ends with `Outcome.REPLACED`. The executor only receives
    requests and sends results. An execute callback is not used, because it would block the executor until the
    goal ends.
    """

    def __init__(self, node: Node, runner: Runner, executor: Executor, action_type: Any, name: str):
        self._node, self._runner, self._executor, self._name = node, runner, executor, name
        self._simulation = runner.simulation
        self._goals: dict[bytes, Any] = {}
        """Goals that have not ended, keyed by goal id."""
        self._server = ActionServer(
            node,
            action_type,
            f"~/{name}",
            lambda handle: action_type.Result(),
            goal_callback=self._check,
            handle_accepted_callback=self._start,
            cancel_callback=self._cancel,
        )

    @abstractmethod
    def parse(self, request: Any) -> Any:
        """Convert and check a request.

        Returns:
            Any object, which is passed to `make` and `accept`.
        """

    @abstractmethod
    def make(self, content: Any, handle: Any, end: Callable[[Outcome, str], None]) -> Any:
        """Create the goal object that the simulation runs."""

    @abstractmethod
    def accept(self, goal: Any, content: Any) -> None:
        """Start a goal in the simulation. Called in the loop's thread."""

    @abstractmethod
    def cancel(self, goal: Any) -> None:
        """Cancel a goal in the simulation and stop its joints. Called in the loop's thread."""

    @abstractmethod
    def result(self, outcome: Outcome, text: str) -> Any:
        """Return the action's result message for an outcome. Called in the loop's thread."""

    def succeeds(self, outcome: Outcome) -> bool:
        """Return whether a goal with this outcome is reported as succeeded."""
        return outcome is Outcome.REACHED

    def _check(self, request: Any) -> GoalResponse:
        """Accept a valid goal. Log why an invalid goal is rejected, since actions cannot report a reason."""
        try:
            self.parse(request)
        except TactileSimError as error:
            self._node.get_logger().warning(f"{self._name}: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _start(self, handle: Any) -> None:
        content = self.parse(handle.request)

        def end(outcome: Outcome, text: str) -> None:
            self._end(handle, outcome, text)

        goal = self.make(content, handle, end)
        self._goals[bytes(handle.goal_id.uuid)] = goal

        def begin() -> None:
            if goal in self._goals.values():  # it may be canceled before its step in lock-step
                self.accept(goal, content)

        def act() -> None:
            try:
                self._runner.command(begin)
            except CommandError as error:
                end(Outcome.REPLACED, str(error))

        self._runner.post(act)

    def _cancel(self, handle: Any) -> CancelResponse:
        goal = self._goals.get(bytes(handle.goal_id.uuid))
        if goal is None:
            return CancelResponse.REJECT

        def stop() -> None:
            self.cancel(goal)
            self._end(handle, Outcome.REPLACED, "canceled")

        self._runner.post(stop)
        return CancelResponse.ACCEPT

    def _end(self, handle: Any, outcome: Outcome, text: str) -> None:
        """Let the executor send the result of a goal, unless the goal has already ended."""
        if self._goals.pop(bytes(handle.goal_id.uuid), None) is None:
            return
        result = self.result(outcome, text)

        def finish(handle: Any) -> Any:
            if self.succeeds(outcome):
                handle.succeed()
            elif handle.is_cancel_requested:
                handle.canceled()
            else:
                handle.abort()
            return result

        self._executor.create_task(lambda: handle.execute(finish))


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
        self._simulation.start_goal(goal, delay)

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

        - ``set_points``: (k, 2) desired position [rad or m] and velocity [rad/s or m/s] of each joint.
        - ``present``: (k, 2) current position and velocity of each joint, in the same units.
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


def offer_grippers(node: Node, runner: Runner, executor: Executor) -> None:
    """Offer ``~/NAME/gripper_cmd`` and, if supported, ``~/NAME/parallel_gripper_cmd`` for each gripper."""
    for name, gripper in runner.simulation.grippers.items():
        Gripper(node, runner, executor, GripperCommandAction, f"{topic_token(name)}/gripper_cmd", gripper)
        if hasattr(action, "ParallelGripperCommand"):  # not in older releases
            kind, place = action.ParallelGripperCommand, f"{topic_token(name)}/parallel_gripper_cmd"
            ParallelGripper(node, runner, executor, kind, place, gripper)


class Gripper(GoalServer):
    """Action server for ``GripperCommand``, with one position for all joints of a gripper."""

    def __init__(
        self,
        node: Node,
        runner: Runner,
        executor: Executor,
        action_type: Any,
        name: str,
        gripper: GripperSettings,
    ):
        """Create the server; see `GoalServer`."""
        self._gripper, self._type = gripper, action_type
        self._indices = runner.simulation.commander.indices(gripper.joints)
        super().__init__(node, runner, executor, action_type, name)

    def parse(self, request: Any) -> GripperCommand:
        """Convert a request to a position and a maximum effort, and check it; see `GoalServer.parse`."""
        command = GripperCommand(request.command.position, request.command.max_effort)
        command.check()
        return command

    def make(self, content: GripperCommand, handle: Any, end: Callable[[Outcome, str], None]) -> GripperGoal:
        """Create a goal that publishes feedback while it runs; see `GoalServer.make`."""
        due = -np.inf

        def watch() -> None:
            nonlocal due
            if self._simulation.time >= due:
                due = self._simulation.time + FEEDBACK
                handle.publish_feedback(self._fill(self._type.Feedback()))

        return GripperGoal(self._gripper, content, end, watch)

    def accept(self, goal: GripperGoal, content: GripperCommand) -> None:
        """Start to move the gripper."""
        self._simulation.start_goal(goal)

    def cancel(self, goal: GripperGoal) -> None:
        """Cancel the goal and hold the joints at their current positions."""
        self._simulation.cancel_goal(goal)

    def result(self, outcome: Outcome, text: str) -> Any:
        """Return the action result: the gripper's state, and whether it reached its goal or stalled."""
        result = self._fill(self._type.Result())
        result.reached_goal, result.stalled = outcome is Outcome.REACHED, outcome is Outcome.STALLED
        return result

    def succeeds(self, outcome: Outcome) -> bool:
        """Return whether the goal was reached, or the gripper stalled and the configuration allows that."""
        stalls = self._gripper.allow_stalling and outcome is Outcome.STALLED
        return stalls or super().succeeds(outcome)

    def _state(self) -> np.ndarray:
        """Return (3, k) positions, velocities and efforts of the k joints, in SI units."""
        engine, commander = self._simulation.engine, self._simulation.commander
        dofs = commander.dofs[self._indices]
        positions = engine.qpos[commander.qpos[self._indices]]
        return np.stack([positions, engine.qvel[dofs], engine.joint_efforts[dofs]])

    def _fill(self, message: Any) -> Any:
        """Write the joints' mean position and effort into a result or feedback message, and return it."""
        message.position, _, message.effort = self._state().mean(axis=1).tolist()
        return message


class ParallelGripper(Gripper):
    """Action server for ``ParallelGripperCommand``, with joint names, efforts and velocities."""

    def parse(self, request: Any) -> GripperCommand:
        """Convert and check a request, in which each quantity must be the same for all joints."""
        command, joints = request.command, self._gripper.joints
        for name in command.name:
            if name not in joints:
                raise CommandError(f"command.name: no joint {name!r} in the gripper{suggest(name, joints)}")
        values = []
        for field in ("position", "effort", "velocity"):
            given = list(getattr(command, field))
            if len(set(given)) > 1 or len(given) > len(joints):
                raise CommandError(f"command.{field}: must be one value for all joints, got {given}")
            values += given[:1] or [0.0]
        if not len(command.position):
            raise CommandError("command.position: must have a value, got none")
        parsed = GripperCommand(*values)
        parsed.check()
        return parsed

    def _fill(self, message: Any) -> Any:
        """Write the state of each joint into a result or feedback message, and return it."""
        positions, velocities, efforts = self._state().tolist()
        message.state.header.stamp = as_time(self._simulation.stamp)
        message.state.name = list(self._gripper.joints)
        message.state.position, message.state.velocity, message.state.effort = positions, velocities, efforts
        return message

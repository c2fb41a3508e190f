"""Action servers for grippers. Import this module only if control_msgs is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from control_msgs import action
from control_msgs.action import GripperCommand as GripperCommandAction
from rclpy.executors import Executor
from rclpy.node import Node

from tactile_sim.common.errors import CommandError, suggest
from tactile_sim.common.names import topic_token
from tactile_sim.config.settings import GripperSettings
from tactile_sim.control.gripper_goal import GripperCommand, GripperGoal
from tactile_sim.control.trajectory_goal import Outcome
from tactile_sim.loop.runner import Runner
from tactile_sim.ros.conversions import as_time
from tactile_sim.ros.goal_server import FEEDBACK, GoalServer


def offer_grippers(node: Node, runner: Runner, executor: Executor) -> None:
    """Offer ``~/NAME/gripper_cmd`` and, if supported, ``~/NAME/parallel_gripper_cmd`` for each gripper.

    Args:
        node: Node that offers the actions.
        runner: Loop that runs the goals.
        executor: Executor of the node.
    """
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
        self._simulation.accept_grip(goal)

    def cancel(self, goal: GripperGoal) -> None:
        """Cancel the goal and hold the joints at their current positions."""
        self._simulation.cancel_grip(goal)

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

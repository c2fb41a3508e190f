"""Action servers whose goals run in the loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.executors import Executor
from rclpy.node import Node

from tactile_sim.common.errors import CommandError, TactileSimError
from tactile_sim.control.trajectory_goal import Outcome
from tactile_sim.loop.runner import Runner

FEEDBACK = 0.05
"""Interval between two feedback messages [s of simulation time]."""


class GoalServer(ABC):
    """Base class of action servers whose goals command joints and run in the simulation loop.

    A later command can replace a goal, which then ends with `Outcome.REPLACED`. The executor only receives
    requests and sends results. An execute callback is not used, because it would block the executor until the
    goal ends.
    """

    def __init__(self, node: Node, runner: Runner, executor: Executor, action_type: Any, name: str):
        """Create the server.

        Args:
            node: The node that offers the action.
            runner: The loop that runs the goals.
            executor: The executor of the node.
            action_type: The class of the action.
            name: Name of the action, relative to the name of the node.
        """
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

        Raises:
            CommandError: The request is invalid.
        """

    @abstractmethod
    def make(self, content: Any, handle: Any, end: Callable[[Outcome, str], None]) -> Any:
        """Create the goal object that the simulation runs.

        Args:
            content: Result of `parse`.
            handle: rclpy's goal handle, which can publish feedback.
            end: Function that the goal must call exactly once, with its outcome and an explanation.
        """

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
            if goal in self._goals.values():  # it may be cancelled before its step in lock-step
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

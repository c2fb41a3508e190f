"""Steps that are requested while time is stopped."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future

from tactile_sim.errors import CommandError


class StepRequests:
    """Requests in their order, each with its last step and the future of its result."""

    def __init__(self) -> None:
        self._requests: deque[tuple[int, Future[int]]] = deque()

    def __bool__(self) -> bool:
        return bool(self._requests)

    @property
    def end(self) -> int:
        """Last step of the oldest request."""
        return self._requests[0][0]

    def add(self, step: int, number: int) -> Future[int]:
        """Request steps after those that are already requested.

        Args:
            step: The present step, from which the first request counts.
            number: Number of steps.

        Returns:
            A future with the stamp [ns] after the last step, or with a CommandError.
        """
        begin = self._requests[-1][0] if self._requests else step
        done: Future[int] = Future()
        self._requests.append((begin + number, done))
        return done

    def delay(self) -> None:
        """Move the ends of all requests by one step, because the step count was increased without a step."""
        self._requests = deque((end + 1, done) for end, done in self._requests)

    def resolve(self, stamp: int) -> None:
        """Answer the oldest request with the stamp [ns] after its last step."""
        self._requests.popleft()[1].set_result(stamp)

    def cancel(self, why: str) -> None:
        """Answer all requests with a CommandError that gives the reason."""
        while self._requests:
            self._requests.popleft()[1].set_exception(CommandError(f"not all steps were taken: {why}"))

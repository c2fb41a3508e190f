"""Queue for simulation steps that are requested while time is stopped."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future

from tactile_sim.common.errors import CommandError


class StepRequests:
    """A queue of requests to step. Each entry has the step count at which it ends and a future."""

    def __init__(self) -> None:
        self._requests: deque[tuple[int, Future[int]]] = deque()

    def __bool__(self) -> bool:
        return bool(self._requests)

    @property
    def end(self) -> int:
        """Step count at which the oldest request ends. Valid only if a request is pending."""
        return self._requests[0][0]

    def add(self, step: int, number: int) -> Future[int]:
        """Queue a request for steps, which begins after all pending requests.

        Args:
            step: Current step count. If no request is pending, the new request starts here.
            number: Number of steps.

        Returns:
            A future with the stamp [ns] after the last step, or with a CommandError.
        """
        begin = self._requests[-1][0] if self._requests else step
        done: Future[int] = Future()
        self._requests.append((begin + number, done))
        return done

    def delay(self) -> None:
        """Increase the end of each request by one, because the step count was increased without a step."""
        self._requests = deque((end + 1, done) for end, done in self._requests)

    def resolve(self, stamp: int) -> None:
        """Complete the oldest request with ``stamp``, the simulation time after its last step [ns]."""
        self._requests.popleft()[1].set_result(stamp)

    def cancel(self, why: str) -> None:
        """Fail all requests with a CommandError that contains the reason."""
        while self._requests:
            self._requests.popleft()[1].set_exception(CommandError(f"not all steps were taken: {why}"))

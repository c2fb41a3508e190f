"""Run the recorder process of ``tactile_sim run --record``, which records all messages of the node."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from threading import Thread
from types import TracebackType

from tactile_sim.common.errors import BagError
from tactile_sim.common.processes import Child

START_PATIENCE = 60.0
"""Maximum wall time for the recorder to start [s]."""


def node_name(pid: int) -> str:
    """Return the name of the node of ``tactile_sim record``.

    Args:
        pid: Id of its process.
    """
    return f"tactile_sim_recorder_{pid}"


class RecorderProcess:
    """Context manager that runs ``tactile_sim record`` in a child process.

    Entering the block waits until the recording has started. Leaving the block ends the process once all
    published messages have been written.

    Raises:
        BagError: The recorder does not start, ends early, loses messages, or cannot complete the bag.
    """

    def __init__(self, bag: str):
        self._bag = bag
        self._ending = False

    def __enter__(self) -> RecorderProcess:
        self._child = Child("record", self._bag)
        try:
            if not self._child.wait_for("recording", START_PATIENCE):
                raise BagError(f"the recorder did not start: {self._last_line() or 'no answer'}")
        except BaseException:
            self._child.end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        fault = self.fault
        self._ending = True
        self._child.end()
        fault = fault or self._exit_fault()
        if kind is not None:
            return  # the error of the with block takes precedence
        if fault:
            raise BagError(fault)
        print(self._last_line(), file=sys.stderr)

    @property
    def node_name(self) -> str:
        """Name of the recorder's node."""
        return node_name(self._child.pid)

    @property
    def fault(self) -> str:
        """Reason why the recorder ended; empty while it is running."""
        return "" if self._child.returncode is None else self._exit_fault() or "the recorder ended"

    def watch(self, lost: Callable[[str], None]) -> None:
        """Call a function from another thread if the recorder ends before the block is left.

        Args:
            lost: Called with the fault.
        """

        def wait() -> None:
            self._child.wait()
            if not self._ending:
                lost(self.fault)

        Thread(target=wait, daemon=True).start()

    def _exit_fault(self) -> str:
        """Return why the process ended with an error; empty if it ended normally."""
        code = self._child.returncode
        if not code:
            return ""
        if any(line.startswith("recorded ") for line in self._child.last_lines):  # complete, but with losses
            return self._last_line()
        reason = signal.Signals(-code).name if code < 0 else self._last_line() or f"exit code {code}"
        return (
            f"the recorder ended ({reason}); earlier messages are in {self._bag}:"
            f" tactile_sim bag repair {self._bag}"
        )

    def _last_line(self) -> str:
        return " ".join(self._child.last_lines[-1:]).removeprefix("tactile_sim: error: ")

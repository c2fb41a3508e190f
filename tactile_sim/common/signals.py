"""Handling of SIGINT, SIGTERM and SIGHUP without raising exceptions in the middle of other code.

A signal handler can run between any two bytecodes of the main thread. An exception raised there may crash a
callback, may be replaced by another error during an import, or may be lost in a finalizer.
The handlers of a `StopRequest` therefore never raise.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from types import FrameType, TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that ask a process to end: Ctrl-C, `kill`, and a closed terminal."""

_current: StopRequest | None = None


class Stopped(BaseException):
    """Exception that is raised after a signal has asked the process to end.

    This is a BaseException, so ``except Exception`` does not catch it.
    """

    def __init__(self, number: int):
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number
        """The exit code that a shell reports for this signal."""


class StopRequest:
    """Context manager that records signals that ask the process to end.

    During startup, call `check` at points where an exception is harmless; it raises `Stopped` after a signal.
    Then use `call` to set a function that ends the work. Use the context manager in the main thread, around
    all code that needs cleanup. Code without cleanup can rely on the signals' default action.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._parent = os.getppid()
        self._arrived: SimpleQueue[None] = SimpleQueue()  # unlike an Event, safe to use in a handler
        self._action: Callable[[], object] | None = None
        self._handlers: dict[int, signal._HANDLER] = {}
        self._outer: StopRequest | None = None

    def __enter__(self) -> StopRequest:
        global _current
        self._outer, _current = _current, self
        for number in SIGNALS:
            handler = signal.getsignal(number)
            nohup = number == signal.SIGHUP and handler == signal.SIG_IGN
            if handler is not None and not nohup:  # None: a handler that Python could not put back
                self._handlers[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _current
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers.clear()
        _current = self._outer

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._number is None:
            self._number = number
            self._arrived.put(None)
        if self._action:
            self._action()

    @property
    def requested(self) -> bool:
        """True if a signal has arrived."""
        return self._number is not None

    @property
    def reason(self) -> str:
        """Why the process was asked to end: the name of the first signal, and whether the parent has ended.

        Empty if no signal has arrived. While threads of a killed parent are still ending, the parent is not
        mentioned.
        """
        if self._number is None:
            return ""
        orphaned = "; the parent process has ended" if os.getppid() != self._parent else ""
        return f"{signal.Signals(self._number).name} received{orphaned}"

    def check(self) -> None:
        """Raise `Stopped` if a signal has arrived and `call` has not set an action."""
        if self._number is not None and self._action is None:
            raise Stopped(self._number)

    def call(self, action: Callable[[], object]) -> None:
        """Set a function to call on each signal. From then on, `check` does not raise."""
        self.check()
        self._action = action
        if self._number is not None:  # a signal arrived since the check
            action()

    def wait(self, timeout: float) -> bool:
        """Wait for a signal.

        Args:
            timeout: Maximum time [s].
        """
        if not self.requested:
            try:
                self._arrived.get(timeout=timeout)
            except Empty:
                pass
        return self.requested


def in_main_thread() -> bool:
    """Return whether this is the main thread, in which Python runs signal handlers."""
    return threading.current_thread() is threading.main_thread()


def check() -> None:
    """Call `StopRequest.check` of the current `StopRequest`.

    Does nothing outside a `StopRequest` and in threads other than the main thread.
    """
    if _current is not None and in_main_thread():
        _current.check()


@contextmanager
def raising() -> Iterator[None]:
    """Raise `Stopped` in the block when a signal arrives, so that its cleanup code runs.

    Use this only for work on files. Signals that the process ignores or already handles are not affected.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped(number)

    taken = [number for number in SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)

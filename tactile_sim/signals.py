"""Handle SIGINT, SIGTERM and SIGHUP without exceptions in the middle of other code.

A signal handler runs between any two bytecodes of the main thread. An exception raised there may pass through
a callback of the compiler, which then crashes, an import, which replaces it by another error, or a finalizer,
which drops it. The handlers of a `StopRequest` never raise.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from types import FrameType, TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that request a process to end: Ctrl-C, `kill`, and a closed terminal."""

_current: StopRequest | None = None


class Stopped(BaseException):
    """A signal requested the process to end. Not an Exception, so that no error handling catches it."""

    def __init__(self, number: int):
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number
        """The exit code that a shell reports for this signal."""


class StopRequest:
    """Context manager that records signals that request the process to end.

    During start-up, call `check` at points where an exception is harmless; it raises after a signal.
    Afterwards, `call` sets the function that ends the work. Use it in the main thread around everything that
    needs clean-up. Without clean-up, the default action of the signals is sufficient.
    """

    def __init__(self) -> None:
        self._number: int | None = None
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

    def check(self) -> None:
        """Raise Stopped if a signal has arrived and `call` has not set an action."""
        if self._number is not None and self._action is None:
            raise Stopped(self._number)

    def call(self, action: Callable[[], object]) -> None:
        """Set a function to call on each signal; `check` no longer raises.

        Args:
            action: Runs in the signal handler, so it must not wait for a lock.

        Raises:
            Stopped: A signal has arrived before.
        """
        self.check()
        self._action = action
        if self._number is not None:  # a signal arrived since the check
            action()

    def wait(self, timeout: float) -> bool:
        """Wait for a signal.

        Args:
            timeout: Maximum time [s].

        Returns:
            Whether a signal has arrived.
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
    """Raise Stopped if a signal has requested this process to end during its start-up.

    Does nothing outside of a `StopRequest` and in other threads than the main one.
    """
    if _current is not None and in_main_thread():
        _current.check()


@contextmanager
def deferred() -> Iterator[None]:
    """Delay the handlers of signals until the end of the block, in the main thread.

    Use this for code that exceptions of a handler would break, such as KeyboardInterrupt.
    """
    if _current is not None or not in_main_thread():
        yield  # no handler raises
        return
    came: list[tuple[int, FrameType | None]] = []
    handlers = {number: handler for number in SIGNALS if callable(handler := signal.getsignal(number))}
    for number in handlers:
        signal.signal(number, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for came_number, frame in came:
            handlers[signal.Signals(came_number)](came_number, frame)


@contextmanager
def raising() -> Iterator[None]:
    """Let a signal end the block like an error, so that its clean-up runs.

    Use this only for work on files. Signals that the process ignores or handles are not changed.
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

"""Report the progress of compiling kernels, which takes a minute after an installation."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress

from numba.core import event as numba_event  # noqa: TID251

from tactile_sim.kernel_cache import KernelCache

INTERVAL = 5.0
"""Interval between progress messages if standard error is not a terminal [s]."""


def warn(text: str) -> None:
    """Report a warning."""
    report(text)  # looked up at call time, because the node replaces it


def _write(text: str) -> None:
    with suppress(OSError, AttributeError):  # the terminal or standard error is closed
        sys.stderr.write(text)
        sys.stderr.flush()


def _print(text: str) -> None:
    _write(f"tactile_sim: {text}\n")


report: Callable[[str], None] = _print
"""Function that reports progress and warnings. The default prints to standard error; the node logs them."""


class Progress(numba_event.Listener):
    """Numba event listener that reports compilation progress.

    In a terminal, the report is updated continuously. In a log, it is repeated at intervals.
    """

    def __init__(self) -> None:
        self._count = self._depth = 0
        self._start = self._due = 0.0

    def on_start(self, event: numba_event.Event) -> None:
        if not _is_ours(event):
            return
        now = time.monotonic()
        if not self._count:
            self._start = now
            report("compiling kernels, once after an installation or an update")
            self._due = now + INTERVAL
        self._count += 1
        self._depth += 1
        text = f"compiling kernels: {self._count} in {now - self._start:.0f} s"
        if _on_terminal():
            _write(f"\r\x1b[K{text} ...")
        elif now >= self._due:
            self._due = now + INTERVAL
            report(text)

    def on_end(self, event: numba_event.Event) -> None:
        if not _is_ours(event):
            return
        self._depth -= 1
        if not self._depth and _on_terminal():
            _write("\r\x1b[K")  # clear the line for other output


def _is_ours(event: numba_event.Event) -> bool:
    return isinstance(getattr(event.data["dispatcher"], "_cache", None), KernelCache)


def _on_terminal() -> bool:
    return report is _print and sys.stderr is not None and sys.stderr.isatty()

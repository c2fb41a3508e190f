"""Keyboard input from a terminal."""

from __future__ import annotations

import os
import select
import termios
import tty
from types import TracebackType

STDIN = 0
"""File descriptor of standard input."""


class Keys:
    """Context manager that reads single key presses from the terminal, without Enter and without echo."""

    @staticmethod
    def ours() -> bool:
        """Return whether this process may read from the terminal; reading would stop a background job."""
        try:
            return os.tcgetpgrp(STDIN) == os.getpgrp()
        except OSError:  # not a terminal
            return False

    def __enter__(self) -> Keys:
        self._saved = termios.tcgetattr(STDIN)
        tty.setcbreak(STDIN)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        termios.tcsetattr(STDIN, termios.TCSADRAIN, self._saved)

    def read(self) -> str:
        """Return the next key press, or an empty string if no key has been pressed."""
        ready, _, _ = select.select([STDIN], [], [], 0.0)
        return os.read(STDIN, 1).decode(errors="replace") if ready else ""

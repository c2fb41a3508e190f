"""The console on which commands print tables."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console

PLAIN_WIDTH = 160
"""Text width if the output is a file or pipe [columns]."""


class Output(Console):
    """Console on standard output, without highlighting. A closed pipe raises a BrokenPipeError."""

    def __init__(self, **options: Any) -> None:
        width = None if sys.stdout.isatty() else PLAIN_WIDTH
        super().__init__(width=width, highlight=False, **options)

    def on_broken_pipe(self) -> None:
        """Raise the error again, because rich would end the program with exit code 1."""
        raise BrokenPipeError

"""A part of a bag in time."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """From ``start`` to ``stop``, both in seconds of the messages' own time and both included."""

    start: float = -math.inf
    stop: float = math.inf

    def __contains__(self, stamp: int) -> bool:
        """Whether a stamp [ns] lies within."""
        return self.start <= stamp / 1e9 <= self.stop

    def __str__(self) -> str:
        if self == Span():
            return "in it"
        start = (
            f"from {self.start:g} s on"
            if self.stop == math.inf
            else f"from {self.start:g} to {self.stop:g} s"
        )
        return start if self.start > -math.inf else f"until {self.stop:g} s"

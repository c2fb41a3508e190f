"""Select a time span of a bag."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """Time span from ``start`` to ``stop`` [s], both inclusive."""

    start: float = -math.inf
    stop: float = math.inf

    def __contains__(self, stamp: int) -> bool:
        """Return whether the span contains a stamp [ns]."""
        return self.start <= stamp / 1e9 <= self.stop

    def __str__(self) -> str:
        if self == Span():
            return "in the bag"
        start = (
            f"from {self.start:g} s on"
            if self.stop == math.inf
            else f"from {self.start:g} to {self.stop:g} s"
        )
        return start if self.start > -math.inf else f"until {self.stop:g} s"

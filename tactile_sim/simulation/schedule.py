"""Compute the steps at which topics are due."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

_SLACK = 1e-9
"""Tolerance for rounding errors in products of time step and rate: 0.002 s × 100 Hz must count as 0.2."""


class Schedule:
    """Steps at which streams are due, computed from their rates [Hz of simulation time].

    A stream with rate r is due at the first step at or after each multiple of 1/r, at most once per step. A
    stream with rate 0 is never due.

    Args:
        timestep: Duration of a step [s].
        rates: Rate of each stream [Hz].
    """

    def __init__(self, timestep: float, rates: Mapping[str, float]):
        self._per_step = {name: min(rate * timestep, 1.0) for name, rate in rates.items() if rate > 0.0}

    def runs(self, name: str) -> bool:
        """Return whether a stream is ever due."""
        return name in self._per_step

    def due(self, step: int, names: Iterable[str]) -> set[str]:
        """Return the streams that are due at a step.

        Args:
            step: Number of steps since the start.
            names: The streams to consider.
        """
        return {
            name
            for name in names
            if (per_step := self._per_step.get(name))
            and math.floor(step * per_step + _SLACK) > math.floor((step - 1) * per_step + _SLACK)
        }

    def next(self, step: int, names: Iterable[str]) -> int | None:
        """Return the first step after ``step`` at which any of the streams is due; None if none ever is.

        Args:
            step: Number of steps since the start.
            names: The streams to consider.
        """
        steps = [
            math.ceil((math.floor(step * per_step + _SLACK) + 1) / per_step - _SLACK)
            for name in names
            if (per_step := self._per_step.get(name))
        ]
        return max(step + 1, min(steps)) if steps else None

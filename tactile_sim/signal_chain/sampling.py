"""Sampling: the reading of a taxel for the interval between two messages."""

from __future__ import annotations

import numpy as np


class Sampling:
    """Combine the readings of an interval, which may differ between taxels.

    ``mean`` averages the readings of all steps since the last message; ``peak`` keeps, for each taxel, the
    reading of the greatest magnitude.
    """

    def __init__(self, mode: str):
        self.mode = mode
        self.clear()

    def clear(self) -> None:
        """Start a new interval."""
        self._steps: np.ndarray | None = None
        """(taxels, 1) readings in the interval."""

    def add(self, reading: np.ndarray, ends: np.ndarray) -> None:
        """Add the reading of one step to the interval.

        Args:
            reading: (taxels, channels).
            ends: (taxels,) whether the interval of each taxel ends with this reading, which is then left out.
        """
        self._value = self._with(reading)
        steps = 0 if self._steps is None else self._steps
        self._steps = np.where(ends[:, None], 0, steps + 1)

    def value(self, reading: np.ndarray) -> np.ndarray:
        """Return the value (taxels, channels) of the interval that ends with a reading."""
        value = self._with(reading)
        steps = 0 if self._steps is None else self._steps
        return value / (steps + 1) if self.mode == "mean" else value

    def _with(self, reading: np.ndarray) -> np.ndarray:
        if self._steps is None:
            return reading
        value = np.where(self._steps > 0, self._value, 0.0)
        if self.mode == "mean":
            return value + reading
        stronger = (reading**2).sum(axis=1) > (value**2).sum(axis=1)
        return np.where(stronger[:, None], reading, value)

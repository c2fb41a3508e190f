"""What a taxel reports for the interval between two messages."""

from __future__ import annotations

import numpy as np


class Sampling:
    """Combine the readings of an interval.

    ``mean`` averages the readings of all steps since the last message; ``peak`` keeps, for each taxel, the
    reading of the greatest magnitude.
    """

    def __init__(self, mode: str):
        self.mode = mode
        self.clear()

    def clear(self) -> None:
        """Start a new interval."""
        self._steps = 0

    def add(self, reading: np.ndarray) -> None:
        """Add the reading (taxels, channels) of one step to the interval."""
        self._value = self._with(reading)
        self._steps += 1

    def value(self, reading: np.ndarray) -> np.ndarray:
        """Return the value (taxels, channels) of the interval that ends with a reading."""
        value = self._with(reading)
        return value / (self._steps + 1) if self.mode == "mean" else value

    def _with(self, reading: np.ndarray) -> np.ndarray:
        if self._steps == 0:
            return reading
        if self.mode == "mean":
            return self._value + reading
        stronger = (reading**2).sum(axis=1) > (self._value**2).sum(axis=1)
        return np.where(stronger[:, None], reading, self._value)

"""What a taxel reports for the interval between two messages."""

from __future__ import annotations

import numpy as np


class Sampling:
    """``mean`` averages the readings of all steps since the last message; ``peak`` keeps, for each taxel, the
    reading of the greatest magnitude."""

    def __init__(self, mode: str):
        self.mode = mode
        self.clear()

    def clear(self) -> None:
        """Starts a new interval."""
        self._steps = 0

    @property
    def empty(self) -> bool:
        """Whether the interval has no step yet."""
        return self._steps == 0

    def add(self, reading: np.ndarray) -> None:
        """Takes the reading (taxels, channels) of one step."""
        if self._steps == 0:
            self._value = reading.copy()
        elif self.mode == "mean":
            self._value += reading
        else:
            stronger = (reading**2).sum(axis=1) > (self._value**2).sum(axis=1)
            self._value[stronger] = reading[stronger]
        self._steps += 1

    def value(self) -> np.ndarray:
        """The reading (taxels, channels) of the interval; of at least one step."""
        return self._value / self._steps if self.mode == "mean" else self._value.copy()

"""Sampling: combine a taxel's readings between two messages into one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Sampling:
    """Combines the readings of an interval into one value; each taxel has its own interval.

    ``mean`` averages the readings of all steps since the last message; ``peak`` keeps, for each taxel, the
    reading with the largest magnitude; ``last`` keeps the last one.
    """

    def __init__(self, mode: str | np.ndarray):
        """Start the first interval.

        Args:
            mode: ``mean``, ``peak`` or ``last`` for all taxels, or an array (taxels, 1) of modes.
        """
        self.mode = mode
        self._is_mean, self._is_peak = np.asarray(mode) == "mean", np.asarray(mode) == "peak"
        self._mixed = isinstance(mode, np.ndarray)
        self.clear()

    @staticmethod
    def of_pads(modes: Sequence[str], offsets: np.ndarray) -> Sampling | None:
        """Create a `Sampling` for pads with the specified modes; return None if all modes are ``last``.

        Args:
            modes: (pads,) Mode of each pad.
            offsets: (pads + 1,) First taxel of each pad, then the total number of taxels.
        """
        if not set(modes) - {"last"}:
            return None
        if len(set(modes)) == 1:
            return Sampling(modes[0])
        return Sampling(np.repeat(np.array(modes), np.diff(offsets))[:, None])

    def clear(self) -> None:
        """Start a new interval."""
        self._steps: np.ndarray | None = None
        """(taxels, 1) number of readings in the interval so far."""

    def add(self, reading: np.ndarray, ends: np.ndarray) -> None:
        """Add the reading of one step to the interval.

        Args:
            reading: (taxels, channels) Readings of the step.
            ends: (taxels,) Whether the interval of each taxel ends with this reading. The next interval then
                starts without it.
        """
        self._value = self._with(reading)
        steps = 0 if self._steps is None else self._steps
        self._steps = np.where(ends[:, None], 0, steps + 1)

    def value(self, reading: np.ndarray) -> np.ndarray:
        """Compute the value of the interval as if ``reading`` were its last, without adding it.

        Args:
            reading: (taxels, channels) Last reading of the interval.

        Returns:
            (taxels, channels) Mean, peak or last reading of each taxel.
        """
        value = self._with(reading)
        steps = 0 if self._steps is None else self._steps
        if self._mixed:
            return np.where(self._is_mean, value / (steps + 1), value)
        return value / (steps + 1) if self._is_mean else value

    def _with(self, reading: np.ndarray) -> np.ndarray:
        if self._steps is None:
            return reading
        value = np.where(self._steps > 0, self._value, 0.0)
        if not self._mixed and self._is_mean:
            return value + reading
        stronger = (reading**2).sum(axis=1) > (value**2).sum(axis=1)
        kept = np.where(stronger[:, None] | ~self._is_peak, reading, value)
        return np.where(self._is_mean, value + reading, kept) if self._mixed else kept

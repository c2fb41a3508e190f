"""Keeps simulation time in step with the clock on the wall."""

from __future__ import annotations

import time

LATE = 0.1
"""When the simulation lags more than this [s], it gives up the lost time instead of racing after it."""


class Pace:
    """Says how long to wait so that simulation time runs at a given multiple of wall time."""

    def __init__(self, factor: float):
        self.missed = 0
        """How often time was given up because the machine was too slow."""
        self._window: tuple[float, float] = (time.monotonic(), 0.0)
        self.set_factor(factor, 0.0)

    def set_factor(self, factor: float, now: float) -> None:
        """From simulation time ``now`` [s] on runs at ``factor`` × wall time; 0: as fast as possible."""
        self.factor = factor
        self.anchor(now)

    def anchor(self, now: float) -> None:
        """Starts to count anew at simulation time ``now`` [s], after a pause for example."""
        self._wall = time.monotonic()
        self._simulated = now

    def ahead(self, now: float) -> float:
        """Wall time [s] to wait at simulation time ``now`` [s]."""
        if self.factor == 0.0:
            return 0.0
        wait = self._wall + (now - self._simulated) / self.factor - time.monotonic()
        if wait < -LATE:
            self.missed += 1
            self.anchor(now)
        return max(wait, 0.0)

    def measured(self, now: float) -> float:
        """The real-time factor since the last call."""
        wall, simulated = self._window
        self._window = (time.monotonic(), now)
        return (now - simulated) / max(self._window[0] - wall, 1e-9)

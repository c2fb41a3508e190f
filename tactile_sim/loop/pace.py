"""Synchronize simulation time with wall time."""

from __future__ import annotations

import time

LATE = 0.1
"""Maximum lag [s]. A simulation that is further behind drops the lost time instead of catching up."""


class Pace:
    """Computes how long to wait so that simulation time runs at a multiple of wall time.

    Args:
        factor: Simulation time per wall time; 0: as fast as possible.
    """

    def __init__(self, factor: float):
        self.missed = 0
        """Number of times that lost time was dropped because the machine was too slow."""
        self._window: tuple[float, float] = (time.monotonic(), 0.0)
        self.set_factor(factor, 0.0)

    def set_factor(self, factor: float, now: float) -> None:
        """Set the real-time factor.

        Args:
            factor: Simulation time per wall time; 0: as fast as possible.
            now: Current simulation time [s].
        """
        self.factor = factor
        self.anchor(now)

    def anchor(self, now: float) -> None:
        """Restart the measurement of time, for example after a pause.

        Args:
            now: Current simulation time [s].
        """
        self._wall = time.monotonic()
        self._simulated = now

    def ahead(self, now: float) -> float:
        """Return the wall time to wait [s]; drop the lost time if the simulation is late.

        Args:
            now: Current simulation time [s].
        """
        if self.factor == 0.0:
            return 0.0
        wait = self._wall + (now - self._simulated) / self.factor - time.monotonic()
        if wait < -LATE:
            self.missed += 1
            self.anchor(now)
        return max(wait, 0.0)

    def measured(self, now: float) -> float:
        """Return the real-time factor since the last call.

        Args:
            now: Current simulation time [s].
        """
        wall, simulated = self._window
        self._window = (time.monotonic(), now)
        return (now - simulated) / max(self._window[0] - wall, 1e-9)

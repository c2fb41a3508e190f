"""Synchronize simulation time with wall time."""

from __future__ import annotations

import time

REACTION = 0.01
"""Longest time between two checks for requests [s], in both simulation time and wall time."""
LATE = 0.1
"""Largest lag behind wall time that the loop makes up [s]. If the lag is larger, the lost time is dropped."""


class Pace:
    """Computes waiting times so that simulation time advances ``factor`` times as fast as wall time."""

    def __init__(self, factor: float):
        self.missed = 0
        """Number of times that lost time was dropped because the machine was too slow."""
        self._window: tuple[float, float] = (time.monotonic(), 0.0)
        self.set_factor(factor, 0.0)

    def set_factor(self, factor: float, now: float) -> None:
        """Set the real-time factor.

        Args:
            factor: Ratio of simulation time to wall time; 0 means as fast as possible.
            now: Current simulation time [s].
        """
        self.factor = factor
        self.reaction = REACTION * min(factor or 1.0, 1.0)
        """Longest simulation time between two checks for requests [s]."""
        self.anchor(now)

    def anchor(self, now: float) -> None:
        """Restart pacing from the current time, for example after a pause.

        Args:
            now: Current simulation time [s].
        """
        self._wall = time.monotonic()
        self._simulated = now

    def ahead(self, now: float) -> float:
        """Return the wall time to wait before the next step [s]; 0 if simulation time is not ahead.

        If the simulation lags behind wall time by more than `LATE`, the lost time is dropped and counted in
        ``missed``.

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
        """Return the average real-time factor since the previous call, or since the start in the first call.

        Args:
            now: Current simulation time [s].
        """
        wall, simulated = self._window
        self._window = (time.monotonic(), now)
        return (now - simulated) / max(self._window[0] - wall, 1e-9)

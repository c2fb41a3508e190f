"""The end of the taxels' colour scale over time."""

from __future__ import annotations

import numpy as np

from tactile_sim.drawing.force_scale import full_scale

DECAY = 5.0
"""Simulation time in which the end falls to 1/e after the largest reading [s]."""
LEAST = 0.02
"""Least automatic end relative to the expected one, so that noise does not fill the scale."""


class ColorScale:
    """Follows the largest reading and falls slowly, unless its end is set.

    Attributes:
        end: Reading at the end of the scale.
        chosen: The end that a user has set; 0: automatic.
        logarithmic: Whether the scale is logarithmic.
    """

    def __init__(self, expected: float):
        """Create a scale.

        Args:
            expected: Expected largest reading.
        """
        self.end = expected
        self.chosen = 0.0
        self.logarithmic = True
        self._configured = 0.0
        self._least = LEAST * expected
        self._peak = 0.0
        self._time = 0.0

    def update(self, readings: np.ndarray, time: float, configured: float | None = None) -> float:
        """Return the end of the scale at a time.

        The automatic end is 1, 2 or 5 times a power of ten, so it changes seldom.

        Args:
            readings: (n,)
            time: Simulation time [s].
            configured: End that the settings define, 0: none; None: as in the last call. A user's choice
                takes precedence.
        """
        self._configured = self._configured if configured is None else configured
        elapsed, self._time = time - self._time, time
        largest = float(np.nan_to_num(readings, posinf=0.0).max(initial=0.0))
        decayed = self._peak * np.exp(-elapsed / DECAY) if elapsed >= 0.0 else 0.0
        self._peak = max(largest, decayed, self._least)
        self.end = self.chosen or self._configured or full_scale(self._peak / 1.2)
        return self.end

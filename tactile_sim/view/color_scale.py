"""Choose the end of the taxels' color scale over time."""

from __future__ import annotations

import numpy as np

from tactile_sim.figures.colors import full_scale

DECAY = 5.0
"""Time constant (1/e) with which the stored largest reading decays, in simulation time [s]."""
IMPACT = 10.0
"""Ratio of the stored reading to the largest current one above which it decays with `IMPACT_DECAY`.

An impact can read hundreds of times the load that remains, which would be dark on its scale.
"""
IMPACT_DECAY = 0.25
"""Time constant of the decay after an impact, while taxels are in contact [s]."""
LEAST = 0.02
"""Lower limit of the stored largest reading relative to the expected one, so that noise looks small."""


class ColorScale:
    """A color scale whose end follows the largest reading and decays slowly, unless a fixed end is set.

    Attributes:
        end: Reading at the end of the scale.
        chosen: End that a user has set; 0 means automatic.
        logarithmic: Whether the scale is logarithmic.
    """

    def __init__(self, expected: float):
        self.end = expected
        self.chosen = 0.0
        self.logarithmic = False
        self._configured = 0.0
        self._least = LEAST * expected
        self._peak = 0.0
        self._time = 0.0

    @property
    def fixed(self) -> float:
        """The end that a user or the settings have set; 0 means automatic."""
        return self.chosen or self._configured

    def update(self, readings: np.ndarray, time: float, configured: float | None = None) -> float:
        """Update the end of the scale with new readings and return it.

        The automatic end is 1, 2 or 5 times a power of ten, so it rarely changes.

        Args:
            readings: Current readings (n,), in any unit.
            time: Simulation time [s].
            configured: End of the scale in the settings, or 0 if they define none. The default is the value
                in the last call. A user's choice takes precedence.
        """
        self._configured = self._configured if configured is None else configured
        elapsed, self._time = time - self._time, time
        largest = float(np.nan_to_num(readings, posinf=0.0).max(initial=0.0))
        peak = self._peak * np.exp(-elapsed / DECAY) if elapsed >= 0.0 else 0.0
        if 0.0 < IMPACT * largest < peak:
            peak = max(IMPACT * largest, self._peak * np.exp(-elapsed / IMPACT_DECAY))
        self._peak = max(largest, peak, self._least)
        self.end = self.fixed or full_scale(self._peak / 1.2)
        return self.end

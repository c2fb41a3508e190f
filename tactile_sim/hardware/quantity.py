"""Evaluate a touch function with the forces that a real sensor measures."""

from __future__ import annotations

import numpy as np

from tactile_sim.skin import Loads, Pad, Skin, TouchFunction
from tactile_sim.skin.loads import LOAD

_MEASURED = ("contact", "body", "patch", "point", "normal", "other", "other_patch", "other_body")
"""Fields of a load that are known in addition to its force. The remaining fields are NaN."""


class Quantity:
    """Computes the readings of one touch function for the taxels of a pad.

    The force on each taxel is treated as a single load at the taxel's position. Load fields that a sensor
    does not measure, such as the velocity or the force in the world frame, are NaN.
    """

    def __init__(self, touch: TouchFunction, skin: Skin, pad: Pad):
        taxels = slice(pad.start, pad.stop)
        self._touch = touch
        self._axes = skin.axes[taxels]
        self._factors = touch.factor(skin)[taxels, None] if touch.factor else 1.0
        self._loads = Loads.empty(len(self._axes))
        for field in LOAD.names or ():
            if field not in _MEASURED:
                self._loads.table[field] = np.nan
        self._loads.point[:], self._loads.normal[:] = skin.positions[taxels], -self._axes[:, 2]
        self._loads.body[:] = np.searchsorted(skin.body_ids, pad.body_id)

    def __call__(self, forces: np.ndarray) -> np.ndarray:
        """Compute the readings of the taxels from forces.

        Args:
            forces: (n, 3) force on each taxel along its first tangent, second tangent and inward normal [N].

        Returns:
            (n, channels) readings. They are NaN if the touch function requires more than the forces.
        """
        self._loads.force[:] = np.einsum("nk,nki->ni", forces * [1.0, 1.0, -1.0], self._axes)
        values = np.array(self._touch.evaluate(self._loads), float)
        if self._touch.frame == "taxel":
            values = np.einsum("nki,ni->nk", self._axes, values) * [1.0, 1.0, -1.0]
        return values * self._factors

    @property
    def is_measured(self) -> bool:
        """True if the readings can be computed from the forces alone."""
        return bool(np.isfinite(self(np.ones((len(self._axes), 3)))).all())

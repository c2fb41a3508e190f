"""Reduce the readings of all taxels to one value or vector for each pad."""

from __future__ import annotations

import numpy as np

from tactile_sim._core import reduce_pads
from tactile_sim.batch.readings import Readings
from tactile_sim.skin import Skin

REDUCTIONS = ("sum", "peak", "contact", "center_of_pressure")
_SUM, _PEAK, _CENTER = range(3)
"""Reductions of `reduce_pads`."""


def reduce_readings(
    skin: Skin, readings: Readings, values: np.ndarray, reduce: str, chosen: np.ndarray | None
) -> np.ndarray:
    """Reduce the readings of all taxels to one value or vector for each pad.

    Args:
        skin: Skin with the pads and taxels.
        readings: Source of ``values``. If it is sparse, only touched taxels are visited.
        values: Readings (n, taxels, channels) to reduce.
        reduce: One of REDUCTIONS.
        chosen: Indices of the pads, in any order; None selects all.

    Returns:
        The reduced values, see `Observation.reduced`.
    """
    count = len(skin.pads)
    slots = np.full(count, -1, np.int64)
    chosen = np.arange(count) if chosen is None else chosen
    slots[chosen] = np.arange(len(chosen))
    slots = slots[skin.pad_index]
    law = {"sum": _SUM, "peak": _PEAK, "contact": _PEAK, "center_of_pressure": _CENTER}[reduce]
    out = np.zeros((len(values), len(chosen), (values.shape[2], 1, 4)[law]))
    felt = readings.ideal
    touched = (felt.touched, felt.touched_counts) if readings.sparse else (None, None)
    readings.in_threads(
        lambda _, first, last: reduce_pads(first, last, values, *touched, slots, skin.positions, law, out)
    )
    if reduce == "peak":
        return out[..., 0]
    if reduce == "contact":
        return out[..., 0] > 0.0
    if reduce == "center_of_pressure":
        with np.errstate(invalid="ignore"):
            return out[..., :3] / out[..., 3:]
    return out

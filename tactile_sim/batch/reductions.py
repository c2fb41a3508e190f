"""Reduce the readings of all taxels to one value or vector for each pad."""

from __future__ import annotations

import numpy as np

from tactile_sim.batch.readings import Readings
from tactile_sim.compilation import kernel
from tactile_sim.skin import Skin

REDUCTIONS = ("sum", "peak", "contact", "center_of_pressure")
_SUM, _PEAK, _CONTACT, _CENTER = range(4)


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
    law = REDUCTIONS.index(reduce)
    count = len(skin.pads)
    slots = np.full(count, -1, np.int64)
    chosen = np.arange(count) if chosen is None else chosen
    slots[chosen] = np.arange(len(chosen))
    width = (values.shape[2], 1, 1, 4)[law]
    out = np.zeros((len(values), len(chosen), width))
    felt = readings.ideal
    readings.in_threads(
        lambda thread, first, last: _reduce(
            first, last, values, felt.touched, felt.touched_counts, readings.sparse, skin.pad_index,
            skin.positions, slots, law, out,
        )
    )  # fmt: skip
    if law == _PEAK:
        return out[..., 0]
    if law == _CONTACT:
        return out[..., 0] > 0.0
    if law == _CENTER:
        with np.errstate(invalid="ignore"):
            return out[..., :3] / out[..., 3:]
    return out


@kernel(nogil=True)
def _reduce(first, last, values, touched, touched_counts, sparse, body_index, positions, slots, law, out):
    """Reduce the readings of environments [first, last) by pad, and write the results to ``out``.

    Args:
        first: First environment.
        last: End of the range of environments.
        values: (n, taxels, channels) readings.
        touched: (n, taxels) indices of the touched taxels, used if ``sparse``.
        touched_counts: (n,) number of touched taxels, used if ``sparse``.
        sparse: Whether to visit only the touched taxels.
        body_index: (taxels,) index of the pad of each taxel.
        positions: (taxels, 3) positions in the body frame [m].
        slots: Index of each pad in the second axis of ``out``, or -1 to skip the pad.
        law: Index of the reduction in REDUCTIONS.
        out: (n, pads, width) results, initially zero. For ``sum``: sums of the channels. For ``peak`` and
            ``contact``: largest magnitude. For ``center_of_pressure``: sum of the positions weighted by
            magnitude (3), and sum of the magnitudes.
    """
    for env in range(first, last):
        for k in range(touched_counts[env] if sparse else len(body_index)):
            t = np.int64(touched[env, k]) if sparse else k
            pad = slots[body_index[t]]
            if pad < 0:
                continue
            reading, place = values[env, t], out[env, pad]
            if law == _SUM:
                for c in range(len(reading)):
                    place[c] += reading[c]
                continue
            square = 0.0
            for c in range(len(reading)):
                square += np.float64(reading[c]) * np.float64(reading[c])
            magnitude = np.sqrt(square)
            if law == _CENTER:
                for i in range(3):
                    place[i] += magnitude * positions[t, i]
                place[3] += magnitude
            else:
                place[0] = max(place[0], magnitude)

"""The tactile image of a body's feelers."""

from __future__ import annotations

import numpy as np

from tactile_sim.feelers.placed import Placed


def image(placed: Placed, free: np.ndarray) -> np.ndarray:
    """(height, width) uint8: how much of each feeler is covered, at its pixel.

    Args:
        placed: the feelers of a body.
        free: (n,) free length of each [m].

    Returns:
        0 where a feeler is free or where there is none, 255 where it is covered wholly.
    """
    out = np.zeros(placed.height * placed.width, np.uint8)
    out[placed.pixels] = np.rint(255.0 * np.clip(1.0 - free / placed.lengths, 0.0, 1.0)).astype(np.uint8)
    return out.reshape(placed.height, placed.width)

"""Render the tactile image of a body's feelers."""

from __future__ import annotations

import numpy as np

from tactile_sim.feelers.placed import Placed


def image(placed: Placed, free: np.ndarray) -> np.ndarray:
    """Render an image of a body's feelers in which covered feelers are bright.

    Args:
        placed: The feelers of a body.
        free: (n,) free length of each feeler [m].

    Returns:
        (height, width) uint8 image. The pixel of a feeler ranges from 0 (free) to 255 (completely covered);
        all other pixels are 0.
    """
    out = np.zeros(placed.height * placed.width, np.uint8)
    out[placed.pixels] = np.rint(255.0 * np.clip(1.0 - free / placed.lengths, 0.0, 1.0)).astype(np.uint8)
    return out.reshape(placed.height, placed.width)

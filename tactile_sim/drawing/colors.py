"""Colours of readings: one perceptually uniform map for images, views and plots."""

from __future__ import annotations

from functools import cache

import numpy as np

MAP = "inferno"
"""Name in matplotlib. Brightness increases with the reading, which also works with colour blindness."""


@cache
def table() -> np.ndarray:
    """Return the colours from zero to the end of the scale as RGB (256, 3) uint8."""
    from matplotlib import colormaps  # takes 0.5 s, which a node without images saves

    return (colormaps[MAP](np.arange(256))[:, :3] * 255.0).round().astype(np.uint8)


def colors(readings: np.ndarray, scale: float) -> np.ndarray:
    """Return the colours of readings. NaN has the colour of zero.

    Args:
        readings: (...)
        scale: Reading at the end of the scale, above which the colour is constant.

    Returns:
        RGB (..., 3) uint8.
    """
    level = np.clip(readings * (255.0 / scale), 0.0, 255.0)
    return table()[np.nan_to_num(level).astype(np.uint8)]

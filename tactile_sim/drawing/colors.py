"""Colours of readings: one perceptual map, the same in images, in the view and in plots."""

from __future__ import annotations

from functools import cache

import numpy as np

MAP = "inferno"
"""Of matplotlib: as bright as the reading is large, also for those who do not see all colours."""


@cache
def table() -> np.ndarray:
    """(256, 3) uint8 red, green, blue, from nothing to full scale."""
    from matplotlib import colormaps  # half a second that a node without pictures does without

    return (colormaps[MAP](np.arange(256))[:, :3] * 255.0).round().astype(np.uint8)


def colors(readings: np.ndarray, scale: float) -> np.ndarray:
    """(..., 3) uint8 of readings (...), from 0 to ``scale``; what lies beyond has the last colour."""
    level = np.clip(readings * (255.0 / scale), 0.0, 255.0)
    return table()[np.nan_to_num(level).astype(np.uint8)]

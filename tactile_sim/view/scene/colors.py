"""Colours of taxels and of lines in the browser."""

from __future__ import annotations

import numpy as np

from tactile_sim.drawing.colors import colors

GAMMA = 2.2
DARK = 0.2
"""Fraction of the colour map that is skipped at its dark end, so that small readings are visible."""


def taxel_colors(levels: np.ndarray) -> np.ndarray:
    """Return the colours of readings above zero.

    Args:
        levels: Readings divided by the end of the scale (n,). Values above 1 have the last colour.

    Returns:
        (n, 3) uint8.
    """
    return colors(DARK + (1.0 - DARK) * np.minimum(levels, 1.0), 1.0)


def linear_rgb(rgb: np.ndarray) -> np.ndarray:
    """Convert sRGB colours to linear ones, which browsers expect for lines and arrows.

    Args:
        rgb: (..., 3), 0 to 1.

    Returns:
        (..., 3) uint8.
    """
    return (255.0 * rgb**GAMMA).round().astype(np.uint8)

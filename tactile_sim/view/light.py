"""Colours for what browsers light: of lines and arrows they take each part as an amount of light."""

from __future__ import annotations

import numpy as np

GAMMA = 2.2


def as_light(colors: np.ndarray) -> np.ndarray:
    """(..., 3) uint8 that look like these colours (..., 3), of 0 to 1, under white light."""
    return (255.0 * colors**GAMMA).round().astype(np.uint8)

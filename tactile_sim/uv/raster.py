"""Rasterize triangles: find the triangle that contains the centre of each pixel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim import _core


class Filled(NamedTuple):
    """The result of `fill`: the triangle of each pixel, and the first overlap of two triangles, if any."""

    owner: np.ndarray
    """(height, width) int32 index of the triangle that contains each pixel's centre; -1 if there is none or
    the pixel is not wanted."""
    row: int
    """Row of the pixel at which `fill` stopped because it is inside two triangles, or -1."""
    column: int
    """Column of the pixel at which `fill` stopped, or -1."""
    one: int
    """Index of the first triangle that contains the pixel at which `fill` stopped, or -1."""
    other: int
    """Index of the second triangle that contains the pixel at which `fill` stopped, or -1."""


def fill(triangles: np.ndarray, wanted: np.ndarray) -> Filled:
    """Return the triangle that contains the centre of each pixel.

    A centre on a shared edge or corner belongs to the triangle with the lowest index.

    Args:
        triangles: (t, 3, 2) corners in either winding, x right and y down from the upper left [pixels].
        wanted: (height, width) bool, the pixels of interest; all others have no owner.

    Returns:
        The index of the triangle at each pixel, and the first overlap that was found. The search stops at
        an overlap, so the indices are then incomplete.
    """
    return Filled(*_core.rasterize(np.ascontiguousarray(triangles, float), wanted))

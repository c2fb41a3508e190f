"""Rasterize triangles: find the triangle that contains the centre of each pixel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel

EDGE = 1e-9
"""A pixel whose centre is within this distance of a triangle's edge belongs to the triangle [pixels]."""
FLAT = 1e-6
"""Triangles thinner than this contain no pixels [pixels]."""
OVERLAP = 1e-3
"""Triangles overlap if a pixel's centre is at least this deep inside both [pixels].

It is larger than the rounding errors of float32.
"""


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
            Triangles thinner than `FLAT` have no pixels.
        wanted: (height, width) bool, the pixels of interest; all others have no owner.

    Returns:
        The index of the triangle at each pixel, and the first overlap that was found. The search stops at
        an overlap, so the indices are then incomplete.
    """
    owner = np.full(wanted.shape, -1, np.int32)
    return Filled(owner, *_fill(np.ascontiguousarray(triangles, float), wanted, owner))


@kernel
def _fill(triangles, wanted, owner):
    height, width = wanted.shape
    for t in range(len(triangles)):
        corners = triangles[t]
        if _width(corners) < FLAT:
            continue
        low, high = corners[:, 1].min(), corners[:, 1].max()
        for row in range(_clip(np.ceil(low - 0.5 - EDGE), height), _clip(high + 0.5 + EDGE, height)):
            begin, end = _span(corners, row + 0.5, width)
            for column in range(begin, end):
                if not wanted[row, column]:
                    continue
                depth = _depth(corners, column + 0.5, row + 0.5)
                if depth < -EDGE:
                    continue
                before = owner[row, column]
                if before < 0:
                    owner[row, column] = t
                elif depth > OVERLAP and _depth(triangles[before], column + 0.5, row + 0.5) > OVERLAP:
                    return row, column, before, t
    return -1, -1, -1, -1


@kernel
def _clip(x, size):
    """Round x down to an integer and clamp it to the range from 0 to size."""
    return int(min(max(np.floor(x), 0.0), float(size)))


@kernel
def _span(corners, y, width):
    """Return the range [begin, end) of columns whose centres may be inside a triangle in one row.

    The range has a margin of one column on each side.

    Args:
        corners: (3, 2) corners of the triangle [pixels].
        y: Distance from the top of the image to the centre of the row [pixels].
        width: Width of the image [pixels].
    """
    left, right = np.inf, -np.inf
    for k in range(3):
        x0, y0, x1, y1 = corners[k - 1, 0], corners[k - 1, 1], corners[k, 0], corners[k, 1]
        if min(y0, y1) - EDGE <= y <= max(y0, y1) + EDGE:
            if y0 == y1:
                left, right = min(left, x0, x1), max(right, x0, x1)
            else:
                x = x0 + (x1 - x0) * min(max((y - y0) / (y1 - y0), 0.0), 1.0)
                left, right = min(left, x), max(right, x)
    if left > right:
        return 0, 0
    return _clip(left - 1.5, width), _clip(right + 2.5, width)


@kernel
def _depth(corners, x, y):
    """Return the distance from the point (x, y) to the nearest edge of a triangle (3, 2) [pixels].

    The distance is negative if the point is outside the triangle.
    """
    side = 1.0 if _doubled_area(corners) > 0.0 else -1.0
    least = np.inf
    for k in range(3):
        x0, y0, x1, y1 = corners[k - 1, 0], corners[k - 1, 1], corners[k, 0], corners[k, 1]
        dx, dy = x1 - x0, y1 - y0
        least = min(least, side * (dx * (y - y0) - dy * (x - x0)) / np.hypot(dx, dy))
    return least


@kernel
def _width(corners):
    """Return the smallest height of a triangle (3, 2) [pixels], 0 if all corners coincide."""
    longest = 0.0
    for k in range(3):
        longest = max(longest, np.hypot(corners[k, 0] - corners[k - 1, 0], corners[k, 1] - corners[k - 1, 1]))
    return abs(_doubled_area(corners)) / longest if longest > 0.0 else 0.0


@kernel
def _doubled_area(corners):
    """Return twice the signed area of a triangle (3, 2); positive if the corners turn from x to y."""
    bx, by = corners[1, 0] - corners[0, 0], corners[1, 1] - corners[0, 1]
    cx, cy = corners[2, 0] - corners[0, 0], corners[2, 1] - corners[0, 1]
    return bx * cy - by * cx

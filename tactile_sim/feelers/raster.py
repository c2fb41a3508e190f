"""Which triangle each pixel of an image lies in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel

EDGE = 1e-9
"""A pixel whose centre is this near to a triangle's edge [pixels] is on it, and so in the triangle."""
FLAT = 1e-6
"""A triangle that is nowhere wider than this [pixels] has no inside to speak of."""
OVERLAP = 1e-3
"""Two triangles overlap at a pixel this deep in both of them [pixels]: more than float32 rounds off."""


class Filled(NamedTuple):
    """What `fill` found."""

    owner: np.ndarray
    """(height, width) int32 the triangle of each pixel; -1 where there is none or it was not wanted."""
    row: int
    """Of a pixel that lies in more than one triangle, at which all ends; -1 where there is none."""
    column: int
    one: int
    """The triangles that it lies in."""
    other: int


def fill(triangles: np.ndarray, wanted: np.ndarray) -> Filled:
    """The triangle that the centre of each pixel lies in; on an edge or a corner, the first of those there.

    Args:
        triangles: (t, 3, 2) corners, x to the right and y downwards from the upper left [pixels]; either way
            round. Those that are thinner than FLAT have no pixels.
        wanted: (height, width) bool, the pixels asked for; the others have no owner.
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
    """A whole number of pixels from 0 to size; x may be far outside."""
    return int(min(max(np.floor(x), 0.0), float(size)))


@kernel
def _span(corners, y, width):
    """Columns [begin, end) whose pixels may lie in a triangle at height y; one more on either side."""
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
    """How far a point lies inside of the nearest edge [pixels]; negative outside."""
    side = 1.0 if _doubled_area(corners) > 0.0 else -1.0
    least = np.inf
    for k in range(3):
        x0, y0, x1, y1 = corners[k - 1, 0], corners[k - 1, 1], corners[k, 0], corners[k, 1]
        dx, dy = x1 - x0, y1 - y0
        least = min(least, side * (dx * (y - y0) - dy * (x - x0)) / np.hypot(dx, dy))
    return least


@kernel
def _width(corners):
    """The least height of a triangle [pixels]; 0 where its corners are in one place."""
    longest = 0.0
    for k in range(3):
        longest = max(longest, np.hypot(corners[k, 0] - corners[k - 1, 0], corners[k, 1] - corners[k - 1, 1]))
    return abs(_doubled_area(corners)) / longest if longest > 0.0 else 0.0


@kernel
def _doubled_area(corners):
    """Positive where the corners go round from x to y."""
    bx, by = corners[1, 0] - corners[0, 0], corners[1, 1] - corners[0, 1]
    cx, cy = corners[2, 0] - corners[0, 0], corners[2, 1] - corners[0, 1]
    return bx * cy - by * cx

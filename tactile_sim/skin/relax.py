"""Points on a surface pushed apart until they lie evenly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from tactile_sim.skin.grid import cell_size, sort_into_cells

ROUNDS = 80
REACH = 2.0
"""How far points push each other, in spacings."""
STEP = 0.35
"""How far a round moves a point along the push on it, in spacings."""

Project = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From points (n, 3) near a surface to places (n, 3) on it [m] and its outward normals there (n, 3)."""


def relax(points: np.ndarray, spacing: float, project: Project) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, 3) and outward normals (n, 3) of points (n, 3) once they have moved apart on a surface.

    spacing: the distance that they end at, about [m].
    """
    places, normals = project(points)
    for _ in range(ROUNDS):
        places, normals = project(places + STEP * spacing * _push(places, normals, REACH * spacing))
    return places, normals


@njit(cache=True)
def _push(places, normals, reach):
    """The push (n, 3) on each point from those within reach that are not on the other side of the body."""
    out = np.zeros_like(places)
    cell = cell_size(places, reach)
    corner, shape, first, order = sort_into_cells(places, cell)
    for p in range(len(places)):
        i = int((places[p, 0] - corner[0]) / cell)
        j = int((places[p, 1] - corner[1]) / cell)
        k = int((places[p, 2] - corner[2]) / cell)
        for ci in range(max(i - 1, 0), min(i + 2, shape[0])):
            for cj in range(max(j - 1, 0), min(j + 2, shape[1])):
                row = (ci * shape[1] + cj) * shape[2]
                for e in range(first[row + max(k - 1, 0)], first[row + min(k + 1, shape[2] - 1) + 1]):
                    q = order[e]
                    x = places[p, 0] - places[q, 0]
                    y = places[p, 1] - places[q, 1]
                    z = places[p, 2] - places[q, 2]
                    d = np.sqrt(x * x + y * y + z * z)
                    if q == p or d >= reach or d == 0.0:
                        continue
                    facing = 0.0
                    for axis in range(3):
                        facing += normals[p, axis] * normals[q, axis]
                    push = min(1.0, 2.0 + 2.0 * facing) * (1.0 - d / reach) ** 3 / d
                    out[p, 0] += push * x
                    out[p, 1] += push * y
                    out[p, 2] += push * z
    return out

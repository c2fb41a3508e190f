"""Relaxation of points on a surface to even spacing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.grid import cell_size, sort_into_cells

ROUNDS = 80
REACH = 2.0
"""Range of the repulsion between points, in spacings."""
STEP = 0.35
"""Displacement in each round per unit of repulsion, in spacings."""

Project = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Function that projects points (n, 3) [m] onto a surface, and returns points on it (n, 3) [m] and outward
normals (n, 3)."""


def relax(points: np.ndarray, spacing: float, project: Project) -> tuple[np.ndarray, np.ndarray]:
    """Move points on a surface apart until they are about evenly spaced.

    Args:
        points: Points (n, 3) near the surface [m].
        spacing: Approximate final distance between points [m].
        project: Projection onto the surface.

    Returns:
        Positions (n, 3) [m] and outward normals (n, 3).
    """
    places, normals = project(points)
    for _ in range(ROUNDS):
        places, normals = project(places + STEP * spacing * _push(places, normals, REACH * spacing))
    return places, normals


@kernel
def _push(places, normals, reach):
    """Return the repulsion (n, 3) of each point by the points in range on the same side of the body.

    Args:
        places: Points (n, 3) [m].
        normals: Outward normals (n, 3).
        reach: Range of the repulsion [m].
    """
    cell = cell_size(places, reach)
    corner, shape, first, order = sort_into_cells(places, cell)
    # Neighbours are adjacent in memory, and each pair is visited once.
    near, out_of, push_on = places[order], normals[order], np.zeros_like(places)
    for p in range(len(near)):
        x, y, z = near[p, 0], near[p, 1], near[p, 2]
        a, b, c = out_of[p, 0], out_of[p, 1], out_of[p, 2]
        i = int((x - corner[0]) / cell)
        j = int((y - corner[1]) / cell)
        k = int((z - corner[2]) / cell)
        for ci in range(i, min(i + 2, shape[0])):
            for cj in range(max(j - 1, 0) if ci > i else j, min(j + 2, shape[1])):
                row = (ci * shape[1] + cj) * shape[2]
                start = p + 1 if ci == i and cj == j else first[row + max(k - 1, 0)]
                for q in range(start, first[row + min(k + 1, shape[2] - 1) + 1]):
                    dx, dy, dz = x - near[q, 0], y - near[q, 1], z - near[q, 2]
                    square = dx * dx + dy * dy + dz * dz
                    if square >= reach * reach or square == 0.0:
                        continue
                    d = np.sqrt(square)
                    facing = a * out_of[q, 0] + b * out_of[q, 1] + c * out_of[q, 2]
                    push = min(1.0, 2.0 + 2.0 * facing) * (1.0 - d / reach) ** 3 / d
                    push_on[p, 0] += push * dx
                    push_on[p, 1] += push * dy
                    push_on[p, 2] += push * dz
                    push_on[q, 0] -= push * dx
                    push_on[q, 1] -= push * dy
                    push_on[q, 2] -= push * dz
    out = np.empty_like(push_on)
    out[order] = push_on
    return out

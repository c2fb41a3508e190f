"""A grid of cells over a mesh: the triangles in each one, and how far around an empty one nothing is."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from tactile_sim.compilation import kernel

CELLS = 16
"""For each triangle; at least FEWEST and at most MOST in all."""
FEWEST, MOST = 4096, 2**18
WIDER = 1e-3
"""Triangles count as larger than they are by this part of a cell, so that rounding hides nothing."""


class Grid(NamedTuple):
    """Cubes of one size around the triangles of one mesh; those at the rim are empty.

    An occupied cell is the number of its list of triangles. An empty one is ``~(2 · steps + inside)``: so
    many steps lead to the nearest occupied one, sideways or across, and whether it lies in the mesh.
    """

    corner: np.ndarray
    """(3,) lower corner [m]."""
    step: float
    """Side of a cell [m]."""
    cells: np.ndarray
    """(nx, ny, nz) int32."""
    starts: np.ndarray
    """(lists + 1,) where each list begins."""
    listed: np.ndarray
    """The triangles, list by list."""


def lay(corners: np.ndarray, inside: Callable[[np.ndarray], np.ndarray]) -> Grid:
    """The grid over triangles (t, 3, 3) [m].

    inside: whether points (n, 3) [m] lie in the mesh, bool (n,). Asked for one cell of each region of empty
    cells, for no triangle lies between cells of one region.
    """
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    extent = np.maximum(high - low, 1e-3 * max((high - low).max(), 1e-9))
    step = float(np.cbrt(extent.prod() / min(max(CELLS * len(corners), FEWEST), MOST)))
    shape = np.ceil(extent / step).astype(np.int64) + 2
    corner = 0.5 * (low + high) - 0.5 * step * shape
    scaled = np.ascontiguousarray((corners - corner) / step)
    counts = np.zeros(tuple(shape), np.int32)
    none = np.empty(0, np.int32)
    _enter(scaled, counts, none, none)
    full = counts > 0
    cells = np.full(counts.shape, -1, np.int32)
    cells[full] = np.arange(full.sum())
    starts = np.concatenate([[0], np.cumsum(counts[full])]).astype(np.int32)
    listed = np.empty(starts[-1], np.int32)
    _enter(scaled, cells, starts[:-1].copy(), listed)
    regions, number = ndimage.label(~full)
    away = ndimage.distance_transform_cdt(~full, "chessboard")
    cells[~full] = ~(2 * away[~full])
    _, first = np.unique(regions, return_index=True)
    one_each = np.stack(np.unravel_index(first[-number:], counts.shape), axis=1)
    within = np.concatenate([[False], inside(corner + (one_each + 0.5) * step)])
    cells -= within[regions]
    return Grid(corner, step, cells, starts, listed)


@kernel(error_model="numpy")
def _enter(corners, cells, ends, listed):
    """Counts in cells the triangles (t, 3, 3) [cells] that each may touch; or, with ends, lists them.

    Then cells are the numbers of their lists, and ends, where these begin, become where they end.
    """
    low, high = np.empty(3), np.empty(3)
    first, last = np.empty(3, np.int64), np.empty(3, np.int64)
    for t in range(len(corners)):
        a, b, c = corners[t, 0], corners[t, 1], corners[t, 2]
        for k in range(3):
            low[k] = min(a[k], b[k], c[k]) - WIDER
            high[k] = max(a[k], b[k], c[k]) + WIDER
            first[k], last[k] = int(np.floor(low[k])), int(np.floor(high[k]))
        # The plane of the triangle: n . p = height; a cell is beside it where its centre is too far away.
        nx = (b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1])
        ny = (b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2])
        nz = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        height = nx * a[0] + ny * a[1] + nz * a[2]
        reach = (0.5 + WIDER) * (abs(nx) + abs(ny) + abs(nz))
        for i in range(first[0], last[0] + 1):
            for j in range(first[1], last[1] + 1):
                for k in range(first[2], last[2] + 1):
                    if abs(nx * (i + 0.5) + ny * (j + 0.5) + nz * (k + 0.5) - height) > reach:
                        continue
                    if len(ends) == 0:
                        cells[i, j, k] += 1
                    else:
                        listed[ends[cells[i, j, k]]] = t
                        ends[cells[i, j, k]] += 1

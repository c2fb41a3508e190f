"""Sort points into the cells of a regular grid, so that nearby points can be found quickly."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel


@kernel
def cell_size(points, smallest):
    """Return the edge length [m] of the cells of a grid over points.

    It is ``smallest``, or larger if the grid would otherwise have more than about 2 n + 64 cells.

    Args:
        points: (n, 3) points [m].
        smallest: Minimum edge length [m].
    """
    size = smallest
    cells = 1.0
    for axis in range(3):
        extent = points[:, axis].max() - points[:, axis].min()
        cells *= extent / smallest + 1.0
    limit = 2.0 * len(points) + 64.0
    while cells > limit:
        size *= 1.25
        cells = 1.0
        for axis in range(3):
            extent = points[:, axis].max() - points[:, axis].min()
            cells *= np.floor(extent / size) + 1.0
    return size


@kernel
def sort_into_cells(points, cell):
    """Sort points into the cells of a regular grid.

    Args:
        points: (n, 3) points [m].
        cell: Edge length of the cells [m].

    Returns:
        corner: (3,) lower corner of the grid [m].
        shape: (3,) number of cells along each axis. Cell (i, j, k) has the index
            ``(i * shape[1] + j) * shape[2] + k``.
        first: (c + 1,) start of each of the c cells in ``order``; the last entry is n.
        order: (n,) indices of the points, cell by cell.
    """
    corner = np.empty(3)
    shape = np.empty(3, np.int64)
    for axis in range(3):
        corner[axis] = points[:, axis].min()
        shape[axis] = int((points[:, axis].max() - corner[axis]) / cell) + 1
    where = np.empty(len(points), np.int64)
    first = np.zeros(shape[0] * shape[1] * shape[2] + 1, np.int64)
    for p in range(len(points)):
        i = int((points[p, 0] - corner[0]) / cell)
        j = int((points[p, 1] - corner[1]) / cell)
        k = int((points[p, 2] - corner[2]) / cell)
        where[p] = (i * shape[1] + j) * shape[2] + k
        first[where[p] + 1] += 1
    for c in range(1, len(first)):
        first[c] += first[c - 1]
    order = np.empty(len(points), np.int64)
    filled = first.copy()
    for p in range(len(points)):
        order[filled[where[p]]] = p
        filled[where[p]] += 1
    return corner, shape, first, order

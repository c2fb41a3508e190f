"""Taxels found by place: a grid of cells over each patch of the skin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.grid import cell_size, sort_into_cells

FACING = 0.3
"""A taxel whose outward normal has this cosine or more with the load's direction is on the other side."""

PATCH = np.dtype(
    [
        ("start", np.int64),
        ("stop", np.int64),
        ("spacing", float),
        ("corner", float, 3),
        ("cell", float),
        ("shape", np.int64, 3),
        ("base", np.int64),
        ("limited", np.int64),
    ]
)
"""A patch: its taxels [start, stop) in the skin, and their greatest spacing [m]; of its grid the corner [m],
the edge of the cells [m], how many there are along each axis, and where they begin in the cell starts; and
whether any taxel has a limit."""


AREA, SPACING, LIMIT = range(3)
"""Columns of the extents (n, 3) of taxels: area [m2], spacing of the pad [m], and the distance beyond which a
taxel takes no load [m], infinite by default. Beside `TaxelIndex`, which is faster the fewer arrays it has."""


class TaxelIndex(NamedTuple):
    """Arrays that kernels need to find taxels and their neighbors.

    Python passes it as a plain tuple, which takes less than half the time.
    """

    positions: np.ndarray
    """(n, 3) of the taxels on the collision surface, in the frames of their bodies [m]."""
    normals: np.ndarray
    """(n, 3) outward."""
    patches: np.ndarray
    """(p,) of `PATCH`."""
    cell_start: np.ndarray
    """Start of the taxels of each cell in the order; one more entry after the cells of each patch."""
    order: np.ndarray
    """(n,) taxels, cell after cell."""
    begin: np.ndarray
    """(n + 1,) where the neighbours of each taxel begin."""
    neighbour_ids: np.ndarray
    """Neighbors, taxel after taxel."""
    scratch_distance: np.ndarray
    """(n,) infinite, for distances."""
    scratch_heap: np.ndarray
    """(e + 1, 2) for distances along the surface, otherwise empty."""
    scratch_vector: np.ndarray
    """(n, 3) likewise."""


def sort_patches(
    positions: np.ndarray, offsets: np.ndarray, spacings: np.ndarray, extents: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return grids over taxels (n, 3); those of patch p are [offsets[p], offsets[p + 1]), spacings[p] apart.

    Returns the patches (p,) of `PATCH`, where the taxels of each cell begin in the order (with one more entry
    after the cells of each patch), and that order (n,), cell after cell.
    """
    patches = np.zeros(len(spacings), PATCH)
    firsts, orders, base = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    for p, spacing in enumerate(spacings):
        taxels = positions[offsets[p] : offsets[p + 1]]
        cell = cell_size(taxels, spacing)
        corner, shape, first, order = sort_into_cells(taxels, cell)
        limited = np.isfinite(extents[offsets[p] : offsets[p + 1], LIMIT]).any()
        patches[p] = (offsets[p], offsets[p + 1], spacing, corner, cell, shape, base, limited)
        firsts.append(first + offsets[p])
        orders.append(order + offsets[p])
        base += len(first)
    return patches, np.concatenate(firsts), np.concatenate(orders)


@kernel(counted=False)
def faces(normals, taxel, load_normal):
    """Return whether a taxel is on the side of the surface that a load along load_normal (3,) presses on."""
    n = normals[taxel]
    return n[0] * load_normal[0] + n[1] * load_normal[1] + n[2] * load_normal[2] < FACING


@kernel(counted=False)
def find_nearest(load, index):
    """Return the taxel that takes a load; see `responses` for the rule."""
    positions, normals, first, order = index.positions, index.normals, index.cell_start, index.order
    point, load_normal, patch = load.point, load.normal, index.patches[load.patch]
    x, y, z = point[0], point[1], point[2]
    if not abs(x) + abs(y) + abs(z) < 1e100:
        # Where physics blew up, no taxel is nearer than another.
        return patch.start
    reach = 2.0 * patch.spacing
    radius = patch.spacing
    while True:
        best, best_d, facing, facing_d = -1, np.inf, -1, np.inf
        i0, i1, j0, j1, k0, k1 = _cells_around(point, radius, patch)
        for i in range(i0, i1):
            for j in range(j0, j1):
                row = patch.base + (i * patch.shape[1] + j) * patch.shape[2]
                for e in range(first[row + k0], first[row + k1]):
                    q = order[e]
                    dx, dy, dz = positions[q, 0] - x, positions[q, 1] - y, positions[q, 2] - z
                    d = dx * dx + dy * dy + dz * dz
                    if d < best_d or (d == best_d and q < best):
                        best, best_d = q, d
                    if (d < facing_d or (d == facing_d and q < facing)) and faces(normals, q, load_normal):
                        facing, facing_d = q, d
        if facing >= 0 and facing_d <= min(radius, reach) ** 2:
            return facing
        all_seen = (i1 - i0) * (j1 - j0) * (k1 - k0) == patch.shape[0] * patch.shape[1] * patch.shape[2]
        if radius >= reach and (all_seen or (best >= 0 and best_d <= radius * radius)):
            return best
        radius *= 2.0


@kernel
def is_outside(load, extents, index):
    """Return whether no taxel takes a load: the nearest is beyond its limit, or faces the other way."""
    if not index.patches[load.patch].limited:
        return False
    taxel = find_nearest(load, index)
    limit, square = extents[taxel, LIMIT], 0.0
    for i in range(3):
        square += (index.positions[taxel, i] - load.point[i]) ** 2
    return limit < np.inf and (square > limit * limit or not faces(index.normals, taxel, load.normal))


@kernel
def k_nearest_taxels(points, which, arrays, out, distance):
    """Write the taxels of a patch nearest to points (m, 3) into out (m, k), and their distances.

    arrays: Fields of a `TaxelIndex`.
    """
    index = TaxelIndex(*arrays)
    positions, first, order = index.positions, index.cell_start, index.order
    patch, k = index.patches[which], out.shape[1]
    for m in range(len(points)):
        x, y, z = points[m]
        if not abs(x) + abs(y) + abs(z) < 1e100:
            out[m], distance[m] = patch.start + np.arange(k), np.nan
            continue
        radius = patch.spacing
        while True:
            found = 0
            i0, i1, j0, j1, k0, k1 = _cells_around(points[m], radius, patch)
            for i in range(i0, i1):
                for j in range(j0, j1):
                    row = patch.base + (i * patch.shape[1] + j) * patch.shape[2]
                    for e in range(first[row + k0], first[row + k1]):
                        q = order[e]
                        dx, dy, dz = positions[q, 0] - x, positions[q, 1] - y, positions[q, 2] - z
                        d = np.sqrt(dx * dx + dy * dy + dz * dz)
                        # Into its place among those found so far; of equally near ones the first is first.
                        at = found
                        while at > 0 and (
                            d < distance[m, at - 1] or (d == distance[m, at - 1] and q < out[m, at - 1])
                        ):
                            if at < k:
                                out[m, at], distance[m, at] = out[m, at - 1], distance[m, at - 1]
                            at -= 1
                        if at < k:
                            out[m, at], distance[m, at] = q, d
                            found = min(found + 1, k)
            all_seen = (i1 - i0) * (j1 - j0) * (k1 - k0) == patch.shape[0] * patch.shape[1] * patch.shape[2]
            if all_seen or (found == k and distance[m, k - 1] <= radius):
                break
            radius *= 2.0


@kernel(counted=False)
def _cells_around(point, radius, patch):
    """Ranges of cells along each axis that the cube of this half-size meets; at least the one at its end."""
    i0, i1 = _cells(point[0], radius, patch.corner[0], patch.cell, patch.shape[0])
    j0, j1 = _cells(point[1], radius, patch.corner[1], patch.cell, patch.shape[1])
    k0, k1 = _cells(point[2], radius, patch.corner[2], patch.cell, patch.shape[2])
    return i0, i1, j0, j1, k0, k1


@kernel(counted=False)
def _cells(x, radius, corner, cell, number):
    low = int(min(max(np.floor((x - radius - corner) / cell), 0.0), number - 1.0))
    high = int(min(max(np.floor((x + radius - corner) / cell), 0.0), number - 1.0))
    return low, high + 1

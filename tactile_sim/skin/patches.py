"""Find taxels by their position, using a grid of cells over each patch of the skin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.grid import cell_size, sort_into_cells

FACING = 0.3
"""A taxel faces away from a load if the cosine between its outward normal and the load's normal, which points
into the body, is at least this."""

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
        ("modulus", float),
        ("thickness", float),
    ]
)
"""Structured dtype of a patch of skin.

The taxels of the patch have the indices [start, stop) in the skin; ``spacing`` is the maximum distance
between neighbours [m]. The patch's grid starts at ``corner`` [m] and has ``shape`` cells along the axes, with
edges of length ``cell`` [m]; ``base`` is the index of the first cell in `TaxelIndex.cell_start`. ``limited``
is 1 if the LIMIT of any taxel is finite, otherwise 0. The skin has the plane-strain ``modulus`` [Pa] and the
``thickness`` [m].
"""


AREA, SPACING, LIMIT = range(3)
"""Columns of the array ``extents`` (n, 3), which has one row per taxel: the area of the taxel [m2], the
spacing of its pad [m], and the maximum distance of a load from the taxel that receives it [m]. This distance
is infinite by default. The array is not a field of `TaxelIndex`, because calls with fewer arrays are
faster."""


class TaxelIndex(NamedTuple):
    """Arrays that kernels need to find taxels and their neighbours.

    It is passed from Python as a plain tuple, because passing a named tuple takes more than twice as long.
    """

    positions: np.ndarray
    """(n, 3) positions of the taxels on the collision surface, in the frames of their bodies [m]."""
    normals: np.ndarray
    """(n, 3) outward normals of the taxels, in the frames of their bodies."""
    patches: np.ndarray
    """(p,) patches of the skin, as an array of `PATCH`."""
    cell_start: np.ndarray
    """(number of cells + p,) start of each cell's taxels in ``order``, patch by patch. After the cells of
    each patch, one more entry marks the end of the last cell."""
    order: np.ndarray
    """(n,) indices of the taxels, cell by cell."""
    begin: np.ndarray
    """(n + 1,) start of each taxel's neighbours in ``neighbour_ids``."""
    neighbour_ids: np.ndarray
    """(e,) indices of the neighbours of all taxels, taxel by taxel."""
    scratch_distance: np.ndarray
    """(n,) scratch memory for the distance of each taxel from a load; infinite between calls."""
    scratch_heap: np.ndarray
    """(e + 1, 2) heap for the computation of distances along the surface; empty for straight distances."""
    scratch_vector: np.ndarray
    """(n, 3) vectors for the computation of distances along the surface; empty for straight distances."""


def sort_patches(
    positions: np.ndarray,
    offsets: np.ndarray,
    spacings: np.ndarray,
    extents: np.ndarray,
    moduli: np.ndarray,
    thicknesses: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Build a grid over the taxels of each patch.

    Args:
        positions: (n, 3) positions of all taxels in the frames of their bodies [m].
        offsets: (p + 1,) first taxel of each patch; the last entry is n.
        spacings: (p,) maximum distance between neighbouring taxels of each patch [m].
        extents: (n, 3) array with the columns AREA, SPACING and LIMIT.
        moduli: (p,) plane-strain modulus of the skin of each patch [Pa].
        thicknesses: (p,) thickness of the skin of each patch [m].

    Returns:
        The patches as an array (p,) of `PATCH`, and the fields ``cell_start`` and ``order`` of `TaxelIndex`.
    """
    patches = np.zeros(len(spacings), PATCH)
    firsts, orders, base = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    for p, spacing in enumerate(spacings):
        taxels = positions[offsets[p] : offsets[p + 1]]
        cell = cell_size(taxels, spacing)
        corner, shape, first, order = sort_into_cells(taxels, cell)
        limited = np.isfinite(extents[offsets[p] : offsets[p + 1], LIMIT]).any()
        patches[p] = (
            offsets[p],
            offsets[p + 1],
            spacing,
            corner,
            cell,
            shape,
            base,
            limited,
            moduli[p],
            thicknesses[p],
        )
        firsts.append(first + offsets[p])
        orders.append(order + offsets[p])
        base += len(first)
    return patches, np.concatenate(firsts), np.concatenate(orders)


@kernel(counted=False)
def faces(normals, taxel, load_normal):
    """Return whether a taxel is on the side of the surface that a load presses on, see `FACING`.

    Args:
        normals: (n, 3) outward normals of all taxels.
        taxel: Index of the taxel.
        load_normal: (3,) unit normal of the load into the body, in the body's frame.
    """
    n = normals[taxel]
    return n[0] * load_normal[0] + n[1] * load_normal[1] + n[2] * load_normal[2] < FACING


@kernel(counted=False)
def find_nearest(load, index):
    """Return the index of the taxel that receives a load, by the rule in `tactile_sim.skin.responses`.

    It is the nearest taxel that faces the load. If no taxel within two spacings does, it is the nearest of
    all taxels.

    Args:
        load: The load, an entry of `loads.LOAD`.
        index: The skin's `TaxelIndex`.
    """
    positions, normals, first, order = index.positions, index.normals, index.cell_start, index.order
    point, load_normal, patch = load.point, load.normal, index.patches[load.patch]
    x, y, z = point[0], point[1], point[2]
    if not abs(x) + abs(y) + abs(z) < 1e100:
        # If the physics diverged, no taxel is nearer than another.
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
    """Return whether a load is ignored because it is outside the pads.

    This is the case if the taxel that would receive the load is farther away than its LIMIT, or faces away
    from the load. The result is always False if that taxel has no limit.

    Args:
        load: The load, an entry of `loads.LOAD`.
        extents: (n, 3) array with the columns AREA, SPACING and LIMIT.
        index: The skin's `TaxelIndex`.
    """
    if not index.patches[load.patch].limited:
        return False
    taxel = find_nearest(load, index)
    limit, square = extents[taxel, LIMIT], 0.0
    for i in range(3):
        square += (index.positions[taxel, i] - load.point[i]) ** 2
    return limit < np.inf and (square > limit * limit or not faces(index.normals, taxel, load.normal))


@kernel
def k_nearest_taxels(points, which, arrays, out, distance):
    """Find the k taxels of a patch that are nearest to each point, nearest first.

    Args:
        points: (m, 3) points in the body's frame [m].
        which: Index of the patch, which has at least k taxels.
        arrays: Fields of the skin's `TaxelIndex`, as a plain tuple.
        out: (m, k) output: indices of the taxels in the skin.
        distance: (m, k) output: distances [m]; NaN for points that are not finite.
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
                        # Insert it in order of distance; equally near taxels are in order of their index.
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
    """Return the ranges of cells of a patch's grid that a cube intersects, at least one cell along each axis.

    Args:
        point: (3,) centre of the cube in the body's frame [m].
        radius: Half-size of the cube [m].
        patch: An entry of `PATCH`.

    Returns:
        Six integers: along x, then y, then z, the first cell and the (exclusive) end of the cells.
    """
    i0, i1 = _cells(point[0], radius, patch.corner[0], patch.cell, patch.shape[0])
    j0, j1 = _cells(point[1], radius, patch.corner[1], patch.cell, patch.shape[1])
    k0, k1 = _cells(point[2], radius, patch.corner[2], patch.cell, patch.shape[2])
    return i0, i1, j0, j1, k0, k1


@kernel(counted=False)
def _cells(x, radius, corner, cell, number):
    low = int(min(max(np.floor((x - radius - corner) / cell), 0.0), number - 1.0))
    high = int(min(max(np.floor((x + radius - corner) / cell), 0.0), number - 1.0))
    return low, high + 1

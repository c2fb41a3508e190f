"""Where a skin may touch another body: taxels near it, and the gaps between the two surfaces."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.solids import MESH, PLANE, entry
from tactile_sim.geometry.triangle_bins import highest_below

FACING = 0.2
"""Least cosine of the outward normal of a point with the direction to the other surface."""
DEPTHS = 3.0
"""Points deeper below the surface than this, over the depth without a tilt, are not pressed."""
UNEVEN = 0.25
"""A gap that changes by more than this, over the spacing, between neighbors has an edge there."""


class Others(NamedTuple):
    """The geoms of the other body that touch, in the frame of a pair."""

    ids: np.ndarray
    """(g,)"""
    positions: np.ndarray
    """(g, 3) [m]"""
    rotations: np.ndarray
    """(g, 3, 3) from the frames of the geoms."""
    bins: tuple
    """Of their triangles, as `bin_triangles` returns them."""


@kernel
def taxels_around(load, solid, normal, index, reach, layer, count):
    """Append the taxels of a patch near a solid that face it to the layer; return how many it has then.

    count: how many it has before; normal (3,): of the pair, into the body.
    """
    patch = index.patches[load.patch]
    corner, shape, cell = patch.corner, patch.shape, patch.cell
    rotation, position = load.other_rotation, load.other_position
    begin, end = np.zeros(3, np.int64), np.zeros(3, np.int64)
    plane = solid.kind == PLANE
    for i in range(3):
        center, half = position[i], reach
        for k in range(3):
            center += rotation[i, k] * solid.center[k]
            half += abs(rotation[i, k]) * solid.half[k]
        if plane:
            half = np.inf
        begin[i] = int(min(max(np.floor((center - half - corner[i]) / cell), 0.0), shape[i] - 1.0))
        end[i] = int(min(max(np.floor((center + half - corner[i]) / cell), 0.0), shape[i] - 1.0)) + 1
    up_x, up_y, up_z = rotation[0, 2], rotation[1, 2], rotation[2, 2]
    nx, ny, nz = normal
    normals, order, starts, gap = index.normals, index.order, index.cell_start, layer.gap
    taxel = layer.taxel
    for i in range(begin[0], end[0]):
        height_x = up_x * (corner[0] + (i + 0.5) * cell - position[0])
        for j in range(begin[1], end[1]):
            height_y = up_y * (corner[1] + (j + 0.5) * cell - position[1])
            row = patch.base + (i * shape[1] + j) * shape[2]
            for k in range(begin[2], end[2]):
                height_z = up_z * (corner[2] + (k + 0.5) * cell - position[2])
                if plane and height_x + height_y + height_z > reach + cell:
                    continue
                for e in range(starts[row + k], starts[row + k + 1]):
                    t = order[e]
                    x, y, z = normals[t, 0], normals[t, 1], normals[t, 2]
                    faces = x * nx + y * ny + z * nz < -FACING or (x == 0.0 and y == 0.0 and z == 0.0)
                    if faces and gap[t] == np.inf:
                        taxel[count] = t
                        gap[t] = 0.0
                        count += 1
    return count


@kernel
def contact_points(found, index, quad, solids, layer, origin, axes, others, spacing, pressing):
    """Return (x, y, z, gap, area) (5, k) of the points that may be pressed, and their taxels (k,).

    One point stands for a taxel on whose cell the gap is even, several for one at an edge of either surface.
    pressing: area times depth that balances the force [m3].
    """
    taxel, gap, reach = layer.taxel, layer.gap, layer.thickness + spacing
    begin, beside, smooth = index.begin, index.neighbour_ids, quad.smooth
    nx, ny, nz = axes[2]
    centers = np.empty((5, found))
    _to_frame(index.positions, taxel[:found], origin, axes, centers)
    _gaps(centers, solids, others, reach)
    least, room = np.inf, 0
    for e in range(found):
        gap[taxel[e]] = centers[3, e]
        least = min(least, centers[3, e])
        room += quad.begin[taxel[e] + 1] - quad.begin[taxel[e]]
    limit = least + min(reach, DEPTHS * _depth(centers, taxel, quad.taxel_areas, least, pressing))
    uneven = UNEVEN * spacing
    points, owner, count = np.empty((5, found)), np.empty(found, np.int64), 0
    several, behind, more = np.empty(room, np.int64), np.empty(room, np.int64), 0
    for e in range(found):
        t = taxel[e]
        here = centers[3, e]
        even, touched = smooth[t] and here <= limit, here <= limit or least == np.inf
        for b in range(begin[t], begin[t + 1]):
            there = gap[beside[b]]
            touched |= there <= limit
            even &= abs(there - here) <= uneven
        cosine = -(index.normals[t, 0] * nx + index.normals[t, 1] * ny + index.normals[t, 2] * nz)
        if even and cosine > FACING:
            for i in range(4):
                points[i, count] = centers[i, e]
            points[4, count] = cosine * quad.taxel_areas[t]
            owner[count] = t
            count += 1
        elif touched:
            for q in range(quad.begin[t], quad.begin[t + 1]):
                several[more], behind[more] = q, t
                more += 1
    parts = np.empty((5, more))
    _to_frame(quad.positions, several[:more], origin, axes, parts)
    _gaps(parts, solids, others, reach)
    all_points, all_owners = np.empty((5, count + more)), np.empty(count + more, np.int64)
    all_points[:, :count], all_owners[:count] = points[:, :count], owner[:count]
    for e in range(more):
        x, y, z = quad.normals[several[e], 0], quad.normals[several[e], 1], quad.normals[several[e], 2]
        cosine = -(x * nx + y * ny + z * nz) if x != 0.0 or y != 0.0 or z != 0.0 else 1.0
        if cosine > FACING and parts[3, e] < np.inf:
            for i in range(4):
                all_points[i, count] = parts[i, e]
            all_points[4, count] = cosine * quad.areas[several[e]]
            all_owners[count] = behind[e]
            count += 1
    return all_points[:, :count], all_owners[:count]


@kernel
def _depth(centers, taxel, areas, least, pressing):
    """Return how deep taxels would lie in the layer without a tilt, by their centers alone [m]."""
    depth = np.inf
    for _ in range(5):
        area, volume = 0.0, pressing
        for e in range(centers.shape[1]):
            if centers[3, e] < np.inf and centers[3, e] - least < depth:
                area += areas[taxel[e]]
                volume += areas[taxel[e]] * (centers[3, e] - least)
        if area == 0.0:
            return np.inf
        if volume / area >= depth:
            break
        depth = volume / area
    return depth


@kernel
def _to_frame(positions, chosen, origin, axes, out):
    """Write points of the body in the frame of a pair into the first rows of out (5, k)."""
    o0, o1, o2 = origin
    for e in range(len(chosen)):
        t = chosen[e]
        x, y, z = positions[t, 0] - o0, positions[t, 1] - o1, positions[t, 2] - o2
        for i in range(3):
            out[i, e] = axes[i, 0] * x + axes[i, 1] * y + axes[i, 2] * z


@kernel
def _gaps(points, solids, others, reach):
    """Write the gap from points (x, y, z, gap, ...) of the skin down to the other body [m]."""
    count = points.shape[1]
    points[3] = np.inf
    corners, begin, order, grid = others.bins
    for g in range(len(others.ids)):
        solid, r, t = solids.table[others.ids[g]], others.rotations[g], others.positions[g]
        kind, a, b, c = solid.kind, solid.size[0], solid.size[1], solid.size[2]
        if kind == MESH:
            continue
        t0, t1, t2 = t
        r00, r10, r20, r01, r11, r21, r02, r12, r22 = (
            r[0, 0], r[1, 0], r[2, 0], r[0, 1], r[1, 1], r[2, 1], r[0, 2], r[1, 2], r[2, 2],
        )  # fmt: skip
        for e in range(count):
            x, y, z = points[0, e] - t0, points[1, e] - t1, points[2, e] - t2
            px, py, pz = (
                r00 * x + r10 * y + r20 * z,
                r01 * x + r11 * y + r21 * z,
                r02 * x + r12 * y + r22 * z,
            )
            points[3, e] = min(points[3, e], entry(kind, a, b, c, px, py, pz, -r20, -r21, -r22))
    if len(corners):
        for e in range(count):
            top = points[2, e] + reach
            below = highest_below(corners, begin, order, grid, points[0, e], points[1, e], top)
            points[3, e] = min(points[3, e], points[2, e] - below)

"""Measure the gaps from points of a skin to another body, along the mean contact normal."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.solids import BOX, CAPSULE, MESH, PARALLEL, PLANE, SPHERE, enter_box, entry
from tactile_sim.geometry.triangle_bins import surface_below

UPRIGHT = 0.999
"""A face is level if the cosine between its normal and the pair's normal is above this."""


@kernel(inline="always")
def write_gaps(points, first, last, solids, layer, geoms, triangles):
    """Write the gaps from points of the skin down to the other body; infinite if nothing is below a point.

    Args:
        points: (4 or more, q) points. Rows: x, y and z in the frame of the pair [m], and the gap [m], which
            is written. Further rows are ignored.
        first: Index of the first point to process.
        last: Index after the last point to process.
        solids: The scene's `Solids`.
        layer: Scratch memory, a `Layer`.
        geoms: Number of touching geoms in the layer.
        triangles: Result of `bin_triangles`, or ``Layer.triangles`` without a mesh.
    """
    # With separate rows that start at index 0, the loops compile to vector instructions.
    xs, ys, zs = points[0][first:last], points[1][first:last], points[2][first:last]
    gaps = points[3][first:last]
    gaps[:] = np.inf
    for g in range(geoms):
        solid = solids.table[layer.geoms[0, g]]
        if solid.kind == BOX:
            _gaps_to_box(solid.size, layer.poses[g], xs, ys, zs, gaps)
        elif solid.kind == CAPSULE:
            _gaps_to_capsule(solid.size, layer.poses[g], xs, ys, zs, gaps)
        elif solid.kind != MESH:
            _gaps_to(solid.kind, solid.size, layer.poses[g], xs, ys, zs, gaps)
    if len(triangles[0]):
        for e in range(len(xs)):
            gaps[e] = min(gaps[e], zs[e] - surface_below(triangles, xs[e], ys[e], zs[e]))


@kernel(error_model="numpy", counted=False)
def _gaps_to(kind, size, pose, xs, ys, zs, gaps):
    """Reduce the gap of each point to its gap from a solid, if that is smaller.

    The solid must not be a mesh, box or capsule.

    Args:
        kind: Kind of the solid, as in `SOLID`.
        size: (3,) MuJoCo's sizes of the solid [m].
        pose: (12,) position [m] and rotation of the solid in the frame of the points.
        xs: (q,) x of the points [m].
        ys: (q,) y [m].
        zs: (q,) z [m].
        gaps: (q,) gaps [m], modified in place.
    """
    a, b, c = size[0], size[1], size[2]
    t0, t1, t2 = pose[0], pose[1], pose[2]
    r00, r01, r02, r10, r11, r12 = pose[3], pose[4], pose[5], pose[6], pose[7], pose[8]
    r20, r21, r22 = pose[9], pose[10], pose[11]
    if kind == PLANE and r22 > PARALLEL:
        slope_x, slope_y = r02 / r22, r12 / r22
        for e in range(len(xs)):
            here = zs[e] - t2 + slope_x * (xs[e] - t0) + slope_y * (ys[e] - t1)
            gaps[e] = here if here < gaps[e] else gaps[e]
    elif kind == SPHERE:
        for e in range(len(xs)):
            x, y, z = xs[e] - t0, ys[e] - t1, zs[e] - t2
            root = a * a - x * x - y * y
            half = np.sqrt(root if root > 0.0 else 0.0)
            here = z - half if root >= 0.0 and z + half >= 0.0 else np.inf
            gaps[e] = here if here < gaps[e] else gaps[e]
    else:
        for e in range(len(xs)):
            x, y, z = xs[e] - t0, ys[e] - t1, zs[e] - t2
            px, py = r00 * x + r10 * y + r20 * z, r01 * x + r11 * y + r21 * z
            pz = r02 * x + r12 * y + r22 * z
            here = entry(kind, a, b, c, px, py, pz, -r20, -r21, -r22)
            gaps[e] = here if here < gaps[e] else gaps[e]


@kernel(error_model="numpy", counted=False)
def _gaps_to_box(size, pose, xs, ys, zs, gaps):
    """Reduce the gap of each point to its gap from a box, if that is smaller; arguments as in `_gaps_to`."""
    a, b, c = size[0], size[1], size[2]
    t0, t1, t2 = pose[0], pose[1], pose[2]
    r00, r01, r02, r10, r11, r12 = pose[3], pose[4], pose[5], pose[6], pose[7], pose[8]
    r20, r21, r22 = pose[9], pose[10], pose[11]
    ix = 1.0 / r20 if abs(r20) > PARALLEL else 0.0
    iy = 1.0 / r21 if abs(r21) > PARALLEL else 0.0
    iz = 1.0 / r22 if abs(r22) > PARALLEL else 0.0
    for e in range(len(xs)):
        x, y, z = xs[e] - t0, ys[e] - t1, zs[e] - t2
        px, py = r00 * x + r10 * y + r20 * z, r01 * x + r11 * y + r21 * z
        pz = r02 * x + r12 * y + r22 * z
        here = enter_box(px, py, pz, -ix, -iy, -iz, a, b, c)
        gaps[e] = here if here < gaps[e] else gaps[e]


@kernel(error_model="numpy", counted=False)
def _gaps_to_capsule(size, pose, xs, ys, zs, gaps):
    """Reduce the gap of each point to its gap from a capsule, if that is smaller; arguments as in `_gaps_to`.

    The lines enter and leave the capsule through its cylinder or through one of the balls at its ends. There
    are no branches, so that the loop compiles to vector instructions.
    """
    a, b = size[0], size[1]
    t0, t1, t2 = pose[0], pose[1], pose[2]
    r00, r01, r02, r10, r11, r12 = pose[3], pose[4], pose[5], pose[6], pose[7], pose[8]
    r20, r21, r22 = pose[9], pose[10], pose[11]
    across = r20 * r20 + r21 * r21
    crosses = across >= PARALLEL
    inverse = 1.0 / across if crosses else 0.0
    for e in range(len(xs)):
        x, y, z = xs[e] - t0, ys[e] - t1, zs[e] - t2
        px, py = r00 * x + r10 * y + r20 * z, r01 * x + r11 * y + r21 * z
        pz = r02 * x + r12 * y + r22 * z
        middle, outside = px * r20 + py * r21, px * px + py * py - a * a
        root = middle * middle - across * outside
        half = np.sqrt(root if root > 0.0 else 0.0)
        first, last = (middle - half) * inverse, (middle + half) * inverse
        meets = crosses & (root >= 0.0)
        first = first if meets & (abs(pz - first * r22) <= b) else np.inf
        last = last if meets & (abs(pz - last * r22) <= b) else -np.inf
        for end in (-b, b):
            there = pz - end
            center = middle + there * r22
            root = center * center - outside - there * there
            half, meets = np.sqrt(root if root > 0.0 else 0.0), root >= 0.0
            near, far = (center - half if meets else np.inf), (center + half if meets else -np.inf)
            first, last = (near if near < first else first), (far if far > last else last)
        here = first if last >= 0.0 else np.inf
        gaps[e] = here if here < gaps[e] else gaps[e]


@kernel(inline="always")
def level_face(solids, layer, geoms):
    """Return the level face of the other body, if only one of its geoms touches and has such a face.

    Between neighboring taxels under this face, the gap changes linearly.

    Args:
        solids: The scene's `Solids`.
        layer: Scratch memory, a `Layer`.
        geoms: Number of touching geoms in the layer.

    Returns:
        A tuple (level, a, b, half_a, half_b):

        level: Whether there is a level face.
        a, b: Two coordinates along the face, which are linear functions of x, y and z in the frame of the
            pair. Each is a tuple of the coefficients of 1, x, y and z.
        half_a, half_b: Half-sizes of the face along these coordinates [m].
    """
    solid, pose = solids.table[layer.geoms[0, 0]], layer.poses[0]
    none, face = (0.0, 0.0, 0.0, 0.0), -1
    if geoms == 1 and solid.kind == PLANE and pose[11] > UPRIGHT:
        return True, none, none, np.inf, np.inf
    if geoms == 1 and solid.kind == BOX:
        for i in range(3):
            face = i if abs(pose[9 + i]) > UPRIGHT else face
    if face < 0:
        return False, none, none, 0.0, 0.0
    i, j = (face + 1) % 3, (face + 2) % 3
    a, b = (pose[3 + i], pose[6 + i], pose[9 + i]), (pose[3 + j], pose[6 + j], pose[9 + j])
    start_a = -(a[0] * pose[0] + a[1] * pose[1] + a[2] * pose[2])
    start_b = -(b[0] * pose[0] + b[1] * pose[1] + b[2] * pose[2])
    return (
        True, (start_a, a[0], a[1], a[2]), (start_b, b[0], b[1], b[2]), solid.size[i], solid.size[j]
    )  # fmt: skip

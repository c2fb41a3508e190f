"""Triangulate points on a convex surface, and improve closed meshes by edge flips."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from tactile_sim.compilation import kernel

FLAT = 1e-9
"""Edges are not flipped if the opposite angles sum to π within this tolerance [rad]."""


def triangulate(positions: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Triangulate points on a convex surface that encloses their mean.

    The points are projected onto a sphere around the mean, where their convex hull is a closed mesh of all
    points. Its edges are then flipped until the mesh is Delaunay on the surface itself (Lawson's algorithm).

    Args:
        positions: Points (n, 3) [m].
        normals: Outward normals (n, 3).

    Returns:
        Point indices (t, 3), wound outward; empty if all points are coplanar.
    """
    rays = positions - positions.mean(axis=0)
    # First scale a long or flat body to a round one, which keeps straight lines straight.
    spread, axes = np.linalg.eigh(rays.T @ rays)
    sphere = rays @ axes / np.sqrt(np.maximum(spread, 1e-12 * spread[2]))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    try:
        hull = ConvexHull(sphere)
    except QhullError:
        return np.empty((0, 3), np.int64)
    triangles, across = hull.simplices.astype(np.int64), hull.neighbors.astype(np.int64)
    a, b, c = np.moveaxis(rays[triangles], 1, 0)
    inward = np.einsum("ij,ij->i", np.cross(a, b), c) < 0
    triangles[inward] = triangles[inward][:, [0, 2, 1]]
    across[inward] = across[inward][:, [0, 2, 1]]
    facing = normals[triangles].sum(axis=1)
    flip_to_delaunay(triangles, across, positions, facing, np.zeros(len(triangles), np.int64), -np.inf)
    return triangles


@kernel
def zip_rings(first_a, count_a, phase_a, first_b, count_b, phase_b):
    """Return the triangles of the band between two rings of points.

    One of the rings may be a single point, such as the tip of a cone. For triangles that are wound outward,
    the azimuth must increase to the right when the band is seen from outside with ring b above ring a.

    Args:
        first_a: Index of the first point of ring a.
        count_a: Number of points of ring a.
        phase_a: Azimuth of the first point of ring a [turns].
        first_b: Index of the first point of ring b.
        count_b: Number of points of ring b.
        phase_b: Azimuth of the first point of ring b [turns].

    Returns:
        Point indices (t, 3). Each point adds one triangle, except a point that forms a ring by itself.
    """
    out = np.empty((count_a + count_b, 3), np.int64)
    i = count_a if count_a == 1 else 0
    j = count_b if count_b == 1 else 0
    t = 0
    while i < count_a or j < count_b:
        a, b = first_a + i % count_a, first_b + j % count_b
        next_a, next_b = phase_a + (i + 1) / count_a, phase_b + (j + 1) / count_b
        if j == count_b or (i < count_a and next_a <= next_b):
            i += 1
            out[t] = a, first_a + i % count_a, b
        else:
            j += 1
            out[t] = a, first_b + j % count_b, b
        t += 1
    return out[:t]


@kernel
def flip_to_delaunay(triangles, across, positions, facing, label, alike):
    """Flip edges of a closed mesh until it is Delaunay (Lawson's algorithm).

    The arrays ``triangles``, ``across`` and ``facing`` are modified in place: a flip replaces the normals of
    its two triangles by their mean.

    Args:
        triangles: Vertex indices (t, 3).
        across: Triangle (t, 3) across the edge opposite to each corner.
        positions: Vertices (n, 3) [m].
        facing: Normal (t, 3) of the surface at each triangle.
        label: Label (t,) of each triangle; only edges between triangles with the same label are flipped.
        alike: Only edges between triangles with a dot product of ``facing`` above this are flipped.
    """
    for _ in range(200):
        flips = 0
        for t in range(len(triangles)):
            for k in range(3):
                flips += _flip(triangles, across, positions, facing, label, alike, t, k)
        if flips == 0:
            return


@kernel
def _flip(triangles, across, positions, facing, label, alike, t, k):
    """Flip the edge opposite to corner k of triangle t if that improves the mesh; return True if flipped."""
    u = across[t, k]
    if label[t] != label[u]:
        return False
    a, b, c = triangles[t, k], triangles[t, (k + 1) % 3], triangles[t, (k + 2) % 3]
    other = _opposite(triangles, u, b, c)
    d = triangles[u, other]
    if _angle(positions, a, b, c) + _angle(positions, d, c, b) <= np.pi + FLAT:
        return False
    alignment = facing[t, 0] * facing[u, 0] + facing[t, 1] * facing[u, 1] + facing[t, 2] * facing[u, 2]
    if alignment <= alike:
        return False
    if not (_faces(positions, a, b, d, facing, t, u) and _faces(positions, a, d, c, facing, t, u)):
        return False
    if _joined(triangles, across, t, a, d):
        return False
    over_ca, over_ab = across[t, (k + 1) % 3], across[t, (k + 2) % 3]
    over_bd, over_dc = across[u, (other + 1) % 3], across[u, (other + 2) % 3]
    triangles[t, 0], triangles[t, 1], triangles[t, 2] = a, b, d
    across[t, 0], across[t, 1], across[t, 2] = over_bd, u, over_ab
    triangles[u, 0], triangles[u, 1], triangles[u, 2] = a, d, c
    across[u, 0], across[u, 1], across[u, 2] = over_dc, over_ca, t
    across[over_bd, _opposite(triangles, over_bd, b, d)] = t
    across[over_ca, _opposite(triangles, over_ca, c, a)] = u
    for axis in range(3):
        facing[t, axis] = facing[u, axis] = (facing[t, axis] + facing[u, axis]) / 2
    return True


@kernel
def _opposite(triangles, t, a, b):
    """Return the corner (0, 1 or 2) of triangle t that is neither vertex a nor vertex b."""
    for k in range(3):
        if triangles[t, k] != a and triangles[t, k] != b:
            return k
    return -1


@kernel
def _angle(positions, at, b, c):
    """Return the angle between the directions from vertex ``at`` to vertices b and c [rad]."""
    (x, y, z), dot = _products(positions, at, b, c)
    return np.arctan2(np.sqrt(x * x + y * y + z * z), dot)


@kernel
def _faces(positions, a, b, c, facing, t, u):
    """Return whether the triangle of vertices a, b and c faces the mean direction of triangles t and u."""
    cross, _ = _products(positions, a, b, c)
    out = 0.0
    for axis in range(3):
        out += cross[axis] * (facing[t, axis] + facing[u, axis])
    return out > 0


@kernel
def _products(positions, a, b, c):
    """Return the cross and dot products of the vectors from a to b and from a to c."""
    x, y, z = positions[a]
    ux, uy, uz = positions[b, 0] - x, positions[b, 1] - y, positions[b, 2] - z
    vx, vy, vz = positions[c, 0] - x, positions[c, 1] - y, positions[c, 2] - z
    return (uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx), ux * vx + uy * vy + uz * vz


@kernel
def _joined(triangles, across, start, a, d):
    """Return whether an edge joins vertices a and d, where a is a corner of triangle ``start``."""
    t = start
    while True:
        k = 0
        while triangles[t, k] != a:
            k += 1
        if triangles[t, (k + 1) % 3] == d or triangles[t, (k + 2) % 3] == d:
            return True
        t = across[t, (k + 1) % 3]
        if t == start:
            return False

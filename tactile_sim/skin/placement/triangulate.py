"""Triangulate points on a convex surface."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from tactile_sim import _core


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
    _core.flip_to_delaunay(triangles, across, positions, facing, np.zeros(len(triangles), np.int64), -np.inf)
    return triangles

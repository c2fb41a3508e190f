"""Connect the taxels of a pad without a grid by triangles, so that its readings are drawn as a surface."""

from __future__ import annotations

import numpy as np
from scipy.spatial import Delaunay, QhullError

LONGEST = 1.8
"""Longest edge of a triangle [spacings]. The diagonal of a square grid is 1.42."""
STEEPEST = 0.5
"""Smallest cosine of the angle between the normal of a taxel and the mean normal of its pad."""


def taxel_surface(positions: np.ndarray, normals: np.ndarray, spacing: float) -> np.ndarray:
    """Return the Delaunay triangles of taxels, projected along their mean normal.

    Args:
        positions: (n, 3) positions of the taxels of one pad [m].
        normals: (n, 3) outward unit normals.
        spacing: Distance between neighbouring taxels [m].

    Returns:
        Indices (t, 3), counterclockwise seen from outside. There are no triangles if the pad is too curved
        for a projection, or if any taxel would not be part of a triangle.
    """
    none = np.zeros((0, 3), int)
    if len(positions) < 3:
        return none
    mean = normals.mean(axis=0)
    mean /= max(np.linalg.norm(mean), 1e-9)
    if (normals @ mean).min() < STEEPEST:
        return none
    across = np.cross(mean, np.eye(3)[np.abs(mean).argmin()])
    across /= np.linalg.norm(across)
    plane = positions @ np.stack([across, np.cross(mean, across)], axis=1)
    try:
        triangles = Delaunay(plane).simplices.astype(int)
    except QhullError:  # all taxels are in one line
        return none
    corners = positions[triangles]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    triangles = triangles[(edges < LONGEST * spacing).all(axis=1)]
    (a, b), (c, d) = np.moveaxis(plane[triangles[:, 1:]] - plane[triangles[:, :1]], 0, -1)
    clockwise = a * d - b * c < 0.0
    triangles[clockwise] = triangles[clockwise, ::-1]
    return triangles if len(np.unique(triangles)) == len(positions) else none

"""A closed triangle mesh whose vertices the native core removes one by one while it stays closed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

TAXEL, SEAM, SPARE, LOST = 0, 1, 2, 3
"""Role of a vertex. TAXEL: a taxel. SEAM: a vertex of a seam between geoms. SPARE: a vertex on the surface
that can be removed. LOST: a vertex off the surface."""


class Mesh(NamedTuple):
    """A closed mesh, wound outward; the functions of the native core modify it in place."""

    positions: np.ndarray
    """Positions (n, 3) of the vertices [m]."""
    role: np.ndarray
    """Role (n,) of each vertex: TAXEL, SEAM, SPARE or LOST."""
    triangles: np.ndarray
    """Vertex indices (t, 3) of each triangle."""
    across: np.ndarray
    """Triangle (t, 3) across the edge opposite to each corner."""
    label: np.ndarray
    """Index (t,) of the geom of each triangle."""
    facing: np.ndarray
    """Unit normal (t, 3) of the geom at each triangle."""
    alive: np.ndarray
    """Whether each triangle (t,) still exists."""
    at: np.ndarray
    """One triangle (n,) at each vertex; -1 for removed vertices."""
    longest: float
    """Maximum length of new edges [m], exceeded only if the quality of triangles is ignored."""

    @staticmethod
    def of(
        positions: np.ndarray,
        role: np.ndarray,
        triangles: np.ndarray,
        label: np.ndarray,
        facing: np.ndarray,
        longest: float,
    ) -> Mesh:
        """Build the mesh from triangles (t, 3) that form a closed surface and use every vertex."""
        start, stop = triangles[:, [1, 2, 0]].ravel(), triangles[:, [2, 0, 1]].ravel()
        there, back = start * len(positions) + stop, stop * len(positions) + start
        order = np.argsort(there)
        across = (order[np.searchsorted(there[order], back)] // 3).reshape(triangles.shape)
        at = np.empty(len(positions), np.int64)
        at[triangles.ravel()] = np.repeat(np.arange(len(triangles)), 3)
        alive = np.ones(len(triangles), bool)
        return Mesh(positions, role, triangles.copy(), across, label, facing, alive, at, longest)

"""A closed triangle mesh whose vertices can be removed one by one while it stays closed.

A vertex is removed by moving it onto a neighbour, so the two triangles at the edge between them vanish. The
link condition (Dey et al. 1999: the only common neighbours of the two vertices are the corners opposite to
their edge) preserves the topology: no holes, and no edge with more than two triangles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel

TAXEL, SEAM, SPARE, LOST = 0, 1, 2, 3
"""Role of a vertex. TAXEL: a taxel. SEAM: a vertex of a seam between geoms. SPARE: a vertex on the surface
that can be removed. LOST: a vertex off the surface."""
FAIR = 0.11
"""Minimum quality of an acceptable triangle.

`quality_after` also assigns this value to a triangle of lower quality that does not get worse.
"""
FORBIDDEN = -2.0


class Mesh(NamedTuple):
    """A closed mesh, wound outward; kernels modify it in place."""

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


@kernel
def collapse(mesh, u, v):
    """Remove vertex u from a mesh by moving it onto its neighbour v; the mesh is modified in place."""
    triangles, across = mesh.triangles, mesh.across
    t = mesh.at[u]
    while triangles[t, (corner(triangles, t, u) + 1) % 3] != v:
        t = across[t, (corner(triangles, t, u) + 1) % 3]
    # t is (u, v, a); s, across the edge from u to v, is (u, b, v).
    k = corner(triangles, t, u)
    a, s = triangles[t, (k + 2) % 3], across[t, (k + 2) % 3]
    j = corner(triangles, s, u)
    b = triangles[s, (j + 1) % 3]
    beyond_a, before_a = across[t, k], across[t, (k + 1) % 3]
    beyond_b, before_b = across[s, j], across[s, (j + 2) % 3]
    w = t
    while True:
        k = corner(triangles, w, u)
        triangles[w, k] = v
        w = across[w, (k + 1) % 3]
        if w == t:
            break
    _replace(across, beyond_a, t, before_a)
    _replace(across, before_a, t, beyond_a)
    _replace(across, beyond_b, s, before_b)
    _replace(across, before_b, s, beyond_b)
    mesh.alive[t] = mesh.alive[s] = False
    mesh.at[u] = -1
    mesh.at[v] = mesh.at[a] = beyond_a
    mesh.at[b] = beyond_b


@kernel
def quality_after(mesh, u, v):
    """Return the quality of the worst triangle after moving vertex u onto v.

    The quality of a triangle is twice its area divided by the square of its longest edge, times the cubed
    cosine of the angle between its normal and the geom's normal. The result is at most -1 if an edge would be
    longer than ``mesh.longest``, and FORBIDDEN if the mesh would not stay closed.
    """
    shared = count = 0
    worst = 1.0
    t = mesh.at[u]
    while True:
        k = corner(mesh.triangles, t, u)
        b, c = mesh.triangles[t, (k + 1) % 3], mesh.triangles[t, (k + 2) % 3]
        shared += _joined(mesh, v, b)
        count += 1
        if b != v and c != v:
            after = _shape(mesh.positions, v, b, c, mesh.facing[t])
            if after < FAIR and after >= _shape(mesh.positions, u, b, c, mesh.facing[t]):
                after = FAIR
            if distance(mesh, v, b) > mesh.longest:
                after = -1.0
            worst = min(worst, after)
        t = mesh.across[t, (k + 1) % 3]
        if t == mesh.at[u]:
            break
    # If u and v both have three triangles, these form a tetrahedron.
    if shared != 2 or (count == 3 and _count(mesh, v) == 3):
        return FORBIDDEN
    return worst


@kernel
def seam_edges(mesh, u):
    """Return the number of edges at a vertex that separate two geoms."""
    count = 0
    t = mesh.at[u]
    while True:
        over = mesh.across[t, (corner(mesh.triangles, t, u) + 1) % 3]
        count += mesh.label[over] != mesh.label[t]
        t = over
        if t == mesh.at[u]:
            return count


@kernel
def _joined(mesh, u, v):
    """Return whether an edge joins two vertices."""
    t = mesh.at[u]
    while True:
        k = corner(mesh.triangles, t, u)
        if mesh.triangles[t, (k + 1) % 3] == v:
            return True
        t = mesh.across[t, (k + 1) % 3]
        if t == mesh.at[u]:
            return False


@kernel
def _count(mesh, u):
    """Return the number of triangles at a vertex."""
    count = 0
    t = mesh.at[u]
    while True:
        count += 1
        t = mesh.across[t, (corner(mesh.triangles, t, u) + 1) % 3]
        if t == mesh.at[u]:
            return count


@kernel
def corner(triangles, t, u):
    """Return the corner (0, 1 or 2) of triangle t at which vertex u lies."""
    if triangles[t, 0] == u:
        return 0
    return 1 if triangles[t, 1] == u else 2


@kernel
def _shape(positions, a, b, c, facing):
    x, y, z = positions[a, 0], positions[a, 1], positions[a, 2]
    ux, uy, uz = positions[b, 0] - x, positions[b, 1] - y, positions[b, 2] - z
    vx, vy, vz = positions[c, 0] - x, positions[c, 1] - y, positions[c, 2] - z
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    out = x * facing[0] + y * facing[1] + z * facing[2]
    square = x * x + y * y + z * z
    wx, wy, wz = vx - ux, vy - uy, vz - uz
    longest = max(ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, wx * wx + wy * wy + wz * wz)
    return out * out * out / (square * longest) if square > 0.0 else 0.0


@kernel
def _replace(across, t, old, new):
    """Replace neighbour ``old`` of triangle t by ``new`` in ``across`` (t, 3), in place."""
    for k in range(3):
        if across[t, k] == old:
            across[t, k] = new
            return


@kernel
def distance(mesh, u, v):
    """Return the distance between vertices u and v of a mesh [m]."""
    x = mesh.positions[u, 0] - mesh.positions[v, 0]
    y = mesh.positions[u, 1] - mesh.positions[v, 1]
    z = mesh.positions[u, 2] - mesh.positions[v, 2]
    return np.sqrt(x * x + y * y + z * z)

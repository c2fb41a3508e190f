"""A closed triangle mesh made coarser one vertex at a time; it stays closed.

A vertex goes by moving onto one of its neighbours, so the two triangles between them vanish. The link
condition (Dey et al. 1999: the two share just the two corners opposite to their edge) keeps the mesh's
topology: no hole, no edge of more than two triangles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

TAXEL, SEAM, SPARE, LOST = 0, 1, 2, 3
"""What a vertex is: a taxel; a place where the surfaces of geoms meet; one on the surface that need not stay;
one that is not on the surface."""
NEAR = 0.6
"""A taxel nearer to a seam's vertex than this goes, in spacings."""
SEAM_STEP = 0.7
"""Vertices of a seam nearer to each other than this are thinned out, in spacings."""
JUNCTION = 0.7
"""Junctions of seams nearer to each other than this become one, in the distance that a seam is thinned to."""
ALIKE = 0.3
"""Two normals whose cosine is above this are of the same side of a geom."""
FAIR = 0.11
"""A triangle as good as this is good enough, and so is one that got no worse; see `_quality`."""
FORBIDDEN = -2.0


class Mesh(NamedTuple):
    """A closed mesh, wound outward; kernels change it in place."""

    positions: np.ndarray
    """(n, 3) [m]."""
    role: np.ndarray
    """(n,) TAXEL, SEAM, SPARE or LOST."""
    triangles: np.ndarray
    """(t, 3)."""
    across: np.ndarray
    """(t, 3) the triangle over the edge opposite to each corner."""
    label: np.ndarray
    """(t,) the geom that a triangle lies on."""
    facing: np.ndarray
    """(t, 3) unit normal of the geom there."""
    alive: np.ndarray
    """(t,) whether a triangle is still there."""
    at: np.ndarray
    """(n,) a triangle of each vertex; -1 where it is gone."""

    @staticmethod
    def of(
        positions: np.ndarray, role: np.ndarray, triangles: np.ndarray, label: np.ndarray, facing: np.ndarray
    ) -> Mesh:
        """From a closed mesh (t, 3) in which every vertex has a triangle."""
        start, stop = triangles[:, [1, 2, 0]].ravel(), triangles[:, [2, 0, 1]].ravel()
        there, back = start * len(positions) + stop, stop * len(positions) + start
        order = np.argsort(there)
        across = (order[np.searchsorted(there[order], back)] // 3).reshape(triangles.shape)
        at = np.empty(len(positions), np.int64)
        at[triangles.ravel()] = np.repeat(np.arange(len(triangles)), 3)
        alive = np.ones(len(triangles), bool)
        return Mesh(positions, role, triangles.copy(), across, label, facing, alive, at)


@njit(cache=True)
def thin(mesh, normals, spacing):
    """Takes out what is not to stay, and what lies too near to another vertex at a seam.

    normals (n, 3): of the taxels, outward; spacing [m].
    """
    # With care for the shape as far as it goes, then without.
    for worst, role in ((0.1, SPARE), (0.0, SPARE), (-1.5, LOST)):
        drop(mesh, role, worst)
    # Each makes room for the other.
    for worst in (0.1, 0.0, 0.0):
        _thin_seams(mesh, worst, SEAM_STEP * spacing)
        _clear_seams(mesh, normals, NEAR * spacing)


@njit(cache=True)
def drop(mesh, role, worst):
    """Collapses the vertices of this role and higher, as long as no triangle gets worse than `worst`."""
    going = True
    while going:
        going = False
        for u in range(len(mesh.at)):
            if mesh.role[u] >= role and mesh.at[u] >= 0:
                v = _best_neighbour(mesh, u, worst)
                if v >= 0:
                    _collapse(mesh, u, v)
                    going = True


@njit(cache=True)
def _thin_seams(mesh, worst, least):
    """Collapses seams' vertices along their seams, nearest ones first, until they are `least` apart."""
    going = True
    while going:
        going = False
        lengths, starts, stops = [0.0], [-1], [-1]
        for t in range(len(mesh.triangles)):
            if not mesh.alive[t]:
                continue
            for k in range(3):
                u, v = mesh.triangles[t, (k + 1) % 3], mesh.triangles[t, (k + 2) % 3]
                if u < v and mesh.label[mesh.across[t, k]] != mesh.label[t]:
                    length = _distance(mesh.positions, u, v)
                    if length < least:
                        lengths.append(length)
                        starts.append(u)
                        stops.append(v)
        touched = np.zeros(len(mesh.at), np.bool_)
        for e in np.argsort(np.array(lengths), kind="mergesort"):
            a, b = starts[e], stops[e]
            if a < 0 or touched[a] or touched[b]:
                continue
            # A junction of seams stays, but for one hard by another.
            close = lengths[e] < JUNCTION * least
            quality_a = quality_b = FORBIDDEN
            if mesh.role[a] == SEAM and (close or _seam_edges(mesh, a) == 2):
                quality_a = _quality(mesh, a, b)
            if mesh.role[b] == SEAM and (close or _seam_edges(mesh, b) == 2):
                quality_b = _quality(mesh, b, a)
            if max(quality_a, quality_b) < worst:
                continue
            touched[a] = touched[b] = going = True
            if quality_a >= quality_b:
                _collapse(mesh, a, b)
            else:
                _collapse(mesh, b, a)


@njit(cache=True)
def _clear_seams(mesh, normals, least):
    """Collapses taxels that lie within `least` of a seam's vertex on the same side of their geom."""
    for u in range(len(mesh.at)):
        if mesh.at[u] < 0 or (mesh.role[u] != TAXEL and _seam_edges(mesh, u) > 0):
            continue
        near = False
        t = mesh.at[u]
        while True:
            k = _corner(mesh.triangles, t, u)
            q = mesh.triangles[t, (k + 1) % 3]
            length = _distance(mesh.positions, u, q)
            if mesh.role[q] == SEAM and length < least:
                near = near or length < least / 2 or _alike(mesh, q, mesh.label[t], normals[u])
            t = mesh.across[t, (k + 1) % 3]
            if t == mesh.at[u]:
                break
        if near:
            v = _best_neighbour(mesh, u, 0.02)
            if v >= 0:
                _collapse(mesh, u, v)


@njit(cache=True)
def _alike(mesh, q, geom, normal):
    """Whether a geom's surface around vertex q faces about the same way as a normal."""
    x = y = z = 0.0
    t = mesh.at[q]
    while True:
        if mesh.label[t] == geom:
            x += mesh.facing[t, 0]
            y += mesh.facing[t, 1]
            z += mesh.facing[t, 2]
        t = mesh.across[t, (_corner(mesh.triangles, t, q) + 1) % 3]
        if t == mesh.at[q]:
            break
    return x * normal[0] + y * normal[1] + z * normal[2] > ALIKE * np.sqrt(x * x + y * y + z * z)


@njit(cache=True)
def _seam_edges(mesh, u):
    """How many edges of a vertex lie between two geoms."""
    count = 0
    t = mesh.at[u]
    while True:
        over = mesh.across[t, (_corner(mesh.triangles, t, u) + 1) % 3]
        count += mesh.label[over] != mesh.label[t]
        t = over
        if t == mesh.at[u]:
            return count


@njit(cache=True)
def _best_neighbour(mesh, u, worst):
    """The neighbour that vertex u best moves onto; -1 if each would leave a triangle worse than `worst`."""
    best, best_quality = -1, worst
    on_seam = _seam_edges(mesh, u) > 0
    t = mesh.at[u]
    while True:
        k = _corner(mesh.triangles, t, u)
        v = mesh.triangles[t, (k + 1) % 3]
        leaves_seam = on_seam and mesh.label[mesh.across[t, (k + 2) % 3]] == mesh.label[t]
        quality = _quality(mesh, u, v)
        if quality > worst and (leaves_seam or mesh.role[v] >= SPARE):
            # Rather along the seam, and onto what stays.
            quality = worst + 1e-3 * (quality - worst)
        if quality > best_quality:
            best, best_quality = v, quality
        t = mesh.across[t, (k + 1) % 3]
        if t == mesh.at[u]:
            return best


@njit(cache=True)
def _quality(mesh, u, v):
    """How good the worst triangle is once vertex u has moved onto v; FORBIDDEN where that opens the mesh.

    A triangle is as good as twice its area, as seen from where it faces, over the square of its longest edge.
    """
    shared = count = 0
    worst = 1.0
    t = mesh.at[u]
    while True:
        k = _corner(mesh.triangles, t, u)
        b, c = mesh.triangles[t, (k + 1) % 3], mesh.triangles[t, (k + 2) % 3]
        shared += _joined(mesh, v, b)
        count += 1
        if b != v and c != v:
            after = _shape(mesh.positions, v, b, c, mesh.facing[t])
            if after < FAIR and after >= _shape(mesh.positions, u, b, c, mesh.facing[t]):
                after = FAIR
            worst = min(worst, after)
        t = mesh.across[t, (k + 1) % 3]
        if t == mesh.at[u]:
            break
    # Where u has three triangles and so has v, they are a tetrahedron's.
    if shared != 2 or (count == 3 and _count(mesh, v) == 3):
        return FORBIDDEN
    return worst


@njit(cache=True)
def _joined(mesh, u, v):
    """Whether an edge joins two vertices."""
    t = mesh.at[u]
    while True:
        k = _corner(mesh.triangles, t, u)
        if mesh.triangles[t, (k + 1) % 3] == v:
            return True
        t = mesh.across[t, (k + 1) % 3]
        if t == mesh.at[u]:
            return False


@njit(cache=True)
def _count(mesh, u):
    """How many triangles a vertex has."""
    count = 0
    t = mesh.at[u]
    while True:
        count += 1
        t = mesh.across[t, (_corner(mesh.triangles, t, u) + 1) % 3]
        if t == mesh.at[u]:
            return count


@njit(cache=True)
def _shape(positions, a, b, c, facing):
    ux, uy, uz = (
        positions[b, 0] - positions[a, 0],
        positions[b, 1] - positions[a, 1],
        positions[b, 2] - positions[a, 2],
    )
    vx, vy, vz = (
        positions[c, 0] - positions[a, 0],
        positions[c, 1] - positions[a, 1],
        positions[c, 2] - positions[a, 2],
    )
    out = (uy * vz - uz * vy) * facing[0] + (uz * vx - ux * vz) * facing[1] + (ux * vy - uy * vx) * facing[2]
    wx, wy, wz = vx - ux, vy - uy, vz - uz
    longest = max(ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, wx * wx + wy * wy + wz * wz)
    return out / longest if longest > 0.0 else 0.0


@njit(cache=True)
def _collapse(mesh, u, v):
    """Moves vertex u onto its neighbour v."""
    triangles, across = mesh.triangles, mesh.across
    t = mesh.at[u]
    while triangles[t, (_corner(triangles, t, u) + 1) % 3] != v:
        t = across[t, (_corner(triangles, t, u) + 1) % 3]
    # t is (u, v, a); s, over its edge from u to v, is (u, b, v).
    k = _corner(triangles, t, u)
    a, s = triangles[t, (k + 2) % 3], across[t, (k + 2) % 3]
    j = _corner(triangles, s, u)
    b = triangles[s, (j + 1) % 3]
    beyond_a, before_a = across[t, k], across[t, (k + 1) % 3]
    beyond_b, before_b = across[s, j], across[s, (j + 2) % 3]
    w = t
    while True:
        k = _corner(triangles, w, u)
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


@njit(cache=True)
def _replace(across, t, old, new):
    """Sets the neighbour of a triangle that was `old`."""
    for k in range(3):
        if across[t, k] == old:
            across[t, k] = new
            return


@njit(cache=True)
def _corner(triangles, t, u):
    """Where a triangle has vertex u."""
    if triangles[t, 0] == u:
        return 0
    return 1 if triangles[t, 1] == u else 2


@njit(cache=True)
def _distance(positions, u, v):
    x, y, z = (
        positions[u, 0] - positions[v, 0],
        positions[u, 1] - positions[v, 1],
        positions[u, 2] - positions[v, 2],
    )
    return np.sqrt(x * x + y * y + z * z)

"""Remove vertices of a body's mesh that are not taxels, or that are too close to each other at seams."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.skin.placement.mesh import (
    FORBIDDEN,
    LOST,
    SEAM,
    SPARE,
    TAXEL,
    collapse,
    corner,
    distance,
    quality_after,
    seam_edges,
)

NEAR = 0.6
"""Taxels closer than this to a seam vertex are removed, in spacings."""
SEAM_STEP = 0.6
"""Minimum distance between vertices of a seam, in spacings."""
JUNCTION = 0.8
"""Junctions of seams are merged if they are closer to each other than this fraction of `SEAM_STEP`."""
ALIKE = 0.3
"""Two points are on the same side of a geom if the cosine of the angle between their normals is above
this."""


@kernel
def thin(mesh, normals, spacing):
    """Remove vertices that are not taxels, and vertices too close to another vertex at a seam.

    Args:
        mesh: The mesh, modified in place.
        normals: Outward normals (n, 3).
        spacing: Distance between taxels [m].
    """
    # First preserve the shape as far as possible, then ignore it.
    for worst, role in ((0.1, SPARE), (0.0, SPARE), (-1.5, LOST)):
        drop(mesh, role, worst)
    # Each of the two removals can enable the other.
    for worst, worst_cleared in ((0.1, 0.02), (0.0, 0.0), (0.0, -0.05)):
        _thin_seams(mesh, worst, SEAM_STEP * spacing)
        _clear_seams(mesh, worst_cleared, normals, NEAR * spacing)


@kernel
def drop(mesh, role, worst):
    """Remove vertices whose role is at least ``role``, unless a triangle would get worse than ``worst``.

    Args:
        mesh: The mesh, modified in place.
        role: Lowest role to remove.
        worst: Minimum quality of a triangle, see `mesh.quality_after`.
    """
    going = True
    while going:
        going = False
        for u in range(len(mesh.at)):
            if mesh.role[u] >= role and mesh.at[u] >= 0:
                v = _best_neighbour(mesh, u, worst)
                if v >= 0:
                    collapse(mesh, u, v)
                    going = True


@kernel
def _thin_seams(mesh, worst, least):
    """Collapse vertices along their seams, closest first, until they are at least ``least`` [m] apart.

    Vertices are kept if removing them would leave a triangle worse than ``worst``.
    """
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
                    length = distance(mesh, u, v)
                    if length < least:
                        lengths.append(length)
                        starts.append(u)
                        stops.append(v)
        touched = np.zeros(len(mesh.at), np.bool_)
        for e in np.argsort(np.array(lengths), kind="mergesort"):
            a, b = starts[e], stops[e]
            if a < 0 or touched[a] or touched[b]:
                continue
            # Junctions of seams are kept unless they are very close to another junction.
            close = lengths[e] < JUNCTION * least
            quality_a = quality_b = FORBIDDEN
            if mesh.role[a] == SEAM and (close or seam_edges(mesh, a) == 2):
                quality_a = quality_after(mesh, a, b)
            if mesh.role[b] == SEAM and (close or seam_edges(mesh, b) == 2):
                quality_b = quality_after(mesh, b, a)
            if max(quality_a, quality_b) < worst:
                continue
            touched[a] = touched[b] = going = True
            if quality_a >= quality_b:
                collapse(mesh, a, b)
            else:
                collapse(mesh, b, a)


@kernel
def _clear_seams(mesh, worst, normals, least):
    """Remove taxels that are closer than ``least`` [m] to a seam vertex on the same side of the taxel's geom.

    If the seam vertex is on another side, the minimum distance is half as large. Taxels are kept if removing
    them would leave a triangle worse than ``worst``.
    """
    for u in range(len(mesh.at)):
        if mesh.at[u] < 0 or (mesh.role[u] != TAXEL and seam_edges(mesh, u) > 0):
            continue
        near = False
        t = mesh.at[u]
        while True:
            k = corner(mesh.triangles, t, u)
            q = mesh.triangles[t, (k + 1) % 3]
            length = distance(mesh, u, q)
            if mesh.role[q] == SEAM and length < least:
                near = near or length < least / 2 or _alike(mesh, q, mesh.label[t], normals[u])
            t = mesh.across[t, (k + 1) % 3]
            if t == mesh.at[u]:
                break
        if near:
            v = _best_neighbour(mesh, u, worst)
            if v >= 0:
                collapse(mesh, u, v)


@kernel
def _alike(mesh, q, geom, normal):
    """Return whether a geom's surface around vertex q faces about the same direction as ``normal``."""
    x = y = z = 0.0
    t = mesh.at[q]
    while True:
        if mesh.label[t] == geom:
            x += mesh.facing[t, 0]
            y += mesh.facing[t, 1]
            z += mesh.facing[t, 2]
        t = mesh.across[t, (corner(mesh.triangles, t, q) + 1) % 3]
        if t == mesh.at[q]:
            break
    return x * normal[0] + y * normal[1] + z * normal[2] > ALIKE * np.sqrt(x * x + y * y + z * z)


@kernel
def _best_neighbour(mesh, u, worst):
    """Return the best neighbour to collapse u onto, or -1 if each leaves a triangle worse than ``worst``."""
    best, best_quality = -1, worst
    on_seam = seam_edges(mesh, u) > 0
    t = mesh.at[u]
    while True:
        k = corner(mesh.triangles, t, u)
        v = mesh.triangles[t, (k + 1) % 3]
        leaves_seam = on_seam and mesh.label[mesh.across[t, (k + 2) % 3]] == mesh.label[t]
        quality = quality_after(mesh, u, v)
        if quality > worst and (leaves_seam or mesh.role[v] >= SPARE):
            # Prefer vertices along the seam, and those that are kept.
            quality = worst + 1e-3 * (quality - worst)
        if quality > best_quality:
            best, best_quality = v, quality
        t = mesh.across[t, (k + 1) % 3]
        if t == mesh.at[u]:
            return best

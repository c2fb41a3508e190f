"""Build seams between the surfaces of a body's geoms, and enforce a minimum distance across grooves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from tactile_sim import _core
from tactile_sim.skin.placement.mesh import LOST, SEAM, SPARE, TAXEL, Mesh
from tactile_sim.skin.placement.outward import onto, outward
from tactile_sim.skin.placement.shapes import Shape

COINCIDENT = 1e-3
"""Surfaces closer to each other than this coincide [spacings]."""
TINY = 1e-6
"""Length of the step from an edge along its new normal, which must lead out of the geom [spacings]. It is too
small to cross the geom, even at an acute edge."""
CROWDED = 0.5
"""Minimum distance between taxels of two geoms that face each other across a groove [spacings]."""


def meet(
    mesh: Mesh,
    normals: np.ndarray,
    geom: np.ndarray,
    shapes: Sequence[Shape],
    near: np.ndarray,
    spacing: float,
) -> None:
    """Move the vertices at which polyhedra meet to the exact intersections of their geoms' surfaces.

    Each vertex is assigned to one of the geoms that meet there, preferably the geom with the fewest taxels,
    and gets a position and a normal on that geom.

    Args:
        mesh: The mesh, modified in place.
        normals: Normals (n, 3), modified in place.
        geom: Geom (n,) of each vertex, -1 for the vertices to move; modified in place.
        shapes: Shapes of the k geoms.
        near: Whether each pair of geoms may touch (k, k).
        spacing: Distance between taxels [m].
    """
    members, vertex = _members(mesh, geom, len(shapes))
    start = mesh.positions[vertex]
    place = _crossing(start, members, shapes, 0.3 * spacing)
    too_far = np.linalg.norm(place - start, axis=1) > 0.75 * spacing
    place[too_far] = start[too_far]
    settled = np.zeros(len(place), bool)
    # Vertices that fit no geom are marked for removal and assigned to the first geom, in case they must stay.
    for k, role in ((0, SEAM), (1, SEAM), (2, SEAM), (0, LOST)):
        for g in np.unique(members[~settled & (members[:, k] >= 0), k]).tolist():
            row = np.flatnonzero(~settled & (members[:, k] == g))
            exact = onto(shapes[g], place[row])
            inside = np.zeros(len(row), bool)
            for j in np.flatnonzero(near[g] & (role == SEAM)).tolist():
                inside |= shapes[j].depth(exact) > 2 * COINCIDENT * spacing
            row, exact = row[~inside], exact[~inside]
            settled[row] = True
            at = vertex[row]
            mesh.positions[at], geom[at], mesh.role[at] = exact, g, role
            normals[at] = outward(shapes[g], exact, COINCIDENT * spacing)
    _turn_to_visible(mesh, normals, geom, vertex, shapes, TINY * spacing)


def widen(mesh: Mesh, normals: np.ndarray, geom: np.ndarray, spacing: float) -> None:
    """Remove taxels that are too close to a taxel of another geom across a groove.

    Args:
        mesh: The mesh, modified in place.
        normals: Normals (n, 3).
        geom: Geom (n,) of each vertex.
        spacing: Distance between taxels [m].
    """
    there = np.flatnonzero(mesh.at >= 0)
    pairs = there[cKDTree(mesh.positions[there]).query_pairs(CROWDED * spacing, output_type="ndarray")]
    pairs = pairs[geom[pairs[:, 0]] != geom[pairs[:, 1]]]
    a, b = pairs.T
    way = mesh.positions[b] - mesh.positions[a]
    facing = (np.einsum("ij,ij->i", normals[a], way) > 0) & (np.einsum("ij,ij->i", normals[b], way) < 0)
    order = np.argsort(np.linalg.norm(way, axis=1), kind="stable")
    for pair in pairs[order[facing[order]]]:
        if (mesh.role[pair] != SPARE).all():
            mesh.role[pair[mesh.role[pair] == TAXEL][:1]] = SPARE
    for worst in (0.1, 0.0):
        _core.drop_vertices(*mesh, SPARE, worst)


def _members(mesh: Mesh, geom: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the geoms that meet at each new vertex.

    Returns:
        Up to three geoms (m, 3) for each new vertex, padded with -1, and the indices (m,) of these vertices.
    """
    pairs = np.stack([mesh.triangles.ravel(), np.repeat(mesh.label, 3)], axis=1)
    pairs = np.unique(pairs[geom[pairs[:, 0]] < 0], axis=0)
    taxels = np.bincount(geom[mesh.role == TAXEL], minlength=count)
    pairs = pairs[np.lexsort((pairs[:, 1], taxels[pairs[:, 1]], pairs[:, 0]))]
    vertex, first, number = np.unique(pairs[:, 0], return_index=True, return_counts=True)
    members = np.full((len(vertex), 3), -1)
    for k in range(3):
        members[number > k, k] = pairs[first[number > k] + k, 1]
    return members, vertex


def _crossing(start: np.ndarray, members: np.ndarray, shapes: Sequence[Shape], stride: float) -> np.ndarray:
    """Return positions near ``start`` where the surfaces of geoms intersect.

    Args:
        start: Positions (m, 3) [m].
        members: Up to three geoms (m, 3) that meet at each position, padded with -1.
        shapes: Shapes of the geoms.
        stride: Maximum step of an iteration [m].

    Returns:
        Positions (m, 3) [m].
    """
    place = start.copy()
    for _ in range(10):
        slope, height = np.zeros((len(place), 3, 3)), np.zeros((len(place), 3))
        for g in np.unique(members[members >= 0]).tolist():
            row, slot = np.nonzero(members == g)
            slope[row, slot] = outward(shapes[g], place[row])
            height[row, slot] = -shapes[g].depth(place[row])
        # Take the shortest step to zero height over all surfaces, to first order, damped if they graze.
        gram = slope @ slope.transpose(0, 2, 1) + 1e-4 * np.eye(3)
        way = -np.einsum("nki,nk->ni", slope, np.linalg.solve(gram, height[..., None])[..., 0])
        length = np.linalg.norm(way, axis=1, keepdims=True)
        place += way * np.minimum(1, stride / np.maximum(length, 1e-300))
    return place


def _turn_to_visible(
    mesh: Mesh,
    normals: np.ndarray,
    geom: np.ndarray,
    vertex: np.ndarray,
    shapes: Sequence[Shape],
    ahead: float,
) -> None:
    """Turn the normals of vertices at a geom's edge toward its visible faces if its other faces are hidden.

    Args:
        mesh: The mesh.
        normals: Normals (n, 3), modified in place.
        geom: Geom (n,) of each vertex.
        vertex: The vertices (m,) to consider.
        shapes: Shapes of the geoms.
        ahead: Distance at which a point along the new normal must be outside the geom [m].
    """
    angles = _angles(mesh.positions, mesh.triangles) * (mesh.label[:, None] == geom[mesh.triangles])
    weighted = angles[..., None] * mesh.facing[:, None, :]
    seen = np.zeros_like(mesh.positions)
    np.add.at(seen, mesh.triangles.ravel(), weighted.reshape(-1, 3))
    seen = seen[vertex]
    length = np.linalg.norm(seen, axis=1)
    seen /= np.maximum(length, 1e-300)[:, None]
    partly_hidden = (length > 0) & (np.einsum("ij,ij->i", seen, normals[vertex]) < 0.9)
    for g in np.unique(geom[vertex[partly_hidden]]).tolist():
        row = np.flatnonzero(partly_hidden & (geom[vertex] == g))
        row = row[shapes[g].depth(mesh.positions[vertex[row]] + ahead * seen[row]) < 0]
        normals[vertex[row]] = seen[row]


def _angles(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the angles (t, 3) at the corners of triangles [rad]."""
    corners = positions[triangles]
    one, other = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
    across = np.linalg.norm(np.cross(one, other), axis=2)
    return np.arctan2(across, np.einsum("tki,tki->tk", one, other))

"""Triangle meshes of primitives with the vertices of MIMo's ``sensormeshes``, in the same order.

The vertices are the sensors of MIMo's TrimeshTouch. The first argument of each function is the distance
between vertices [m].
Meshes are centerd on the origin with axes along z. All meshes except the mesh of the pipe are convex hulls of
their vertices. A primitive too small for the distance has one vertex at its center and no triangles.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tactile_sim.skin.placement import mimo_points as points


class Mesh(NamedTuple):
    """A triangle mesh with normals."""

    vertices: np.ndarray
    """Positions (n, 3) of the vertices [m]."""
    normals: np.ndarray
    """Outward unit normals (n, 3) of the primitive; at an edge, averaged over the adjacent faces."""
    triangles: np.ndarray
    """Vertex indices (t, 3) of the triangles, wound outward."""


def box(spacing: float, half: np.ndarray) -> Mesh:
    """Build the mesh of a box.

    Args:
        spacing: Distance between vertices [m].
        half: Half lengths (3,) [m].
    """
    if 0.75 * spacing > half.max():
        return _center()
    ijk, vertices, normals = points.box_grid(spacing, half)
    last = ijk.max(axis=0)
    stride = np.array([(last[1] + 1) * (last[2] + 1), last[2] + 1, 1])
    quads = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        grid = np.stack(np.meshgrid(np.arange(last[u]), np.arange(last[v]), indexing="ij"), axis=-1)
        low = grid.reshape(-1, 2) @ stride[[u, v]]
        a, b, c, d = low, low + stride[u], low + stride[u] + stride[v], low + stride[v]
        quads += [np.stack([a, d, c, b], axis=1), np.stack([a, b, c, d], axis=1) + last[axis] * stride[axis]]
    keys = ijk @ stride
    order = np.argsort(keys)
    corners = order[np.searchsorted(keys[order], np.concatenate(quads))]
    return Mesh(vertices, normals, np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]]))


def sphere(spacing: float, radius: float) -> Mesh:
    """Build the mesh of a sphere from the points of `mimo_points.sphere`.

    Args:
        spacing: Distance between vertices [m].
        radius: Radius [m].
    """
    return ellipsoid(spacing, np.full(3, radius))


def ellipsoid(spacing: float, radii: np.ndarray) -> Mesh:
    """Build the mesh of an ellipsoid over the points of `mimo_points.ellipsoid`.

    Args:
        spacing: Distance between vertices [m].
        radii: Radii (3,) [m].
    """
    vertices, normals = points.ellipsoid(spacing, radii)
    if len(vertices) == 1:
        return _center()
    count = np.array(points.sphere_rings(spacing, float(radii.max()))[1])
    return Mesh(vertices, normals, _zip(_starts(count)[::-1], count[::-1]))


def pipe(spacing: float, length: float, radius: float) -> Mesh:
    """Build the mesh of a pipe, open at both ends, from the points of `mimo_points.pipe`.

    Args:
        spacing: Distance between vertices [m].
        length: Length [m].
        radius: Radius [m].
    """
    vertices, normals = points.pipe(spacing, length, radius)
    around = points.round_pipe(spacing, radius)
    if around == 0:
        return _center()
    count = np.full(len(vertices) // around, around)
    return Mesh(vertices, normals, _bands(_starts(count), count))


def cylinder(spacing: float, length: float, radius: float) -> Mesh:
    """Build the mesh of a cylinder.

    The vertices of its side, which is a pipe, come first, then the vertices of the upper cap and those of the
    lower cap. The rings of each cap start at its center.

    Args:
        spacing: Distance between vertices [m].
        length: Length [m].
        radius: Radius [m].
    """
    around = points.round_pipe(spacing, radius)
    radii = points.cap_radii(spacing, radius)[:-1]
    if around < 3 or math.ceil(length / spacing) < 2 or len(radii) == 0:
        return _center()
    height = points.pipe_heights(spacing, length)
    up = np.r_[-np.sqrt(0.5), np.zeros(len(height) - 2), np.sqrt(0.5)]
    side = points.rings(np.full(len(height), around), radius, height, np.sqrt(1 - up**2), up)
    count = [1 if r == 0 else math.ceil(2 * math.pi * r / spacing) for r in radii]
    cap = points.rings(count, radii, length / 2, 0.0, 1.0)
    return _capped(side, len(height), cap, np.array(count))


def capsule(spacing: float, length: float, radius: float) -> Mesh:
    """Build the mesh of a capsule.

    The vertices of its side, which is a pipe, come first, then the vertices of the upper hemisphere and those
    of the lower hemisphere. The rings of each hemisphere start at its pole.

    Args:
        spacing: Distance between vertices [m].
        length: Length of the cylindrical part [m].
        radius: Radius [m].
    """
    around = points.round_pipe(spacing, radius)
    if around < 3:
        return _center()
    side = points.pipe(spacing, length, radius)
    number = math.ceil(math.pi * radius / (2 * spacing))
    theta = [i * math.pi / (2 * number) for i in range(number)]
    count = [max(1, math.ceil(2 * math.pi * math.sin(t) * radius / spacing)) for t in theta]
    sin, cos = np.sin(theta), np.cos(theta)
    cap = points.rings(count, radius * sin, radius * cos + length / 2, sin, cos)
    return _capped(side, len(side[0]) // around, cap, np.array(count))


def _capped(side: points.Points, levels: int, cap: points.Points, on_cap: np.ndarray) -> Mesh:
    """Mesh a pipe with caps at both ends; ``cap`` contains the rings of the upper cap from its center."""
    mirror = [1.0, 1.0, -1.0]
    vertices, normals = (np.concatenate([a, b, b * mirror]) for a, b in zip(side, cap, strict=True))
    on_side = np.full(levels, len(side[0]) // levels)
    upper = len(side[0]) + _starts(on_cap)
    lower = upper + len(cap[0])
    # Rings along the outline, from the center of the lower cap to that of the upper cap.
    first = np.concatenate([lower, _starts(on_side), upper[::-1]])
    return Mesh(vertices, normals, _zip(first, np.concatenate([on_cap, on_side, on_cap[::-1]])))


def _center() -> Mesh:
    return Mesh(*points.center(), np.empty((0, 3), np.int64))


def _starts(count: np.ndarray) -> np.ndarray:
    return np.cumsum(count) - count


def _zip(first: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return triangles (t, 3) of a closed mesh over rings of points, from the lowest ring to the highest."""
    fan = np.arange(1, count[0] - 1)
    bottom = first[0] + np.stack([0 * fan, fan + 1, fan], axis=1)
    fan = np.arange(1, count[-1] - 1)
    top = first[-1] + np.stack([0 * fan, fan, fan + 1], axis=1)
    return np.concatenate([bottom, _bands(first, count), top])


def _bands(first: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return triangles (t, 3) between consecutive rings, lowest first, of a convex surface around z.

    Each triangle between two regular polygons in parallel planes contains an edge of one of the polygons. On
    the convex hull, the triangles are in the order of the azimuths of these edges; the azimuth of the middle
    of edge i of n is (2i + 1) / 2n turns.

    Args:
        first: First point (k,) of each ring, at azimuth 0.
        count: Number of points (k,) of each ring; a ring of one point is a tip.
    """
    lower = _edge_triangles(first[:-1], count[:-1], first[1:], count[1:], ties=0)
    upper = _edge_triangles(first[1:], count[1:], first[:-1], count[:-1], ties=1)
    return np.concatenate([lower, upper[:, [1, 0, 2]]])


def _edge_triangles(
    first: np.ndarray, count: np.ndarray, first_other: np.ndarray, count_other: np.ndarray, ties: int
) -> np.ndarray:
    """Return the triangles that the edges of k rings form with points of the rings next to them.

    Args:
        first: First point (k,) of each ring.
        count: Number of points (k,) of each ring.
        first_other: First point (k,) of the ring next to each ring.
        count_other: Number of points (k,) of the ring next to each ring.
        ties: 1 if the edge of the other ring comes first when two edges have the same azimuth, otherwise 0.
    """
    edges = np.where(count > 1, count, 0)
    ring = np.repeat(np.arange(len(count)), edges)
    edge = np.arange(len(ring)) - np.repeat(_starts(edges), edges)
    n, m = count[ring], count_other[ring]
    # Number of preceding edges on the other ring, which are those with (2j + 1) n < (2i + 1) m.
    before = (((2 * edge + 1) * m - 1 + ties) // n + 1) // 2
    return np.stack(
        [first[ring] + edge, first[ring] + (edge + 1) % n, first_other[ring] + before % m], axis=1
    )

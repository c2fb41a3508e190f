"""Distribute points evenly where `tactile_sim.skin.placement.even` does not suit feelers.

The functions place points on the triangles of a mesh rather than on its convex hull, and on a cylinder
except its rims, where a feeler would have no unique normal.
"""

from __future__ import annotations

import numpy as np

from tactile_sim import _core

APART = 0.8
"""Minimum distance between points [spacings].

Random points that keep a distance d to all earlier ones have a density of 0.70 per d² when no more fit
(Feder 1980). With a limited number of candidates (`DRAWN`), it is slightly lower: about one per spacing².
"""
DRAWN = 40
"""Number of random candidates that are drawn per spacing² of surface. More candidates leave fewer gaps."""


def over_triangles(corners: np.ndarray, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points on a mesh, about one per spacing² and at least 0.8 spacings apart.

    Points on opposite sides of a thin part do not count as neighbours; points on adjacent faces do. The
    result is deterministic.

    Args:
        corners: (t, 3, 3) corners of the triangles, counter-clockwise seen from outside [m].
        spacing: Distance between neighbours [m].

    Returns:
        faces: Index of the triangle that contains each point (n,).
        weights: Barycentric coordinates of each point in its triangle (n, 3).
    """
    a, b, c = np.moveaxis(corners, 1, 0)
    across = np.cross(b - a, c - a)
    doubled = np.linalg.norm(across, axis=1)
    up_to = np.cumsum(doubled / 2)
    count = DRAWN * max(int(np.ceil(up_to[-1] / spacing**2)), 6)
    random = np.random.default_rng(0)
    face = np.searchsorted(up_to, (np.arange(count) + random.random(count)) / count * up_to[-1])
    face = np.minimum(face, np.flatnonzero(doubled > 0)[-1])
    s, t = np.sqrt(random.random(count)), random.random(count)
    weights = np.stack([1 - s, s * (1 - t), s * t], axis=1)
    points = np.einsum("nk,nki->ni", weights, corners[face])
    normals = across / np.maximum(doubled, 1e-300)[:, None]
    taken = _core.keep_apart(points, normals[face], random.permutation(count), APART * spacing)
    return face[taken], weights[taken]


def over_cylinder(radius: float, half: float, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points on a cylinder along z, in rows on its side and in spirals on its ends.

    Args:
        radius: Radius of the cylinder [m].
        half: Half length of the cylinder [m].
        spacing: Distance between neighbours [m].

    Returns:
        Positions (n, 3) [m] and outward unit normals (n, 3).
    """
    rows = max(1, round(2 * half / spacing))
    in_row = max(3, round(2 * np.pi * radius / spacing))
    row, step = np.divmod(np.arange(rows * in_row), in_row)
    turn = 2 * np.pi * (step + 0.5 + (row % 2) / 2) / in_row
    out = np.stack([np.cos(turn), np.sin(turn), np.zeros(len(turn))], axis=1)
    side = radius * out + np.outer((2 * row + 1) / rows - 1, [0, 0, half])
    # A spiral with equal areas and golden angles (Vogel 1979).
    count = max(1, round(np.pi * (radius / spacing) ** 2))
    k = np.arange(count)
    turn, r = k * np.pi * (3 - np.sqrt(5)), radius * np.sqrt((k + 0.5) / count)
    end = np.stack([r * np.cos(turn), r * np.sin(turn), np.full(count, half)], axis=1)
    up = np.tile([0.0, 0.0, 1.0], (count, 1))
    lower = end * [1, 1, -1]
    return np.concatenate([end, side, lower]), np.concatenate([up, out, -up])

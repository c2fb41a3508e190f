"""The geoms of a body as one: what of their surfaces lies on its outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.skin.shapes import Shape
from tactile_sim.skin.surface import BodySurface, Surface

COINCIDENT = 1e-3
"""Surfaces nearer to each other than this lie on each other, in spacings."""
JOINED = 0.5
"""Geoms of a body nearer to each other than this carry one skin over the gap, in spacings."""
SEAM = 1.5
"""Taxels of joined geoms nearer to each other than this are neighbours, in spacings."""


def join(
    geom_ids: np.ndarray, shapes: Sequence[Shape], surfaces: Sequence[Surface], spacing: float
) -> BodySurface:
    """The skin of a body of its geoms' surfaces.

    A taxel is left out where it lies inside another geom of the body, where the two touch face to face, and
    where an earlier geom has the very same surface. A body always keeps a taxel: if none would be left, the
    least deep.
    """
    kept, joined = _visible(shapes, surfaces, COINCIDENT * spacing, JOINED * spacing)
    parts = BodySurface.of_parts(geom_ids, surfaces, kept)
    seams = _seams(parts.positions, parts.geom_index, joined, SEAM * spacing)
    return replace(parts, edges=np.concatenate([parts.edges, seams]))


def _visible(
    shapes: Sequence[Shape], surfaces: Sequence[Surface], coincident: float, near: float
) -> tuple[np.ndarray, np.ndarray]:
    """Whether each taxel is on the body's outside (n,), and whether each two geoms are joined (k, k)."""
    joined = np.eye(len(shapes), dtype=bool)
    hidden, depths = [], []
    for i, surface in enumerate(surfaces):
        inside = np.zeros(len(surface), bool)
        deepest = np.full(len(surface), -np.inf)
        for j, shape in enumerate(shapes):
            if i == j:
                continue
            depth = shape.depth(surface.positions)
            beyond = shape.depth(surface.positions + 2 * coincident * surface.normals)
            inside |= (depth > coincident) | (beyond > coincident)
            if j < i:
                inside |= np.abs(depth) <= coincident
            np.maximum(deepest, depth, out=deepest)
            joined[i, j] = (depth > -near).any()
        hidden.append(inside)
        depths.append(deepest)
    kept = ~np.concatenate(hidden)
    if not kept.any():
        kept[np.argmin(np.concatenate(depths))] = True
    return kept, joined | joined.T


def _seams(positions: np.ndarray, geom_index: np.ndarray, joined: np.ndarray, reach: float) -> np.ndarray:
    """(e, 2) pairs of near taxels on different geoms that are joined."""
    if len(joined) == 1:
        return np.empty((0, 2), np.int64)
    pairs = cKDTree(positions).query_pairs(reach, output_type="ndarray")
    first, second = geom_index[pairs[:, 0]], geom_index[pairs[:, 1]]
    return pairs[(first != second) & joined[first, second]]

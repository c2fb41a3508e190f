"""The skin of one body: its geoms' surfaces as one, without what lies inside another geom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.errors import SceneError
from tactile_sim.names import Names
from tactile_sim.skin.shapes import Shape
from tactile_sim.skin.surface import Surface

COINCIDENT = 1e-3
"""Surfaces nearer to each other than this lie on each other, in spacings."""
JOINED = 0.5
"""Geoms of a body nearer to each other than this carry one skin over the gap, in spacings."""
SEAM = 1.5
"""Taxels of joined geoms nearer to each other than this are neighbours, in spacings."""


@dataclass(frozen=True)
class BodySurface:
    """The taxels of one body, geom after geom, in its frame."""

    geom_ids: np.ndarray
    """(k,) of its colliding geoms."""
    positions: np.ndarray
    """(n, 3) [m]."""
    normals: np.ndarray
    """(n, 3) outward, unit."""
    areas: np.ndarray
    """(n,) [m2]."""
    geom_index: np.ndarray
    """(n,) uint16 into geom_ids."""
    triangles: np.ndarray
    """(t, 3) uint32 indices of taxels, wound outward."""
    edges: np.ndarray
    """(e, 2) pairs of taxels that are neighbours on the surface."""


def merge(
    model: mujoco.MjModel, body: int, spacing: float, cover: Callable[[Shape, float], Surface], names: Names
) -> BodySurface:
    """The skin of a body.

    A taxel is left out where it lies inside another geom of the body, where the two touch face to face, and
    where an earlier geom has the very same surface. A body always keeps a taxel: if none would be left, the
    least deep.

    Raises SceneError where the body has no colliding geom, or one that cannot bear a skin.
    """
    geoms = colliding_geoms(model, body)
    if len(geoms) == 0:
        lacks = "its geoms do not collide" if model.body_geomnum[body] else "it has no geom"
        raise SceneError(
            f"body {names.bodies[body]!r} cannot bear a skin: {lacks}; give it a geom with a contype or "
            "conaffinity other than 0, or take it out of skin.scales"
        )
    shapes = [Shape.of_geom(model, geom) for geom in geoms]
    surfaces = [cover(shape, spacing) for shape in shapes]
    kept, joined = _visible(shapes, surfaces, COINCIDENT * spacing, JOINED * spacing)

    geom_index = np.repeat(np.arange(len(geoms)), [len(surface) for surface in surfaces])
    start = np.r_[0, np.cumsum([len(surface) for surface in surfaces])]
    new_index = np.cumsum(kept) - 1
    triangles = np.concatenate([surface.triangles + start[i] for i, surface in enumerate(surfaces)])
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    # Each side is there once in either direction.
    sides = sides[(sides[:, 0] < sides[:, 1]) & kept[sides].all(axis=1)]
    positions = np.concatenate([surface.positions for surface in surfaces])[kept]
    geom_index = geom_index[kept]
    return BodySurface(
        geoms,
        positions,
        np.concatenate([surface.normals for surface in surfaces])[kept],
        np.concatenate([surface.areas for surface in surfaces])[kept],
        geom_index.astype(np.uint16),
        new_index[triangles[kept[triangles].all(axis=1)]].astype(np.uint32),
        np.concatenate([new_index[sides], _seams(positions, geom_index, joined, SEAM * spacing)]),
    )


def colliding_geoms(model: mujoco.MjModel, body: int) -> np.ndarray:
    """(k,) int32 ids of a body's geoms that can be in a contact: by their masks or by an explicit pair."""
    geoms = model.body_geomadr[body] + np.arange(model.body_geomnum[body])
    masked = (model.geom_contype[geoms] != 0) | (model.geom_conaffinity[geoms] != 0)
    paired = np.isin(geoms, np.r_[model.pair_geom1, model.pair_geom2])
    return geoms[masked | paired].astype(np.int32)


def _visible(
    shapes: list[Shape], surfaces: list[Surface], coincident: float, near: float
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

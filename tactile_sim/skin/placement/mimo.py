"""Placement `mimo`: taxels at the sensor positions of MIMo's touch library, in the same order.

The taxels of a body are the vertices of its geoms' `mimo_meshes`, except vertices inside or on the convex
hull of another geom's vertices. The taxels of a geom with a separate skin are all of its `mimo_points`. The
distance to the nearest neighbor is 0.2 to 1.24 times the spacing. A geom too small for the spacing has one
taxel at its center, which represents its whole surface and has the normal 0.

This placement also supports two cases in which MIMo fails: meshes have `even` taxels on their collision
shape, and a body whose geoms all hide each other keeps its least deep taxel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial import cKDTree

from tactile_sim import _core
from tactile_sim.skin.placement import even, mimo_meshes, mimo_points
from tactile_sim.skin.placement.merge import Placement
from tactile_sim.skin.placement.shapes import Shape
from tactile_sim.skin.placement.surface import BodySurface, Surface
from tactile_sim.skin.placement.triangulate import triangulate

ON = 1e-8
"""Points closer to a hull than this count as being on it [spacings]."""
LINK = 2.0
"""Taxels of two geoms are neighbors if they are closer to each other than this [spacings]."""
NO_TRIANGLES = np.empty((0, 3), np.int64)


def cover(shape: Shape, spacing: float) -> Surface:
    """Place taxels with a spacing [m] on a geom that is part of a body; return them in the body's frame."""
    if shape.kind == "mesh":
        return even.cover(shape, spacing)
    return _surface(shape, *getattr(mimo_meshes, shape.kind)(spacing, *_sizes(shape)))


def alone(shape: Shape, spacing: float) -> Surface:
    """Place taxels with a spacing [m] on a geom with a separate skin; return them in its body's frame."""
    if shape.kind == "mesh":
        return even.cover(shape, spacing)
    positions, normals = getattr(mimo_points, shape.kind)(spacing, *_sizes(shape))
    triangles = triangulate(positions, normals) if len(positions) > 1 else NO_TRIANGLES
    return _surface(shape, positions, normals, triangles)


def join(
    geom_ids: np.ndarray, shapes: Sequence[Shape], surfaces: Sequence[Surface], spacing: float
) -> BodySurface:
    """Build the skin of a body from its geoms' surfaces; arguments as in `merge.Join`."""
    parts = BodySurface.of_parts(geom_ids, surfaces, _visible(shapes, surfaces, ON * spacing))
    if len(surfaces) == 1:
        return parts
    pairs = cKDTree(parts.positions).query_pairs(LINK * spacing, output_type="ndarray")
    links = pairs[np.diff(parts.geom_index[pairs].astype(int), axis=1).ravel() != 0]
    return replace(parts, edges=np.concatenate([parts.edges, links]))


PLACEMENT = Placement(cover, join, alone)


def _sizes(shape: Shape) -> tuple:
    """Return the size arguments of the functions in `mimo_points` and `mimo_meshes` for a shape."""
    a, b, _ = shape.size
    match shape.kind:
        case "sphere":
            return (a,)
        case "cylinder" | "capsule":
            return 2 * b, a
        case _:
            return (shape.size,)


def _surface(shape: Shape, positions: np.ndarray, normals: np.ndarray, triangles: np.ndarray) -> Surface:
    """Create a surface. Triangle areas are divided among the corners and scaled to sum to the geom's area."""
    if len(positions) == 1:
        surface = Surface(positions, np.zeros((1, 3)), np.array([shape.area]), triangles)
    else:
        a, b, c = np.moveaxis(positions[triangles], 1, 0)
        third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6
        areas = np.bincount(triangles.ravel(), np.repeat(third, 3), minlength=len(positions))
        surface = Surface(positions, normals, areas * (shape.area / areas.sum()), triangles)
    return surface.moved(shape.rotation, shape.position)


def _visible(shapes: Sequence[Shape], surfaces: Sequence[Surface], on: float) -> np.ndarray:
    """Return whether each taxel (n,) is outside the hulls of all other geoms' taxels.

    Geoms with a single taxel hide nothing. If all taxels are hidden, the least deep one counts as visible.

    Args:
        shapes: Shapes of the geoms.
        surfaces: Surfaces of the geoms, with n taxels in total.
        on: Points closer to a hull than this count as being on it, and thus as hidden [m].
    """
    hidden, depths = [], []
    for surface in surfaces:
        inside = np.zeros(len(surface), bool)
        deepest = np.full(len(surface), -np.inf)
        for shape, sibling in zip(shapes, surfaces, strict=True):
            if sibling is surface or len(sibling) == 1:
                continue
            depth = shape.depth(surface.positions)
            np.maximum(deepest, depth, out=deepest)
            near = (depth >= -on) & ~inside
            inside[near] = _in_hull(shape, sibling, surface.positions[near], on)
        hidden.append(inside)
        depths.append(deepest)
    kept = ~np.concatenate(hidden)
    if not kept.any():
        kept[np.argmin(np.concatenate(depths))] = True
    return kept


def _in_hull(shape: Shape, surface: Surface, points: np.ndarray, on: float) -> np.ndarray:
    """Return whether points (m, 3) in or on a shape are in or on the hull of its taxels."""
    if shape.kind in ("box", "mesh"):
        return np.ones(len(points), bool)
    a, b, c = np.moveaxis(surface.positions[surface.triangles], 1, 0)
    across = np.cross(b - a, c - a)
    normals = across / np.linalg.norm(across, axis=1, keepdims=True)
    return _core.depth_in_hull(points, normals, np.einsum("ij,ij->i", normals, a) + on) >= 0.0

"""Outward normals of geoms, and projection onto their surfaces."""

from __future__ import annotations

import numpy as np

from tactile_sim import _core
from tactile_sim.skin.placement.shapes import Shape


def outward(shape: Shape, points: np.ndarray, blur: float = 0.0) -> np.ndarray:
    """Return a geom's outward unit normals at the points of its surface that are nearest to given points.

    Args:
        shape: The geom.
        points: Points (n, 3) inside the geom or close to it, in its body's frame [m].
        blur: Normals are averaged over all faces at most this much farther away than the nearest face [m].

    Returns:
        Normals (n, 3) in the body's frame.
    """
    p = (points - shape.position) @ shape.rotation
    a, b, _ = shape.size
    match shape.kind:
        case "sphere":
            normals = p
        case "capsule":
            p[:, 2] -= np.clip(p[:, 2], -b, b)
            normals = p
        case "cylinder":
            radius = np.hypot(p[:, 0], p[:, 1])
            side, end = a - radius, b - np.abs(p[:, 2])
            on_side = (side <= end + blur) & (radius > 0)
            normals = np.zeros_like(p)
            normals[on_side, :2] = p[on_side, :2] / radius[on_side, None]
            normals[:, 2] = np.where(end <= side + blur, np.sign(p[:, 2]), 0.0)
        case "box":
            depths = shape.size - np.abs(p)
            normals = np.where(depths <= depths.min(axis=1, keepdims=True) + blur, np.sign(p), 0.0)
        case "ellipsoid":
            normals = p / shape.size**2
        case _:
            assert shape.hull is not None, "meshes have a hull"
            normals = _core.hull_normals(p, shape.hull.normals, shape.hull.offsets, blur)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    # At the center all directions are equivalent.
    normals = np.where(length > 0, normals / np.where(length > 0, length, 1.0), [0.0, 0.0, 1.0])
    return normals @ shape.rotation.T


def onto(shape: Shape, points: np.ndarray) -> np.ndarray:
    """Project points close to a geom's surface onto the surface.

    Args:
        shape: The geom.
        points: Points (n, 3) in its body's frame [m].

    Returns:
        Points (n, 3) in the body's frame [m].
    """
    p = (points - shape.position) @ shape.rotation
    a, b, _ = shape.size
    match shape.kind:
        case "sphere":
            p *= a / np.linalg.norm(p, axis=1, keepdims=True)
        case "capsule":
            axial = np.clip(p[:, 2], -b, b)
            p[:, 2] -= axial
            p *= a / np.linalg.norm(p, axis=1, keepdims=True)
            p[:, 2] += axial
        case "cylinder":
            radius = np.hypot(p[:, 0], p[:, 1])
            on_side = np.abs(a - radius) <= np.abs(b - np.abs(p[:, 2]))
            p[:, :2] *= (np.where(on_side, a, np.minimum(radius, a)) / np.maximum(radius, 1e-300))[:, None]
            p[:, 2] = np.where(on_side, np.clip(p[:, 2], -b, b), np.copysign(b, p[:, 2]))
        case "box":
            row, face = np.arange(len(p)), np.argmin(np.abs(shape.size - np.abs(p)), axis=1)
            p = np.clip(p, -shape.size, shape.size)
            p[row, face] = np.copysign(shape.size[face], p[row, face])
        case "ellipsoid":
            p /= np.linalg.norm(p / shape.size, axis=1, keepdims=True)
        case _:
            assert shape.hull is not None, "meshes have a hull"
            p = _core.onto_hull(p, shape.hull.normals, shape.hull.offsets, shape.hull.vertices.mean(axis=0))
    return p @ shape.rotation.T + shape.position

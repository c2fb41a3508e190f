"""Find the closest points on the collision surface of a body."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tactile_sim.skin.placement.shapes import Hull, Shape

ROUNDS = 30
"""Number of Newton iterations for an ellipsoid."""
CHUNK = 2_000_000
"""Maximum number of point-triangle pairs that are processed at once."""
INSIDE = 1e-6
"""Depth inside another geom above which a point is not on the surface of the body [m]."""


def project(shapes: Sequence[Shape], points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Project points onto the surface of a body.

    Args:
        shapes: The colliding geoms of the body.
        points: (n, 3) points in the body's frame [m].

    Returns:
        The closest points (n, 3) [m], their distances (n,) from ``points`` [m], and the index (n,) of the
        shape on which each is located.
    """
    candidates = np.stack([closest_points(shape, points) for shape in shapes])
    distances = np.linalg.norm(candidates - points, axis=2)
    order = distances.copy()
    for k, candidate in enumerate(candidates):
        for j, shape in enumerate(shapes):
            if j != k:
                # Prefer any point on the outer surface to one that another geom covers.
                order[k] += np.where(shape.depth(candidate) > INSIDE, 1e3, 0.0)
    best, every = np.argmin(order, axis=0), np.arange(len(points))
    return candidates[best, every], distances[best, every], best


def closest_points(shape: Shape, points: np.ndarray) -> np.ndarray:
    """Return the closest point on a geom's surface to each of the points (n, 3), in the body's frame [m]."""
    p = (points - shape.position) @ shape.rotation
    a, b, _ = shape.size
    match shape.kind:
        case "sphere":
            q = a * _directions(p)
        case "capsule":
            middle = np.zeros_like(p)
            middle[:, 2] = np.clip(p[:, 2], -b, b)
            q = middle + a * _directions(p - middle)
        case "cylinder":
            q = _on_cylinder(p, a, b)
        case "box":
            q = np.clip(p, -shape.size, shape.size)
            inside = np.flatnonzero((np.abs(p) < shape.size).all(axis=1))
            axis = np.argmin(shape.size - np.abs(p[inside]), axis=1)
            q[inside, axis] = np.copysign(shape.size[axis], p[inside, axis])
        case "ellipsoid":
            q = _on_ellipsoid(p, shape.size)
        case _:
            assert shape.hull is not None, "meshes have a hull"
            q = _on_hull(p, shape.hull)
    return q @ shape.rotation.T + shape.position


def _directions(vectors: np.ndarray) -> np.ndarray:
    """Normalize vectors; zero vectors become +z."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(lengths > 0, vectors / np.where(lengths > 0, lengths, 1.0), [0.0, 0.0, 1.0])


def _on_cylinder(p: np.ndarray, radius: float, half: float) -> np.ndarray:
    around = np.hypot(p[:, 0], p[:, 1])
    spoke = np.where(around[:, None] > 0, p[:, :2] / np.where(around > 0, around, 1.0)[:, None], [1.0, 0.0])
    inside = (around < radius) & (np.abs(p[:, 2]) < half)
    to_wall = inside & (radius - around < half - np.abs(p[:, 2]))
    to_cap = inside & ~to_wall
    out = np.where(to_wall, radius, np.minimum(around, radius))
    z = np.where(to_cap, np.copysign(half, p[:, 2]), np.clip(p[:, 2], -half, half))
    return np.column_stack([out[:, None] * spoke, z])


def _on_ellipsoid(p: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Return the closest points on an ellipsoid to the points p (n, 3), in the ellipsoid's frame [m].

    The closest point is q = r² p / (r² + t), where r are the radii (3,). Newton's method finds the t for
    which |q / r| = 1.
    """
    p = np.where(np.abs(p) > 1e-9 * radii.min(), p, np.copysign(1e-9 * radii.min(), p))
    squares = radii**2
    # Above -min(squares), the function decreases and is convex, so start at a t where it is positive.
    t = (-squares + radii * np.abs(p)).max(axis=1)
    for _ in range(ROUNDS):
        scaled = radii * p / (squares + t[:, None])
        value = (scaled**2).sum(axis=1) - 1.0
        t += value / (2.0 * (scaled**2 / (squares + t[:, None])).sum(axis=1))
    return squares * p / (squares + t[:, None])


def _on_hull(p: np.ndarray, hull: Hull) -> np.ndarray:
    corners = hull.vertices[hull.faces]
    step = max(1, CHUNK // len(corners))
    parts = [_on_triangles(p[k : k + step], corners) for k in range(0, len(p), step)]
    return np.concatenate(parts) if parts else p


def _on_triangles(p: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return, for each point p (n, 3), the closest point (n, 3) on any of the triangles (t, 3, 3)."""
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(u, v)
    kept = np.linalg.norm(normal, axis=1) > 0
    corners, a, u, v, normal = corners[kept], a[kept], u[kept], v[kept], normal[kept]
    w = p[:, None] - a
    square = (normal**2).sum(axis=1)
    gamma = np.einsum("tj,ntj->nt", normal, np.cross(u, w)) / square
    beta = np.einsum("tj,ntj->nt", normal, np.cross(w, v)) / square
    inner = (beta >= 0) & (gamma >= 0) & (beta + gamma <= 1)
    best = a + beta[..., None] * u + gamma[..., None] * v
    distance = np.where(inner, ((best - p[:, None]) ** 2).sum(axis=2), np.inf)
    for k in range(3):
        start, along = corners[:, k], corners[:, (k + 1) % 3] - corners[:, k]
        s = np.clip(((p[:, None] - start) * along).sum(axis=2) / (along**2).sum(axis=1), 0, 1)
        point = start + s[..., None] * along
        away = ((point - p[:, None]) ** 2).sum(axis=2)
        closer = away < distance
        best, distance = np.where(closer[..., None], point, best), np.minimum(away, distance)
    return best[np.arange(len(p)), np.argmin(distance, axis=1)]

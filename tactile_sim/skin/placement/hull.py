"""Projection of points onto a convex polytope."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel


@kernel
def project_to_hull(points, at, normals, offsets, first, beside):
    """Project points onto a polytope around the origin.

    Args:
        points: Points (n, 3) near the polytope [m].
        at: Plane (n,) found for each point in the previous call, updated in place.
        normals: Outward unit normals (h, 3) of the planes.
        offsets: Offsets (h,) of the planes [m].
        first: Start (h + 1,) of each plane's list in ``beside``.
        beside: For each plane, the list of planes that share an edge with it, concatenated.

    Returns:
        Points (n, 3) on the polytope [m], and outward unit normals (n, 3).
    """
    places, outward = np.empty_like(points), np.empty_like(points)
    for i in range(len(points)):
        x, y, z = points[i]
        plane = at[i]
        # Project repeatedly onto the plane that the ray crosses first, then exactly along the ray.
        for _ in range(8):
            plane, best = _uphill(x, y, z, plane, normals, offsets, first, beside)
            height = (best - 1.0) * offsets[plane]
            if abs(height) <= 1e-12 * offsets[plane]:
                break
            x -= height * normals[plane, 0]
            y -= height * normals[plane, 1]
            z -= height * normals[plane, 2]
        plane, best = _uphill(x, y, z, plane, normals, offsets, first, beside)
        at[i] = plane
        places[i] = x / best, y / best, z / best
        # On an edge or a corner, use the mean normal of the adjacent planes.
        outward[i] = normals[plane]
        for e in range(first[plane], first[plane + 1]):
            h = beside[e]
            if (normals[h, 0] * x + normals[h, 1] * y + normals[h, 2] * z) / offsets[h] > best * (1 - 1e-9):
                outward[i] += normals[h]
        outward[i] /= np.sqrt((outward[i] ** 2).sum())
    return places, outward


@kernel
def _uphill(x, y, z, plane, normals, offsets, first, beside):
    """Find the plane of a polytope that the ray from the origin through a point crosses first.

    That plane has the largest (normal · point) / offset, which is a linear function on the corners of the
    dual polytope, so hill climbing over adjacent planes finds the maximum.

    Returns:
        The plane, and its (normal · point) / offset, which is 1 on the surface.
    """
    best = (normals[plane, 0] * x + normals[plane, 1] * y + normals[plane, 2] * z) / offsets[plane]
    climbing = True
    while climbing:
        climbing = False
        for e in range(first[plane], first[plane + 1]):
            h = beside[e]
            value = (normals[h, 0] * x + normals[h, 1] * y + normals[h, 2] * z) / offsets[h]
            if value > best:
                best, plane, climbing = value, h, True
                break
    return plane, best

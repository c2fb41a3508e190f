"""Points on geometric primitives, compatible with MIMo's ``mimoTouch.sensorpoints``.

All primitives are centered on the origin with their axis along z. ``resolution`` is the approximate distance
between points [m]. Each function returns positions (n, 3) [m]; with ``return_normals``, a tuple of positions
and outward unit normals (n, 3). A primitive that is too small for the resolution has one point at its center
with the normal (0, 0, 1). The points are identical to MIMo's, in the same order. Invalid arguments raise
`TactileSimError`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.skin.placement import mimo_points
from tactile_sim.skin.placement.mimo_points import checked

Points = np.ndarray | tuple[np.ndarray, np.ndarray]


def spread_points_box(resolution: float, sizes: ArrayLike, return_normals: bool = False) -> Points:
    """Spread points on a grid on each face of a box with half lengths (3,) of its edges [m]."""
    return _given(mimo_points.box(*checked("spread_points_box", resolution, sizes=sizes)), return_normals)


def spread_points_sphere(resolution: float, radius: float, return_normals: bool = False) -> Points:
    """Spread points on rings of latitude of a sphere with a radius [m]."""
    points = mimo_points.sphere(*checked("spread_points_sphere", resolution, radius=radius))
    return _given(points, return_normals)


def spread_points_ellipsoid(resolution: float, radii: ArrayLike, return_normals: bool = False) -> Points:
    """Spread points on an ellipsoid with radii (3,) [m]: those of a sphere of its largest radius, scaled."""
    points = mimo_points.ellipsoid(*checked("spread_points_ellipsoid", resolution, radii=radii))
    return _given(points, return_normals)


def spread_points_pipe(
    resolution: float, length: float, radius: float, return_normals: bool = False
) -> Points:
    """Spread points on rings along a pipe without caps, with a length and a radius [m]."""
    points = mimo_points.pipe(*checked("spread_points_pipe", resolution, length=length, radius=radius))
    return _given(points, return_normals)


def spread_points_cylinder(
    resolution: float, length: float, radius: float, return_normals: bool = False
) -> Points:
    """Spread points on rings on the side and both caps of a cylinder with a length and a radius [m].

    Normals at the rims point obliquely. A single point results if a ring would have fewer than three points
    or the length is at most the resolution.
    """
    points = mimo_points.cylinder(
        *checked("spread_points_cylinder", resolution, length=length, radius=radius)
    )
    return _given(points, return_normals)


def spread_points_capsule(
    resolution: float, length: float, radius: float, return_normals: bool = False
) -> Points:
    """Spread points on rings on the cylinder and both hemispheres of a capsule.

    ``length`` is that of the cylinder [m], and ``radius`` [m] that of all parts. A single point results if a
    ring would have fewer than three points.
    """
    points = mimo_points.capsule(*checked("spread_points_capsule", resolution, length=length, radius=radius))
    return _given(points, return_normals)


def _given(points: tuple[np.ndarray, np.ndarray], return_normals: bool) -> Points:
    return points if return_normals else points[0]

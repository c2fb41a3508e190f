"""Points spread over geometric primitives, as MIMo's ``mimoTouch.sensorpoints`` spreads them.

All primitives are centred on the origin, their axes along z. Every function returns the positions (n, 3)
[m] and, with ``return_normals``, outward unit normals (n, 3) as well. A primitive too small for the
resolution has one point at its centre, with the normal (0, 0, 1). Points lie where MIMo has them, in its
order. Arguments that make no sense raise `TactileSimError`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.skin.placement import mimo_points
from tactile_sim.skin.placement.mimo_points import checked

Points = np.ndarray | tuple[np.ndarray, np.ndarray]


def spread_points_box(resolution: float, sizes: ArrayLike, return_normals: bool = False) -> Points:
    """Points on a grid over each face of a box; one at the centre if the resolution is above all sizes.

    resolution: about the distance between points [m]; sizes (3,): half of the edges [m].
    """
    return _given(mimo_points.box(*checked("spread_points_box", resolution, sizes=sizes)), return_normals)


def spread_points_sphere(resolution: float, radius: float, return_normals: bool = False) -> Points:
    """Points on rings of latitude; one at the centre if the resolution is above the radius.

    resolution: about the distance between points [m]; radius [m].
    """
    return _given(
        mimo_points.sphere(*checked("spread_points_sphere", resolution, radius=radius)), return_normals
    )


def spread_points_ellipsoid(resolution: float, radii: ArrayLike, return_normals: bool = False) -> Points:
    """The points of a sphere of the largest radius, scaled along each axis: the nearer the flatter it is.

    resolution: about the largest distance between points [m]; radii (3,) along the axes [m].
    """
    return _given(
        mimo_points.ellipsoid(*checked("spread_points_ellipsoid", resolution, radii=radii)), return_normals
    )


def spread_points_pipe(
    resolution: float, length: float, radius: float, return_normals: bool = False
) -> Points:
    """Points on rings along a pipe without caps.

    resolution: about the distance between points [m]; length [m] and radius [m].
    """
    return _given(
        mimo_points.pipe(*checked("spread_points_pipe", resolution, length=length, radius=radius)),
        return_normals,
    )


def spread_points_cylinder(
    resolution: float, length: float, radius: float, return_normals: bool = False
) -> Points:
    """Points on rings along the side and on both caps; on the rims, normals lean out.

    One at the centre if there would be fewer than three around or the length is within the resolution.
    resolution: about the distance between points [m]; length [m] and radius [m].
    """
    return _given(
        mimo_points.cylinder(*checked("spread_points_cylinder", resolution, length=length, radius=radius)),
        return_normals,
    )


def spread_points_capsule(
    resolution: float, length: float, radius: float, return_normals: bool = False
) -> Points:
    """Points on rings along the pipe and on both hemispheres; one at the centre if fewer than three around.

    resolution: about the distance between points [m]; length: without the hemispheres [m]; radius [m].
    """
    return _given(
        mimo_points.capsule(*checked("spread_points_capsule", resolution, length=length, radius=radius)),
        return_normals,
    )


def _given(points: tuple[np.ndarray, np.ndarray], return_normals: bool) -> Points:
    return points if return_normals else points[0]

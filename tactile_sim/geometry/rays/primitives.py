"""Compute the exact intersections of a line with convex solids, in the frame of the solid.

The arguments of all functions are a point (x, y, z) on the line [m], the line's unit direction (u, v, w) and
sizes as in MuJoCo's ``geom_size`` [m]. The functions return the distances from the point, along the
direction, at which the line enters and leaves the solid [m], or `MISS`.
"""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel

MISS = (np.inf, -np.inf)
"""Result for a line that misses the solid."""


@kernel(error_model="numpy")
def intersect_plane(x, y, z, u, v, w):
    """Return the distances [m] at which a line enters and leaves the half space z < 0, or `MISS`.

    As in MuJoCo's contacts, the plane is unbounded. The module docstring describes the arguments.
    """
    if w == 0.0:
        return (-np.inf, np.inf) if z <= 0.0 else MISS
    return (-z / w, np.inf) if w < 0.0 else (-np.inf, -z / w)


@kernel(error_model="numpy")
def intersect_sphere(x, y, z, u, v, w, radius):
    """Return the distances [m] at which a line enters and leaves a sphere about the origin, or `MISS`.

    The direction (u, v, w) may have any length; distances are then multiples of this length. Starting from
    the line's point nearest to the centre avoids the cancellation that occurs in the discriminant of the
    usual formula if (x, y, z) is far away. The radius is in [m]; the module docstring describes the other
    arguments.
    """
    square = u * u + v * v + w * w
    nearest = -(x * u + y * v + z * w) / square
    x, y, z = x + nearest * u, y + nearest * v, z + nearest * w
    rest = radius * radius - (x * x + y * y + z * z)
    if rest <= 0.0:
        return MISS
    half = np.sqrt(rest / square)
    return nearest - half, nearest + half


@kernel(error_model="numpy")
def intersect_ellipsoid(x, y, z, u, v, w, size):
    """Return the distances [m] at which a line enters and leaves an ellipsoid, or `MISS`.

    The ellipsoid is scaled to a unit sphere. ``size`` contains its semi-axes (3,) [m]; the module docstring
    describes the other arguments.
    """
    a, b, c = 1.0 / size[0], 1.0 / size[1], 1.0 / size[2]
    return intersect_sphere(a * x, b * y, c * z, a * u, b * v, c * w, 1.0)


@kernel(error_model="numpy")
def _intersect_slab(z, w, half):
    """Return the distances [m] at which a line enters and leaves a slab normal to an axis, or `MISS`.

    The slab extends from -half to half along the axis.

    Args:
        z: Coordinate of a point on the line along the axis [m].
        w: Component of the direction along the axis.
        half: Half thickness of the slab [m].
    """
    if w == 0.0:
        return (-np.inf, np.inf) if abs(z) <= half else MISS
    one, other = (-half - z) / w, (half - z) / w
    return min(one, other), max(one, other)


@kernel(error_model="numpy")
def _intersect_tube(x, y, u, v, radius):
    """Return the distances at which a line enters and leaves an infinite cylinder along z [m], or `MISS`.

    Args:
        x: x component of a point on the line [m].
        y: y component of the point [m].
        u: x component of the line's unit direction.
        v: y component of the direction.
        radius: Radius [m].
    """
    square = u * u + v * v
    if square < 1e-30:
        return (-np.inf, np.inf) if x * x + y * y <= radius * radius else MISS
    return intersect_sphere(x, y, 0.0, u, v, 0.0, radius)


@kernel(error_model="numpy")
def intersect_cylinder(x, y, z, u, v, w, size):
    """Return the distances [m] at which a line enters and leaves a cylinder along z, or `MISS`.

    ``size`` contains the radius and the half length [m]; the module docstring describes the other arguments.
    """
    enter, leave = _intersect_tube(x, y, u, v, size[0])
    below, above = _intersect_slab(z, w, size[1])
    return _common(enter, leave, below, above)


@kernel(error_model="numpy")
def intersect_capsule(x, y, z, u, v, w, size):
    """Return the distances [m] at which a line enters and leaves a capsule along z, or `MISS`.

    ``size`` contains the radius and the half length of the cylindrical part [m]; the module docstring
    describes the other arguments. The spheres at the ends matter where the line enters or leaves the infinite
    cylinder beyond the half length.
    """
    enter, leave = _intersect_tube(x, y, u, v, size[0])
    if enter > leave:
        return MISS
    first, last = z + enter * w, z + leave * w
    if abs(first) > size[1]:
        enter = intersect_sphere(x, y, z - np.copysign(size[1], first), u, v, w, size[0])[0]
    if abs(last) > size[1]:
        leave = intersect_sphere(x, y, z - np.copysign(size[1], last), u, v, w, size[0])[1]
    return (enter, leave) if enter < leave else MISS


@kernel(error_model="numpy")
def intersect_box(x, y, z, u, v, w, size):
    """Return the distances [m] at which a line enters and leaves a box, or `MISS`.

    ``size`` contains the half lengths (3,) of the edges [m]; the module docstring describes the other
    arguments.
    """
    enter, leave = _intersect_slab(x, u, size[0])
    a, b = _intersect_slab(y, v, size[1])
    enter, leave = max(enter, a), min(leave, b)
    a, b = _intersect_slab(z, w, size[2])
    return _common(enter, leave, a, b)


@kernel(error_model="numpy")
def _common(enter, leave, a, b):
    """Return the intersection of the intervals (enter, leave) and (a, b), or `MISS` if it is empty."""
    enter, leave = max(enter, a), min(leave, b)
    return (enter, leave) if enter < leave else MISS

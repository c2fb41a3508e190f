"""Where a straight line runs through a solid: exact, in the solid's own frame.

All take size as MuJoCo has it, a point (x, y, z) [m] and a unit direction (u, v, w), and return where along
the line it enters and where it leaves [m from the point, along the direction]; what it misses it enters at
infinity. These solids are convex, so there is one such piece of the line.
"""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel

NEVER = (np.inf, -np.inf)


@kernel(error_model="numpy")
def through_plane(x, y, z, u, v, w):
    """All that is below z = 0: as contacts have it, a plane has no edges, however large it is drawn."""
    if w == 0.0:
        return (-np.inf, np.inf) if z <= 0.0 else NEVER
    return (-z / w, np.inf) if w < 0.0 else (-np.inf, -z / w)


@kernel(error_model="numpy")
def through_ball(x, y, z, u, v, w, radius):
    """A ball about the origin; the direction may have any length.

    By the point of the line that is nearest to the centre: the usual formula loses the digits of its
    discriminant far away.
    """
    square = u * u + v * v + w * w
    nearest = -(x * u + y * v + z * w) / square
    x, y, z = x + nearest * u, y + nearest * v, z + nearest * w
    rest = radius * radius - (x * x + y * y + z * z)
    if rest <= 0.0:
        return NEVER
    half = np.sqrt(rest / square)
    return nearest - half, nearest + half


@kernel(error_model="numpy")
def through_ellipsoid(x, y, z, u, v, w, size):
    """A unit ball, stretched."""
    a, b, c = 1.0 / size[0], 1.0 / size[1], 1.0 / size[2]
    return through_ball(a * x, b * y, c * z, a * u, b * v, c * w, 1.0)


@kernel(error_model="numpy")
def through_slab(z, w, half):
    """What lies between -half and half on one axis."""
    if w == 0.0:
        return (-np.inf, np.inf) if abs(z) <= half else NEVER
    one, other = (-half - z) / w, (half - z) / w
    return min(one, other), max(one, other)


@kernel(error_model="numpy")
def through_tube(x, y, u, v, radius):
    """An endless cylinder about z."""
    square = u * u + v * v
    if square < 1e-30:
        return (-np.inf, np.inf) if x * x + y * y <= radius * radius else NEVER
    return through_ball(x, y, 0.0, u, v, 0.0, radius)


@kernel(error_model="numpy")
def through_cylinder(x, y, z, u, v, w, size):
    """Radius and half length along z."""
    enter, leave = through_tube(x, y, u, v, size[0])
    below, above = through_slab(z, w, size[1])
    return _common(enter, leave, below, above)


@kernel(error_model="numpy")
def through_capsule(x, y, z, u, v, w, size):
    """A cylinder and the balls at its ends: met where the line enters or leaves their tube beyond it."""
    enter, leave = through_tube(x, y, u, v, size[0])
    if enter > leave:
        return NEVER
    first, last = z + enter * w, z + leave * w
    if abs(first) > size[1]:
        enter = through_ball(x, y, z - np.copysign(size[1], first), u, v, w, size[0])[0]
    if abs(last) > size[1]:
        leave = through_ball(x, y, z - np.copysign(size[1], last), u, v, w, size[0])[1]
    return (enter, leave) if enter < leave else NEVER


@kernel(error_model="numpy")
def through_box(x, y, z, u, v, w, size):
    """Half sizes."""
    enter, leave = through_slab(x, u, size[0])
    a, b = through_slab(y, v, size[1])
    enter, leave = max(enter, a), min(leave, b)
    a, b = through_slab(z, w, size[2])
    return _common(enter, leave, a, b)


@kernel(error_model="numpy")
def _common(enter, leave, a, b):
    enter, leave = max(enter, a), min(leave, b)
    return (enter, leave) if enter < leave else NEVER

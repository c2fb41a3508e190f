"""Compute the pressures between a pair of surfaces at points of the skin, and sum them up by taxel.

On a curved skin, the tangential force has a moment because of the height of the surface. The coordinates
u = x - z Fx / Fz and v = y - z Fy / Fz, projected along the net force, account for it: the moments Mx and My
about the tangents are balanced if the means of u and v, weighted by pressure, are -My / Fz and Mx / Fz.
"""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.skin.contact_area import contact_points
from tactile_sim.skin.materials import foundation_of, reach_of
from tactile_sim.skin.nearby import GUESS, MISSED, find_taxels, measure
from tactile_sim.skin.winkler import balance, integrate

DEPTHS = GUESS, 1e30
"""Depths up to which points may be pressed, as multiples of the depth estimated without a tilt.

The second depth is only used if the moment of the loads cannot be balanced within the first depth, or only by
a tilt that also presses deeper points.
"""
BEYOND = 1.5
"""Distance by which the tilted layer is extrapolated beyond the pressed points, to check whether it also
presses deeper points [spacings]."""
SMALL = 1e-8
"""Torsional moments below this fraction of the normal force times the spacing are ignored."""
CLOSE = 1e-7
"""Tolerance of the centre of pressure, relative to the spacing."""
OUT_OF_REACH = 1e-3
"""The required centre of pressure is out of reach if it is missed by more than this fraction of the spacing.

In this case, deeper points are tried, which doubles the cost.
"""
NOTHING = 0, 0.0, 0.0, 0.0, 0.0
"""Result of `press` if no taxel is in reach."""
MOST_ROUNDS = 20
"""Maximum number of iterations; curved skins need several, because a twist changes the other moments."""


@kernel(inline="always")
def press(loads, group, number, pair, triangles, index, quad, solids, layer):
    """Compute the pressures of one pair and sum them up by taxel in ``Layer.pressed`` and ``Layer.sums``.

    Args:
        loads: As in `pairs.net_load`.
        group: As in `pairs.net_load`.
        number: As in `pairs.net_load`.
        pair: Result of `pairs.net_load`; its normal force is > 0.
        triangles: As in `nearby.measure`.
        index: The skin's `TaxelIndex`.
        quad: The skin's `Quadrature`.
        solids: The scene's `Solids`.
        layer: Scratch memory, a `Layer`.

    Returns:
        A tuple of five numbers:

        pressed: Number of pressed taxels, 0 if no taxel is in reach.
        scale: Factor that converts ``Layer.sums[0]`` to normal forces [N/m3].
        twist: Tangential force per normal force and per distance from the centre of pressure [1/m].
        x, y: Coordinates of the centre of pressure along the two tangents [m].
    """
    load = loads[pair.first]
    spacing = index.patches[load.patch].spacing
    stiffness, reach = foundation_of(load, index.patches), reach_of(load, index.patches)
    volume = pair.force[2] / stiffness
    nearby = find_taxels(loads, group, number, pair, index, quad, solids, layer, volume)
    result, miss, highest = NOTHING, np.inf, np.inf
    for depths in DEPTHS:
        nearby = measure(nearby, loads, pair, triangles, quad, solids, layer, reach, volume, depths)
        within = depths * nearby.depth
        limit = nearby.least + min(reach, within)
        # If the layer presses points beyond the limit, the result is not used.
        most = limit if within < reach else MISSED
        nearby, count, least = contact_points(
            nearby, pair, triangles, quad, solids, layer, spacing, limit, most
        )  # fmt: skip
        if count > 0:
            # Start with all points pressed, so that Newton's method does not get stuck at a border.
            start = reach if depths > GUESS else nearby.depth if nearby.depth < np.inf else 0.0
            result, miss, highest = _settle(
                count, least + start, pair.force, pair.moment, stiffness, spacing, layer
            )  # fmt: skip
        if (miss <= OUT_OF_REACH * spacing and highest <= limit) or within >= reach:
            break
    for e in range(nearby.found):
        layer.gap[layer.taxel[e]] = np.inf
    return result


@kernel(error_model="numpy", counted=False)
def _settle(count, start, force, moment, stiffness, spacing, layer):
    """Find the pressures that balance the force and moment between two surfaces; sum them up by taxel.

    The first two rows of ``layer.points`` are changed from x and y to the coordinates u and v.

    Where the surface is not flat, the forces of a twist have moments about the tangents, which shift the
    centre of pressure. The penalty in `winkler` also shifts it a little. Broyden's method therefore searches
    for the centre of pressure to pass to `balance`, until all moments are balanced.

    Args:
        count: Number of points in the layer.
        start: Initial indentation [m].
        force: Net force along the axes of the pair [N].
        moment: Net moment about the origin, along the axes of the pair [N m].
        stiffness: Stiffness of the layer [Pa/m].
        spacing: Spacing of the patch's taxels [m].
        layer: Scratch memory, a `Layer`.

    Returns:
        result: The result of `press`.
        miss: Distance between the resulting and the required centre of pressure [m].
        highest: Largest gap that the tilted layer fills, up to `BEYOND` spacings from the pressed points [m].
    """
    points, f = layer.points, force[2]
    lean_x, lean_y = force[0] / f, force[1] / f
    total = _project(points, count, lean_x, lean_y)
    plane, sums = (start, 0.0, 0.0), integrate(points, count, start, 0.0, 0.0)
    u, v = -moment[1] / f, moment[0] / f
    pressed, scale, twist, x, y, miss, highest = 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    last, b00, b01, b10, b11 = (plane, sums, u, v, 0.0, 0.0), 1.0, 0.0, 0.0, 1.0
    for number in range(MOST_ROUNDS):
        plane, sums = balance(points, count, stiffness, f, spacing, total, u, v, plane, sums)
        pressed, scale, highest = _sum_up(points, count, plane, layer, f)
        mean_u, mean_v = sums[2] / sums[1], sums[3] / sums[1]
        torsion, zx, zy = moment[2] - mean_u * force[1] + mean_v * force[0], 0.0, 0.0
        if abs(torsion) > SMALL * f * spacing:
            twist, x, y, zx, zy = _twist(pressed, layer, scale, lean_x, lean_y, torsion, f)
        else:
            twist = 0.0
        highest += BEYOND * spacing * np.sqrt(plane[1] * plane[1] + plane[2] * plane[2])
        du, dv = -(moment[1] + twist * zy) / f - mean_u, (moment[0] + twist * zx) / f - mean_v
        miss = abs(du) + abs(dv)
        outside = abs(mean_u - u) + abs(mean_v - v) > OUT_OF_REACH * spacing
        if miss <= CLOSE * spacing or (outside and number == 0):
            break
        if outside:  # the last step was too long
            (plane, sums), u, v = last[:2], 0.5 * (last[2] + u), 0.5 * (last[3] + v)
            continue
        # Broyden's update of the matrix b that turns a miss into a step of u and v.
        su, sv, yu, yv = u - last[2], v - last[3], du - last[4], dv - last[5]
        bu, bv = b00 * yu + b01 * yv, b10 * yu + b11 * yv
        scalar = su * bu + sv * bv
        if abs(scalar) > 1e-3 * (su * su + sv * sv):
            row_u, row_v = (su * b00 + sv * b10) / scalar, (su * b01 + sv * b11) / scalar
            b00, b01 = b00 - (su + bu) * row_u, b01 - (su + bu) * row_v
            b10, b11 = b10 - (sv + bv) * row_u, b11 - (sv + bv) * row_v
        su, sv = b00 * du + b01 * dv, b10 * du + b11 * dv
        last = (plane, sums, u, v, du, dv)
        u, v = u + su, v + sv
    return (pressed, scale, twist, x, y), miss, highest


@kernel(fastmath={"reassoc", "contract", "nsz"}, counted=False)
def _project(points, count, lean_x, lean_y):
    """Change the first two rows of ``points`` from x and y to u and v; return the sum of the areas [m2].

    The arguments are as in `_settle`; the ratios of the tangential forces to the normal force are ``lean_x``
    and ``lean_y``.
    """
    total = 0.0
    for k in range(count):
        points[0, k] -= lean_x * points[2, k]
        points[1, k] -= lean_y * points[2, k]
        total += points[4, k]
    return total


@kernel(error_model="numpy", counted=False)
def _sum_up(points, count, plane, layer, force):
    """Sum area times depth, and its first moments, over the points of each pressed taxel.

    The sums are written to ``layer.sums``, and the indices of the taxels to ``layer.pressed``.

    Args:
        points: ``Layer.points``.
        count: Number of points.
        plane: Indentation at the origin [m] and the two tilts, as in `balance`.
        layer: Scratch memory, a `Layer`.
        force: Normal force [N].

    Returns:
        The number of pressed taxels, the ratio of the force to the sum of area times depth over all points
        [N/m3], and the largest indentation of the tilted layer at a pressed point [m].
    """
    total, pressed, sums, taxel, owner = 0.0, 0, layer.sums, layer.pressed, layer.owner
    (p0, p1, p2), last, highest = plane, -1, -np.inf
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for k in range(count):
        x, y = points[0, k], points[1, k]
        level = p0 + p1 * x + p2 * y
        depth = level - points[3, k]
        if depth > 0.0:
            part, t = points[4, k] * depth, owner[k]
            total += part
            highest = max(highest, level)
            if t != last:
                taxel[pressed], last = t, t
                s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
                pressed += 1
            s0, s1, s2, s3 = s0 + part, s1 + part * x, s2 + part * y, s3 + part * points[2, k]
            sums[0, pressed - 1], sums[1, pressed - 1] = s0, s1
            sums[2, pressed - 1], sums[3, pressed - 1] = s2, s3
    return pressed, force / total, highest


@kernel(error_model="numpy", counted=False)
def _twist(pressed, layer, scale, lean_x, lean_y, torsion, force):
    """Compute the twist that balances a torsional moment.

    Args:
        pressed: Number of pressed taxels.
        layer: A `Layer` with the result of `_sum_up`.
        scale: Ratio of the normal force to the sum of area times depth [N/m3].
        lean_x: Ratio of the force along the first tangent to the normal force.
        lean_y: Ratio of the force along the second tangent to the normal force.
        torsion: Moment to balance [N m].
        force: Normal force [N].

    Returns:
        twist: Tangential force per normal force and per distance from the centre of pressure [1/m].
        x, y: Coordinates of the centre of pressure along the two tangents [m].
        zx, zy: Sums of normal force times height times coordinate relative to the centre of pressure, for the
            coordinates along the two tangents [N m2].
    """
    sums, x, y = layer.sums, 0.0, 0.0
    for e in range(pressed):
        x += sums[1, e] + lean_x * sums[3, e]
        y += sums[2, e] + lean_y * sums[3, e]
    x, y = x * scale / force, y * scale / force
    inertia, zx, zy = 0.0, 0.0, 0.0
    for e in range(pressed):
        f, fz = scale * sums[0, e], scale * sums[3, e]
        dx = (sums[1, e] + lean_x * sums[3, e]) / sums[0, e] - x
        dy = (sums[2, e] + lean_y * sums[3, e]) / sums[0, e] - y
        inertia += f * (dx * dx + dy * dy)
        zx, zy = zx + fz * dx, zy + fz * dy
    return (torsion / inertia if inertia > 1e-14 * force else 0.0), x, y, zx, zy

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
from tactile_sim.skin.nearby import GUESS, MISSED, measure, taxels_at_contacts
from tactile_sim.skin.winkler import balance, integrate

DEPTHS = GUESS, 1e30
"""Depths up to which points may be pressed, as multiples of the depth estimated without a tilt.

The second depth is only used if the moment of the loads cannot be balanced within the first depth, or only by
a tilt that also presses deeper points.
"""
BEYOND = 1.5
"""Distance by which the tilted layer is extrapolated beyond the pressed points, to check whether it also
presses deeper points [spacings]."""
CLEARANCE = 0.3
"""Points are left out of further iterations if the layer passes them by this distance, relative to the mean
indentation."""
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
    nearby = taxels_at_contacts(loads, group, number, pair, index, quad, solids, layer)
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
        layer.gap[layer.taxel[e]] = layer.low[layer.taxel[e]] = np.inf
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
    points, owner, whole, f = layer.points, layer.owner, count, force[2]
    lean_x, lean_y = force[0] / f, force[1] / f
    total, far_u, far_v = _project(points, count, lean_x, lean_y)
    plane, sums = (start, 0.0, 0.0), integrate(points, count, start, 0.0, 0.0)
    base, clearance = plane, np.inf
    u, v = -moment[1] / f, moment[0] / f
    pressed, scale, twist, x, y, miss, highest = 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    last, b00, b01, b10, b11 = (plane, sums, u, v, 0.0, 0.0), 1.0, 0.0, 0.0, 1.0
    for number in range(MOST_ROUNDS):
        plane, sums = balance(points, count, stiffness, f, spacing, total, u, v, plane, sums)
        if number == 0:
            base, clearance = plane, CLEARANCE * sums[1] / sums[4]
            count = _keep_pressed(layer, count, plane, clearance)
            points, owner = layer.kept, layer.kept_owner
        change = abs(plane[0] - base[0])
        change += abs(plane[1] - base[1]) * far_u + abs(plane[2] - base[2]) * far_v
        if change > clearance:  # points that were left out may be pressed
            points, owner, count, clearance = layer.points, layer.owner, whole, np.inf
            sums = integrate(points, count, plane[0], plane[1], plane[2])
            plane, sums = balance(points, count, stiffness, f, spacing, total, u, v, plane, sums)
        pressed, scale, highest = _sum_up(points, owner, count, plane, layer, f)
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
    """Change the first two rows of ``points`` from x and y to u and v.

    The arguments are as in `_settle`; the ratios of the tangential forces to the normal force are ``lean_x``
    and ``lean_y``.

    Returns:
        The sum of the areas [m2], and upper bounds of the magnitudes of u and v [m]: their 8-norms over all
        points, because sums compile to vector instructions and maxima do not.
    """
    total, sum_u, sum_v = 0.0, 0.0, 0.0
    for k in range(count):
        u, v = points[0, k] - lean_x * points[2, k], points[1, k] - lean_y * points[2, k]
        points[0, k], points[1, k] = u, v
        total += points[4, k]
        u, v = u * u, v * v
        u, v = u * u, v * v
        sum_u, sum_v = sum_u + u * u, sum_v + v * v
    return total, np.sqrt(np.sqrt(np.sqrt(sum_u))), np.sqrt(np.sqrt(np.sqrt(sum_v)))


@kernel(counted=False)
def _keep_pressed(layer, count, plane, clearance):
    """Copy the points that a plane presses, or nearly presses, to ``layer.kept``.

    Args:
        layer: Scratch memory, a `Layer`.
        count: Number of points.
        plane: As in `_sum_up`.
        clearance: Distance between the plane and the points that are left out [m].

    Returns:
        The number of points kept.
    """
    points, owner, kept, kept_owner = layer.points, layer.owner, layer.kept, layer.kept_owner
    (p0, p1, p2), number = plane, 0
    for k in range(count):
        u, v, gap = points[0, k], points[1, k], points[3, k]
        kept[0, number], kept[1, number], kept[2, number] = u, v, points[2, k]
        kept[3, number], kept[4, number], kept_owner[number] = gap, points[4, k], owner[k]
        number += p0 + p1 * u + p2 * v + clearance > gap
    return number


@kernel(error_model="numpy", counted=False)
def _sum_up(points, owner, count, plane, layer, force):
    """Sum area times depth, and its first moments, over the points of each pressed taxel.

    The sums are written to ``layer.sums``, and the indices of the taxels to ``layer.pressed``.

    Args:
        points: ``Layer.points`` or ``Layer.kept``.
        owner: (q,) index in the skin of the taxel to which each point belongs.
        count: Number of points.
        plane: Indentation at the origin [m] and the two tilts, as in `balance`.
        layer: Scratch memory, a `Layer`.
        force: Normal force [N].

    Returns:
        The number of pressed taxels, the ratio of the force to the sum of area times depth over all points
        [N/m3], and the largest indentation of the tilted layer at a pressed point [m].
    """
    total, pressed, sums, taxel = 0.0, 0, layer.sums, layer.pressed
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

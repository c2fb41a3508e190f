"""Pressures of a pair on the points of a skin that may touch, summed up by taxel.

On a curved skin the tangential force has a moment over the height of the surface. Coordinates along the net
force, u = x - z Fx / Fz and v = y - z Fy / Fz, contain it: the moments agree where the means of u and v do.
"""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.skin.contact_area import contact_points
from tactile_sim.skin.nearby import GUESS, find_taxels, measure
from tactile_sim.skin.winkler import balance

DEPTHS = GUESS, 1e30
"""Points deeper below the surface than this, over the depth without a tilt, are not pressed: first by all
loads, then by those whose moment only pressing on deeper points reaches."""
SMALL = 1e-8
"""Moments and shifts that are left, over the normal force and the spacing."""
OUT_OF_REACH = 1e-6
"""Distance over the spacing between two centers of pressure from which pressing cannot reach a moment."""
NEARER = 1e-3
"""The same distance from which deeper points are tried, which costs as much again."""
NOTHING = 0, 0.0, 0.0, 0.0, 0.0
"""Result of `press` without a taxel in reach."""
MOST_ROUNDS = 12
"""For the height of curved skins, over which a twist has a moment."""


@kernel(inline="always")
def press(loads, group, number, pair, triangles, index, quad, solids, layer):
    """Spread one pair over the taxels that touch.

    Args:
        loads: As in `pairs.net_load`.
        group: As in `pairs.net_load`.
        number: As in `pairs.net_load`.
        pair: Result of `pairs.net_load`; its normal force is > 0.
        triangles: As in `nearby.measure`.
        index: A `TaxelIndex`.
        quad: A `Quadrature`.
        solids: A `Solids`.
        layer: A `Layer`.

    Returns:
        How many taxels are pressed, 0 where none is in reach, the normal force over the sums of the layer
        [N/m3], the twist of the tangential force [1/m], and the center of pressure along the tangents [m].
        The taxels and their sums are in the layer.
    """
    load = loads[pair.first]
    spacing = index.patches[load.patch].spacing
    stiffness = layer.stiffness / (layer.thickness * load.skins)
    reach, volume = layer.thickness + spacing, pair.force[2] / stiffness
    nearby = find_taxels(loads, group, number, pair, index, quad, solids, layer, volume)
    result = NOTHING
    for depths in DEPTHS:
        nearby = measure(nearby, loads, pair, triangles, quad, solids, layer, reach, volume, depths)
        within = depths * nearby.depth
        limit = nearby.least + min(reach, within)
        nearby, count, least = contact_points(
            nearby, pair, triangles, quad, solids, layer, spacing, limit
        )  # fmt: skip
        if count == 0:
            break
        # All points are pressed at first: then Newton's method does not get stuck at a border.
        start = reach if depths > GUESS else nearby.depth if nearby.depth < np.inf else 0.0
        result, miss = _settle(count, least + start, pair.force, pair.moment, stiffness, spacing, layer)
        if miss <= NEARER * spacing or within >= reach:
            break
    for e in range(nearby.found):
        layer.gap[layer.taxel[e]] = np.inf
    return result


@kernel(error_model="numpy", counted=False)
def _settle(count, start, force, moment, stiffness, spacing, layer):
    """Balance a pair and sum it up by taxel; return what `press` returns, and how far the center is off [m].

    count: of the points in the layer; start: the indentation to start from [m].
    """
    points, f = layer.points, force[2]
    lean_x, lean_y = force[0] / f, force[1] / f
    for k in range(count):
        points[0, k] -= lean_x * points[2, k]
        points[1, k] -= lean_y * points[2, k]
    tilt = (start, 0.0, 0.0)
    u, v = -moment[1] / f, moment[0] / f
    pressed, scale, twist, x, y, miss = 0, 0.0, 0.0, 0.0, 0.0, 0.0
    for _ in range(MOST_ROUNDS):
        tilt, mean_u, mean_v = balance(points, count, stiffness, f, spacing, u, v, tilt)
        pressed, scale = _sum_up(points, count, u, v, tilt, layer, f)
        miss = abs(mean_u - u) + abs(mean_v - v)
        torsion = moment[2] - mean_u * force[1] + mean_v * force[0]
        if abs(torsion) <= SMALL * f * spacing:
            break
        twist, x, y, zx, zy = _twist(pressed, layer, scale, lean_x, lean_y, torsion, f)
        if miss > OUT_OF_REACH * spacing:
            break
        next_u, next_v = -(moment[1] + twist * zy) / f, (moment[0] + twist * zx) / f
        if abs(next_u - u) + abs(next_v - v) <= SMALL * spacing:
            break
        tilt = (tilt[0] + tilt[1] * (next_u - u) + tilt[2] * (next_v - v), tilt[1], tilt[2])
        u, v = next_u, next_v
    return (pressed, scale, twist, x, y), miss


@kernel(error_model="numpy", counted=False)
def _sum_up(points, count, u, v, tilt, layer, force):
    """Sum area times depth and its moments up by taxel.

    Returns:
        How many taxels are pressed, and the force over the sum.
    """
    total, pressed, sums, taxel, owner = 0.0, 0, layer.sums, layer.pressed, layer.owner
    (c0, c1, c2), last = tilt, -1
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for k in range(count):
        x, y = points[0, k], points[1, k]
        depth = c0 + c1 * (x - u) + c2 * (y - v) - points[3, k]
        if depth > 0.0:
            part, t = points[4, k] * depth, owner[k]
            total += part
            if t != last:
                taxel[pressed], last = t, t
                s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
                pressed += 1
            s0, s1, s2, s3 = s0 + part, s1 + part * x, s2 + part * y, s3 + part * points[2, k]
            sums[0, pressed - 1], sums[1, pressed - 1] = s0, s1
            sums[2, pressed - 1], sums[3, pressed - 1] = s2, s3
    return pressed, force / total


@kernel(error_model="numpy", counted=False)
def _twist(pressed, layer, scale, lean_x, lean_y, torsion, force):
    """Return the twist that makes a torsional moment, the center of pressure, and the moments of heights."""
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

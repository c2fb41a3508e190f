"""Loads spread over the area where two surfaces touch: the response function `elastic_foundation`.

The physics engine gives the wrench between two bodies at a few points. The area that really touches follows
from geometry: for each pair of a patch of skin and another body, the gap between the two along the mean
contact normal, and the pressures of an elastic layer (`winkler`) that balance the wrench. The tangential
force is shared in proportion to the pressure (Coulomb), and the torsional moment as a twist in proportion to
pressure times distance, so that forces and moments sum to those of the engine. On a curved skin the
tangential force has a moment over the height of the surface. Coordinates along the net force,
u = x - z Fx / Fz and v = y - z Fy / Fz, contain it: the moments agree where the means of u and v do.
"""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.solids import Solids
from tactile_sim.geometry.vectors import along, cross, dot, plus
from tactile_sim.skin.contact_area import DEPTHS, contact_points
from tactile_sim.skin.layer import Pair, unpack
from tactile_sim.skin.loads import FORCE_VECTOR_GLOBAL, FRICTION, NORMAL, NORMAL_FORCE, SLIP
from tactile_sim.skin.patches import TaxelIndex
from tactile_sim.skin.quadrature import Quadrature
from tactile_sim.skin.winkler import balance

APART = 0.7
"""Contacts of one pair whose normals have a smaller cosine press on areas of their own."""
SMALL = 1e-8
"""Moments and shifts that are left, over the normal force and the spacing."""
OUT_OF_REACH = 1e-6
"""Distance over the spacing between two centers of pressure from which pressing cannot reach a moment."""
NEARER = 1e-3
"""The same distance from which deeper points are tried, which costs as much again."""
MOST_ROUNDS = 12
"""For the height of curved skins, over which a twist has a moment."""
EACH = -1
"""In place of a quantity: the load on each taxel."""


@kernel
def group_loads(loads, group):
    """Write the number of the pair that each load (m,) belongs to into group (m,); return how many there are.

    A load that cannot press over an area gets -1: it pulls, or it touches a flex.
    """
    count = 0
    for m in range(len(loads)):
        load = loads[m]
        group[m] = -1
        if load.other < 0 or not 0.0 < dot(load.force, load.normal) < np.inf:
            continue
        for k in range(m):
            same = group[k] >= 0 and loads[k].patch == load.patch and loads[k].other_body == load.other_body
            if same and dot(loads[k].normal, load.normal) > APART:
                group[m] = group[k]
                break
        if group[m] < 0:
            group[m] = count
            count += 1
    return count


@kernel(error_model="numpy")
def net_load(loads, group, number):
    """Return the `Pair` of a group of loads."""
    first, total = -1, 0.0
    origin, velocity, normal = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for m in range(len(loads)):
        if group[m] == number:
            load = loads[m]
            first = m if first < 0 else first
            push = dot(load.force, load.normal)
            total += push
            origin = plus(origin, push, load.point)
            velocity = plus(velocity, push, load.velocity)
            normal = plus(normal, push, load.normal)
    none = (0.0, 0.0, 0.0)
    origin, velocity = plus(none, 1.0 / total, origin), plus(none, 1.0 / total, velocity)
    normal = plus(none, 1.0 / np.sqrt(dot(normal, normal)), normal)
    # A tangent: the axis that is farthest from the normal, made orthogonal to it.
    a, b, c = abs(normal[0]), abs(normal[1]), abs(normal[2])
    x, y = a <= b and a <= c, b < a and b <= c
    axis = (1.0, 0.0, 0.0) if x else (0.0, 1.0, 0.0) if y else (0.0, 0.0, 1.0)
    tangent = plus(axis, -dot(axis, normal), normal)
    tangent = plus(none, 1.0 / np.sqrt(dot(tangent, tangent)), tangent)
    axes = (tangent, cross(normal, tangent), normal)
    force, moment, turning, inertia = none, none, 0.0, 0.0
    for m in range(len(loads)):
        if group[m] == number:
            load = loads[m]
            arm = plus(load.point, -1.0, origin)
            force = plus(force, 1.0, load.force)
            moment = plus(plus(moment, 1.0, load.torque), 1.0, cross(arm, load.force))
            turning += dot(cross(arm, plus(load.velocity, -1.0, velocity)), normal)
            inertia += dot(arm, arm) - dot(arm, normal) ** 2
    spin = turning / inertia if inertia > 1e-12 else 0.0
    return Pair(first, origin, axes, along(axes, force), along(axes, moment), velocity, spin)


@kernel(error_model="numpy")
def press(loads, group, number, pair, index, quad, solids, layer):
    """Spread one pair over the taxels that touch.

    Args:
        loads: As in `net_load`.
        group: As in `net_load`.
        number: As in `net_load`.
        pair: Result of `net_load`.
        index: A `TaxelIndex`.
        quad: A `Quadrature`.
        solids: A `Solids`.
        layer: A `Layer`.

    Returns:
        How many taxels are pressed, 0 where none is in reach or the pair pulls, the normal force over the
        sums of the layer [N/m3], the twist of the tangential force [1/m], and the center of pressure along
        the tangents [m]. The taxels and their sums are in the layer.
    """
    if not pair.force[2] > 0.0:
        return 0, 0.0, 0.0, 0.0, 0.0
    load = loads[pair.first]
    spacing = index.patches[load.patch].spacing
    stiffness = layer.stiffness / (layer.thickness * load.skins)
    result = 0, 0.0, 0.0, 0.0, 0.0
    for depths in DEPTHS:
        count, start, is_all = contact_points(
            loads, group, number, pair, index, quad, solids, layer, stiffness, depths
        )
        if count == 0:
            return 0, 0.0, 0.0, 0.0, 0.0
        result, miss = _settle(count, start, pair.force, pair.moment, stiffness, spacing, layer)
        if miss <= NEARER * spacing or is_all:
            break
    return result


@kernel(error_model="numpy")
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


@kernel(error_model="numpy")
def _sum_up(points, count, u, v, tilt, layer, force):
    """Sum area times depth and its moments up by taxel.

    Returns:
        How many taxels are pressed, and the force over the sum.
    """
    total, pressed, sums, taxel, owner = 0.0, 0, layer.sums, layer.taxel, layer.owner
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


@kernel(error_model="numpy")
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


@kernel(error_model="numpy")
def add_readings(
    loads, group, index_arrays, quad_arrays, solid_arrays, layer_arrays, quantity, sums, table, taxels
):  # fmt: skip
    """Add what taxels read of all loads that press over an area to sums, or write the load on each taxel.

    Args:
        loads: (m,) of `loads.LOAD`.
        group: (m,) output: group of each load; -1 for loads that are left over.
        index_arrays: Fields of a `TaxelIndex`.
        quad_arrays: Fields of a `Quadrature`.
        solid_arrays: Fields of a `Solids`.
        layer_arrays: Fields of a `LayerArrays`.
        quantity: Quantity of a touch function that `loads.evaluate` supports, or EACH.
        sums: (n, 1 + c) as in `shares.gather`; not used with EACH.
        table: (room,) output: loads on taxels, as many as fit; only used with EACH.
        taxels: (room,) output: taxel of each load in ``table``; only used with EACH.

    Returns:
        How many taxels of ``Layer.touched`` have a reading, and how many loads are left over. With EACH, how
        many loads on taxels there are.
    """
    index, quad = TaxelIndex(*index_arrays), Quadrature(*quad_arrays)
    solids, layer, count, left = Solids(*solid_arrays), unpack(layer_arrays), 0, 0
    pressed_taxel, area, touched = layer.taxel, layer.sums, layer.touched
    for number in range(group_loads(loads, group)):
        pair = net_load(loads, group, number)
        pressed, scale, twist, middle_x, middle_y = press(
            loads, group, number, pair, index, quad, solids, layer
        )
        if pressed == 0:
            for m in range(len(loads)):
                group[m] = -1 if group[m] == number else group[m]
        (e1, e2, normal), rotation = pair.axes, loads[pair.first].rotation
        if quantity == FORCE_VECTOR_GLOBAL:
            e1, e2, normal = along(rotation, e1), along(rotation, e2), along(rotation, normal)
        lean_x, lean_y, drift = pair.force[0] / pair.force[2], pair.force[1] / pair.force[2], pair.velocity
        drift_x, drift_y, spin = dot(pair.axes[0], drift), dot(pair.axes[1], drift), pair.spin
        for e in range(pressed):
            t = pressed_taxel[e]
            f, fz = scale * area[0, e], scale * area[3, e]
            fx, fy = scale * area[1, e] + lean_x * fz, scale * area[2, e] + lean_y * fz
            first, second = f * lean_x - twist * (fy - f * middle_y), f * lean_y + twist * (fx - f * middle_x)
            if quantity == EACH:
                if count < len(table):
                    taxels[count], table[count] = t, loads[pair.first]
                    point = plus(plus(pair.origin, fx / f, e1), fy / f, e2)
                    force = plus(plus(plus((0.0, 0.0, 0.0), first, e1), second, e2), f, normal)
                    velocity = plus(plus(drift, -spin * fy / f, e1), spin * fx / f, e2)
                    _write(table[count], plus(point, fz / f, normal), force, velocity, normal)
                count += 1
                continue
            if sums[t, 0] == 0.0:
                touched[count] = t
                count += 1
            if quantity == NORMAL:
                sums[t, 0] += 1.0
                sums[t, 1] += f
                continue
            weight, push = 1.0, f
            if quantity == NORMAL_FORCE:
                first, second = 0.0, 0.0
            elif quantity == FRICTION:
                push = 0.0
            elif quantity == SLIP:
                weight, push = f, 0.0
                first, second = f * drift_x - spin * fy, f * drift_y + spin * fx
            sums[t, 0] += weight
            for i in range(3):
                sums[t, 1 + i] += first * e1[i] + second * e2[i] + push * normal[i]
    for m in range(len(loads)):
        left += group[m] < 0
    return count, left


@kernel
def _write(load, point, force, velocity, normal):
    """Write the load on a taxel over a copy of one of its pair."""
    for i in range(3):
        load.point[i], load.force[i], load.velocity[i] = point[i], force[i], velocity[i]
        load.normal[i], load.torque[i] = normal[i], 0.0
    for i in range(3):
        load.force_world[i] = dot(load.rotation[i], force)

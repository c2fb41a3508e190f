"""The response function `elastic_foundation`, which spreads loads over the area where two surfaces touch.

The physics engine reports the wrench between two bodies at a few points. The actual contact area is computed
from geometry. For each pair of a patch of skin and another body (`pairs`), the gap between the two is
measured along the mean contact normal (`nearby`, `gaps`, `contact_area`). Then the pressures in an elastic
layer that balance the wrench are computed (`press`, `winkler`). The tangential force is distributed in
proportion to the pressure (Coulomb), and the torsional moment in proportion to pressure times distance from
the centre, so that forces and moments sum to those that the engine reports.
"""

from __future__ import annotations

from tactile_sim.compilation import kernel
from tactile_sim.geometry.vectors import along, dot, plus
from tactile_sim.skin.layer import unpack
from tactile_sim.skin.nearby import bin_near
from tactile_sim.skin.pairs import group_loads, has_mesh, net_load
from tactile_sim.skin.patches import TaxelIndex
from tactile_sim.skin.press import press
from tactile_sim.skin.touch_functions import FORCE_VECTOR_GLOBAL, FRICTION, NORMAL, NORMAL_FORCE, SLIP

EACH = -1
"""Value of ``quantity`` for which the load on each taxel is written instead of readings."""


@kernel(counted=False)
def add_readings(loads, group, arrays, quantity, sums, table, taxels):
    """Add the readings due to loads that press over an area to ``sums``.

    If ``quantity`` is EACH, the load on each taxel is written to ``table`` instead.

    Args:
        loads: (m,) loads, as an array of `loads.LOAD`.
        group: (m,) output: number of each load's pair; -1 for loads that cannot be spread over an area.
        arrays: Result of ``ElasticArrays.table``.
        quantity: Quantity of a touch function that `touch_functions.evaluate` supports, or EACH.
        sums: (n, 1 + c) as in `shares.gather`; not used with EACH.
        table: (room,) output: load on each taxel, for as many as fit; only used with EACH.
        taxels: (room,) output: taxel of each load in ``table``; only used with EACH.

    Returns:
        The number of taxels with a reading, and the number of loads whose group is -1. The taxels are the
        first entries of ``Layer.touched``. With EACH, the first number is the number of loads for ``table``,
        one for each taxel and pair, which can exceed the size of ``table``.
    """
    _, _, solids, layer = unpack(arrays)
    count, left = 0, 0
    for number in range(group_loads(loads, group)):
        if has_mesh(loads, group, number, solids.table):
            count = _add_mesh_pair(loads, group, number, arrays, quantity, sums, table, taxels, count)
        else:
            count = _add_pair(
                loads, group, number, layer.triangles, arrays, quantity, sums, table, taxels, count
            )
    for m in range(len(loads)):
        left += group[m] < 0
    return count, left


@kernel
def _add_mesh_pair(loads, group, number, arrays, quantity, sums, table, taxels, count):
    """Call `_add_pair` for a pair of surfaces that includes a mesh. Its triangles need additional memory."""
    triangles = bin_near(loads, group, number, arrays)
    return _add_pair(loads, group, number, triangles, arrays, quantity, sums, table, taxels, count)


@kernel(error_model="numpy", counted=False)
def _add_pair(loads, group, number, triangles, arrays, quantity, sums, table, taxels, count):
    """Add the readings due to the loads of one pair of surfaces to ``sums``.

    If ``quantity`` is EACH, the load on each taxel is written to ``table`` instead. `add_readings` calls this
    function for each pair.

    Args:
        loads: As in `add_readings`.
        group: As in `add_readings`.
        number: Number of the pair in ``group``.
        triangles: Result of `nearby.bin_near`, or ``Layer.triangles`` without a mesh.
        arrays: As in `add_readings`.
        quantity: As in `add_readings`.
        sums: As in `add_readings`.
        table: As in `add_readings`.
        taxels: As in `add_readings`.
        count: Number of taxels that already have a reading. With EACH, number of loads already written.

    Returns:
        The new value of ``count``.
    """
    index, quad, solids, layer = unpack(arrays)
    pair = net_load(loads, group, number)
    load, pressed, scale, twist, middle_x, middle_y = loads[pair.first], 0, 0.0, 0.0, 0.0, 0.0
    if pair.force[2] > 0.0:
        pressed, scale, twist, middle_x, middle_y = press(
            loads, group, number, pair, triangles, TaxelIndex(*index), quad, solids, layer
        )
    if pressed == 0:  # no taxel is in reach, or the loads pull together
        for m in range(len(loads)):
            group[m] = -1 if group[m] == number else group[m]
    (e1, e2, normal), rotation, area = pair.axes, load.rotation, layer.sums
    if quantity == FORCE_VECTOR_GLOBAL:
        e1, e2, normal = along(rotation, e1), along(rotation, e2), along(rotation, normal)
    lean_x, lean_y = pair.force[0] / pair.force[2], pair.force[1] / pair.force[2]
    (v1, v2, v3), (w1, w2, w3) = pair.velocity, pair.turn
    for e in range(pressed):
        t = layer.pressed[e]
        f, fz = scale * area[0, e], scale * area[3, e]
        fx, fy = scale * area[1, e] + lean_x * fz, scale * area[2, e] + lean_y * fz
        first, second = f * lean_x - twist * (fy - f * middle_y), f * lean_y + twist * (fx - f * middle_x)
        if quantity == EACH:
            if count < len(table):
                taxels[count], table[count] = t, load
                point = plus(plus(pair.origin, fx / f, e1), fy / f, e2)
                force = plus(plus(plus((0.0, 0.0, 0.0), first, e1), second, e2), f, normal)
                velocity = plus((0.0, 0.0, 0.0), v1 + (w2 * fz - w3 * fy) / f, e1)
                velocity = plus(velocity, v2 + (w3 * fx - w1 * fz) / f, e2)
                velocity = plus(velocity, v3 + (w1 * fy - w2 * fx) / f, normal)
                _write(table[count], plus(point, fz / f, normal), force, velocity, normal)
                table[count].friction = pair.friction
            count += 1
            continue
        if sums[t, 0] == 0.0:
            layer.touched[count] = t
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
            first, second = f * v1 + w2 * fz - w3 * fy, f * v2 + w3 * fx - w1 * fz
        sums[t, 0] += weight
        for i in range(3):
            sums[t, 1 + i] += first * e1[i] + second * e2[i] + push * normal[i]
    return count


@kernel(counted=False)
def _write(load, point, force, velocity, normal):
    """Write the load on a taxel into a copy of a contact's load.

    Args:
        load: Output: an entry of `loads.LOAD`, which must be a copy of the pair's first load. Only the fields
            that differ between taxels are overwritten.
        point: Point of application, in the body's frame [m].
        force: Force on the taxel, in the body's frame [N].
        velocity: Velocity of the other surface at this point, in the body's frame [m/s].
        normal: Unit normal into the body, in the body's frame.
    """
    for i in range(3):
        load.point[i], load.force[i], load.velocity[i] = point[i], force[i], velocity[i]
        load.normal[i], load.torque[i], load.angular_velocity[i] = normal[i], 0.0, 0.0
    for i in range(3):
        load.force_world[i] = dot(load.rotation[i], force)

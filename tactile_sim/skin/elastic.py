"""Loads spread over the area where two surfaces touch: the response function `elastic_foundation`.

The physics engine gives the wrench between two bodies at a few points. The area that really touches follows
from geometry: for each pair of a patch of skin and another body, the gap between the two along the mean
contact normal, and the pressures of an elastic layer (`winkler`) that balance the wrench. The tangential
force is shared in proportion to the pressure (Coulomb), and the torsional moment as a twist in proportion to
pressure times distance, so that forces and moments sum to those of the engine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.solids import MESH, Solids
from tactile_sim.geometry.triangle_bins import bin_triangles
from tactile_sim.geometry.vectors import cross, dot
from tactile_sim.skin.contact_area import Others, contact_points, taxels_around
from tactile_sim.skin.loads import FORCE_VECTOR_GLOBAL, FRICTION, NORMAL, NORMAL_FORCE, SLIP
from tactile_sim.skin.patches import TaxelIndex, find_nearest
from tactile_sim.skin.quadrature import Quadrature
from tactile_sim.skin.winkler import balance

APART = 0.7
"""Contacts of one pair whose normals have a smaller cosine press on areas of their own."""
MOST_ROUNDS = 12
"""For the height of curved skins, over which the tangential force has a moment."""


class Layer(NamedTuple):
    """The elastic layer, and scratch memory. Python hands it to kernels as a plain tuple."""

    stiffness: float
    """[Pa]"""
    thickness: float
    """[m]"""
    gap: np.ndarray
    """(n,) infinite: the gap at each taxel [m]."""
    sums: np.ndarray
    """(n, 4) zero: the normal force on each taxel [N] and its first moments about the origin [N m]."""
    taxel: np.ndarray
    """(n,) taxels near a pair, then those that are pressed."""
    touched: np.ndarray
    """(n,) taxels that any pair presses."""


class Pair(NamedTuple):
    """What presses on one area: the contacts of a patch with one other body.

    Vectors (3,) are in the frame of the body with the patch unless noted.
    """

    origin: np.ndarray
    """Center of the contact points [m]."""
    axes: np.ndarray
    """(3, 3) rows: two tangents and the mean normal, into the body."""
    force: np.ndarray
    """Along the axes [N]."""
    moment: np.ndarray
    """About the origin, along the axes [N m]."""
    velocity: np.ndarray
    """Of the other surface at the origin [m/s]."""
    spin: float
    """Of the other surface about the normal [rad/s]."""


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


@kernel
def net_load(loads, group, number):
    """Return the index of the first load of a pair, and the fields of its `Pair`."""
    first, total = -1, 0.0
    origin, velocity, axes = np.zeros(3), np.zeros(3), np.zeros((3, 3))
    for m in range(len(loads)):
        if group[m] == number:
            first = m if first < 0 else first
            along = dot(loads[m].force, loads[m].normal)
            total += along
            for i in range(3):
                origin[i] += along * loads[m].point[i]
                velocity[i] += along * loads[m].velocity[i]
                axes[2, i] += along * loads[m].normal[i]
    origin /= total
    velocity /= total
    normal = axes[2]
    normal /= np.sqrt(dot(normal, normal))
    axis = int(np.argmin(np.abs(normal)))
    for i in range(3):
        axes[0, i] = (1.0 if i == axis else 0.0) - normal[axis] * normal[i]
    axes[0] /= np.sqrt(dot(axes[0], axes[0]))
    axes[1] = cross(normal, axes[0])
    force, moment = np.zeros(3), np.zeros(3)
    turning, inertia = 0.0, 0.0
    for m in range(len(loads)):
        if group[m] == number:
            arm = loads[m].point - origin
            torque = loads[m].torque + cross(arm, loads[m].force)
            for k in range(3):
                force[k] += dot(axes[k], loads[m].force)
                moment[k] += dot(axes[k], torque)
            turning += dot(cross(arm, loads[m].velocity - velocity), normal)
            inertia += dot(arm, arm) - dot(arm, normal) ** 2
    spin = turning / inertia if inertia > 1e-12 else 0.0
    return first, (origin, axes, force, moment, velocity, spin)


@kernel
def press(loads, group, number, pair_arrays, index_arrays, quad_arrays, solid_arrays, layer_arrays):
    """Spread one pair over the taxels that touch.

    Args:
        loads, group, number: as in `net_load`, and pair_arrays: the fields that it returns.
        index_arrays, quad_arrays, solid_arrays, layer_arrays: `TaxelIndex`, `Quadrature`, `Solids`, `Layer`.

    Returns:
        How many taxels are pressed, 0 where none is in reach, the twist [1/m] of the tangential force and
        the center of pressure [m] along the tangents. The taxels and their sums are in the layer.
    """
    pair, index, quad = Pair(*pair_arrays), TaxelIndex(*index_arrays), Quadrature(*quad_arrays)
    solids, layer = Solids(*solid_arrays), Layer(*layer_arrays)
    first = 0
    while group[first] != number:
        first += 1
    load = loads[first]
    spacing = index.patches[load.patch].spacing
    reach = layer.thickness + spacing
    found = 0
    ids, geoms = np.empty(len(loads), np.int64), 0
    positions, rotations = np.empty((len(loads), 3)), np.empty((len(loads), 3, 3))
    for m in range(first, len(loads)):
        if group[m] != number:
            continue
        nearest = find_nearest(loads[m], index)
        if layer.gap[nearest] == np.inf:  # a thin object may touch between taxels
            layer.gap[nearest] = 0.0
            layer.taxel[found] = nearest
            found += 1
        if (ids[:geoms] == loads[m].other).any():
            continue
        ids[geoms] = loads[m].other
        for i in range(3):
            positions[geoms, i] = dot(pair.axes[i], loads[m].other_position - pair.origin)
            for j in range(3):
                rotations[geoms, i, j] = dot(pair.axes[i], loads[m].other_rotation[:, j])
        solid = solids.table[loads[m].other]
        found = taxels_around(loads[m], solid, pair.axes[2], index, reach, layer, found)
        geoms += 1
    bins = np.empty((0, 3, 3)), np.zeros(2, np.int64), np.empty(0, np.int64), np.zeros(5)
    if (solids.table["kind"][ids[:geoms]] == MESH).any():
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        for e in range(found):
            place = index.positions[layer.taxel[e]] - pair.origin
            for i in range(3):
                along = dot(pair.axes[i], place)
                low[i], high[i] = min(low[i], along - reach), max(high[i], along + reach)
        bins = bin_triangles(solids, ids[:geoms], positions, rotations, low, high)
    others = Others(ids[:geoms], positions, rotations, bins)
    stiffness = layer.stiffness / (layer.thickness * load.skins)
    points, owner = contact_points(
        found, index, quad, solids, layer, pair.origin, pair.axes, others, spacing, pair.force[2] / stiffness
    )
    for e in range(found):
        layer.gap[layer.taxel[e]] = np.inf
    if len(owner) == 0:
        return 0, 0.0, 0.0, 0.0
    return _settle(points, owner, pair.force, pair.moment, stiffness, spacing, layer)


@kernel
def _settle(points, owner, force, moment, stiffness, spacing, layer):
    """Balance a pair and sum it up by taxel; return what `press` returns."""
    x, y, z, gap, area = points[0], points[1], points[2], points[3], points[4]
    tilt = np.array([0.0, np.inf, 0.0])
    pressed, twist, middle_x, middle_y = 0, 0.0, 0.0, 0.0
    height_x, height_y, before_x, before_y = 0.0, 0.0, 0.0, 0.0
    for _ in range(MOST_ROUNDS):
        center_x, center_y = (height_x - moment[1]) / force[2], (height_y + moment[0]) / force[2]
        if np.isfinite(tilt[1]):
            tilt[0] += tilt[1] * (center_x - before_x) + tilt[2] * (center_y - before_y)
        balance(x, y, gap, area, stiffness, force[2], spacing, center_x, center_y, tilt)
        for e in range(pressed):
            layer.sums[layer.taxel[e]] = 0.0
        pressed = _sum_up(x, y, z, gap, area, owner, center_x, center_y, tilt, layer, force[2])
        twist, middle_x, middle_y, height_x, height_y = _tangential(pressed, layer, force, moment)
        before_x, before_y = center_x, center_y
        change = abs((height_x - moment[1]) / force[2] - center_x) + abs(
            (height_y + moment[0]) / force[2] - center_y
        )
        if change <= 1e-9 * spacing:
            break
    return pressed, twist, middle_x, middle_y


@kernel
def _sum_up(x, y, z, gap, area, owner, center_x, center_y, tilt, layer, force):
    """Add the pressures to the sums of their taxels, scaled to the force; return how many are pressed."""
    total, pressed = 0.0, 0
    for k in range(len(x)):
        depth = tilt[0] + tilt[1] * (x[k] - center_x) + tilt[2] * (y[k] - center_y) - gap[k]
        if depth > 0.0:
            total += area[k] * depth
    for k in range(len(x)):
        depth = tilt[0] + tilt[1] * (x[k] - center_x) + tilt[2] * (y[k] - center_y) - gap[k]
        if depth > 0.0:
            part, t = force * (area[k] * depth / total), owner[k]
            if layer.sums[t, 0] == 0.0:
                layer.taxel[pressed] = t
                pressed += 1
            layer.sums[t, 0] += part
            layer.sums[t, 1] += part * x[k]
            layer.sums[t, 2] += part * y[k]
            layer.sums[t, 3] += part * z[k]
    return pressed


@kernel
def _tangential(pressed, layer, force, moment):
    """Return twist and center of pressure, and the moments of the tangential forces over their heights."""
    center_x, center_y = 0.0, 0.0
    for e in range(pressed):
        center_x += layer.sums[layer.taxel[e], 1] / force[2]
        center_y += layer.sums[layer.taxel[e], 2] / force[2]
    inertia, z0, zx, zy = 0.0, 0.0, 0.0, 0.0
    for e in range(pressed):
        f, fx, fy, fz = layer.sums[layer.taxel[e]]
        dx, dy = fx / f - center_x, fy / f - center_y
        inertia += f * (dx * dx + dy * dy)
        z0, zx, zy = z0 + fz, zx + fz * dx, zy + fz * dy
    torsion = moment[2] - center_x * force[1] + center_y * force[0]
    twist = torsion / inertia if inertia > 1e-14 * force[2] else 0.0
    height_x, height_y = z0 * force[0] / force[2] - twist * zy, z0 * force[1] / force[2] + twist * zx
    return twist, center_x, center_y, height_x, height_y


@kernel
def _taxel_load(f, fx, fy, fz, pair, pressed):
    """Return the load on a taxel along the axes of its pair: tangential forces [N], and its point [m].

    f, fx, fy, fz: sums of the taxel; pressed: what `press` returned.
    """
    _, twist, middle_x, middle_y = pressed
    first = f * pair.force[0] / pair.force[2] - twist * (fy - f * middle_y)
    second = f * pair.force[1] / pair.force[2] + twist * (fx - f * middle_x)
    return first, second, fx / f, fy / f, fz / f


@kernel
def taxel_loads(load, pair_arrays, layer_arrays, pressed):
    """Return the loads of `loads.LOAD` on the taxels of a pair, and the taxels.

    load (1,): one of the pair; pressed: what `press` returned.
    """
    pair, layer = Pair(*pair_arrays), Layer(*layer_arrays)
    out = np.empty(pressed[0], load.dtype)
    for e in range(pressed[0]):
        sums = layer.sums[layer.taxel[e]]
        f = sums[0]
        first, second, x, y, z = _taxel_load(f, sums[1], sums[2], sums[3], pair, pressed)
        sums[:] = 0.0
        out[e] = load[0]
        for i in range(3):
            e1, e2, n = pair.axes[0, i], pair.axes[1, i], pair.axes[2, i]
            out[e].force[i] = first * e1 + second * e2 + f * n
            out[e].point[i] = pair.origin[i] + x * e1 + y * e2 + z * n
            out[e].velocity[i] = pair.velocity[i] + pair.spin * (x * e2 - y * e1)
            out[e].normal[i], out[e].torque[i] = n, 0.0
        for i in range(3):
            out[e].force_world[i] = dot(load[0].rotation[i], out[e].force)
    return out, layer.taxel[: pressed[0]].copy()


@kernel
def add_readings(loads, group, index_arrays, quad_arrays, solid_arrays, layer_arrays, quantity, mean, sums):
    """Add what taxels read of all loads that press over an area to sums (n, 1 + c), as `shares.gather` does.

    Args:
        loads (m,), group (m,): the group is written, -1 for the loads that are left over.
        index_arrays, quad_arrays, solid_arrays, layer_arrays: as in `press`.
        quantity, mean: of a touch function that `loads.evaluate` knows.

    Returns:
        The taxels.
    """
    layer, touched = Layer(*layer_arrays), 0
    basis, velocity = np.empty((3, 3)), np.empty(3)
    for number in range(group_loads(loads, group)):
        first, net = net_load(loads, group, number)
        pair = Pair(*net)
        pressed = press(loads, group, number, net, index_arrays, quad_arrays, solid_arrays, layer_arrays)
        if pressed[0] == 0:
            group[group == number] = -1
        # In the frame that the readings are in.
        world = quantity == FORCE_VECTOR_GLOBAL
        for k in range(3):
            velocity[k] = dot(pair.axes[k], pair.velocity)
            for i in range(3):
                basis[k, i] = dot(loads[first].rotation[i], pair.axes[k]) if world else pair.axes[k, i]
        for e in range(pressed[0]):
            t = layer.taxel[e]
            f = layer.sums[t, 0]
            tangent, other, x, y, _ = _taxel_load(
                f, layer.sums[t, 1], layer.sums[t, 2], layer.sums[t, 3], pair, pressed
            )
            for i in range(4):
                layer.sums[t, i] = 0.0
            if sums[t, 0] == 0.0:
                layer.touched[touched] = t
                touched += 1
            weight, along = 1.0, f
            if quantity == NORMAL:
                sums[t, 1] += f
            else:
                if quantity == NORMAL_FORCE:
                    tangent, other = 0.0, 0.0
                elif quantity == FRICTION:
                    along = 0.0
                elif quantity == SLIP:
                    weight, along = f, 0.0
                    tangent, other = f * (velocity[0] - pair.spin * y), f * (velocity[1] + pair.spin * x)
                for i in range(3):
                    sums[t, 1 + i] += tangent * basis[0, i] + other * basis[1, i] + along * basis[2, i]
            sums[t, 0] += weight
    return layer.touched[:touched]

"""Compiled loops over contacts, bodies and taxels."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.engines.contacts import BODIES, POSITION, WRENCH_WORLD
from tactile_sim.skin.contact_loads import resolve_loads
from tactile_sim.skin.elastic import add_readings
from tactile_sim.skin.layer import unpack
from tactile_sim.skin.loads import LOAD
from tactile_sim.skin.pairs import group_loads
from tactile_sim.skin.patches import TaxelIndex, is_outside
from tactile_sim.skin.responses import ELASTIC, LINEAR, spread
from tactile_sim.skin.shares import at_taxels, flush, gather
from tactile_sim.skin.touch_functions import SLIP, evaluate


@kernel
def read_contacts(
    values, ids, geoms, patch_bodies, body_positions, body_rotations,
    quantity, mean, law, extents, arrays, room, sums, out,
):  # fmt: skip
    """Compute readings from contacts, for touch and response functions that have compiled versions.

    The arguments are those of `resolve_loads`, `evaluate`, `spread` and `gather`, but ``arrays`` is that of
    `elastic.add_readings`. ``room`` is the number of taxels per load for which memory is allocated.

    Returns:
        False if there are more taxels around the loads than fit into the allocated memory. In this case,
        ``out`` is unchanged, and the caller must reset `TaxelIndex.scratch_distance` to infinity.
    """
    table = np.empty(2 * len(ids), LOAD)
    loads = table[: resolve_loads(values, ids, geoms, patch_bodies, body_positions, body_rotations, table)]
    if law == ELASTIC:
        enough, _ = press_loads(loads, quantity, mean, extents, arrays, room, sums, out)
        return enough
    index, _, _, _ = unpack(arrays)
    patches, limited = TaxelIndex(*index).patches, 0
    for m in range(len(loads)):
        limited |= patches[loads[m].patch].limited
    if limited:
        group, inside = np.full(len(loads), -1), np.empty(len(loads), np.bool_)
        mark_inside(loads, group, 0, extents, index, inside)
        loads = loads[inside]
    begin, reach = np.empty(len(loads) + 1, np.int64), np.empty(0)
    taxel, weight = np.empty(room * len(loads), np.int64), np.empty(room * len(loads))
    if spread(loads, law, reach, extents, index, begin, taxel, weight) < 0:
        return False
    values = share_values(loads, quantity, begin, taxel, index)
    gather(loads, begin, taxel, weight, values, mean, sums, out)
    return True


@kernel
def share_values(loads, quantity, begin, taxel, arrays):
    """Return the values of a built-in quantity, as `gather` requires them: slip differs between taxels.

    Args:
        loads: (m,) loads, as an array of `loads.LOAD`.
        quantity: As in `evaluate`.
        begin: As in `gather`.
        taxel: As in `gather`.
        arrays: Fields of the skin's `TaxelIndex`, as a plain tuple.
    """
    if quantity == SLIP:
        return evaluate(at_taxels(loads, begin, taxel, TaxelIndex(*arrays).positions), quantity)
    return evaluate(loads, quantity)


@kernel
def press_loads(loads, quantity, mean, extents, arrays, room, sums, out):
    """Compute readings from loads with `elastic_foundation`.

    Loads that cannot be spread over an area are distributed with LINEAR. The arguments are as in
    `read_contacts`.

    Returns:
        Whether ``room`` was sufficient, as in `read_contacts`, and the indices of the taxels that were
        written to ``out``, possibly with duplicates.
    """
    index, _, _, layer = unpack(arrays)
    group, patches, limited = np.empty(len(loads), np.int64), TaxelIndex(*index).patches, 0
    for m in range(len(loads)):
        limited |= patches[loads[m].patch].limited
    if limited:
        inside = np.empty(len(loads), np.bool_)
        mark_inside(loads, group, group_loads(loads, group), extents, index, inside)
        loads = loads[inside]
        group = group[: len(loads)]
    count, left = add_readings(loads, group, arrays, quantity, sums, np.empty(0, LOAD), np.empty(0, np.int64))
    taxels = layer.touched[:count]
    if left:
        rest = loads[group < 0]
        begin, reach = np.empty(left + 1, np.int64), np.empty(0)
        taxel, weight = np.empty(room * left, np.int64), np.empty(room * left)
        found = spread(rest, LINEAR, reach, extents, index, begin, taxel, weight)
        if found < 0:
            for t in taxels:
                sums[t] = 0.0
            return False, taxels
        values = share_values(rest, quantity, begin, taxel, index)
        gather(rest, begin, taxel, weight, values, mean, sums, out)
        flush(taxels, mean, sums, out)
        return True, np.concatenate((taxels, taxel[:found]))
    flush(taxels, mean, sums, out)
    return True, taxels


@kernel
def mark_inside(loads, group, count, extents, arrays, inside):
    """Determine for each load whether a taxel receives it or whether it is outside the pads.

    The loads of a pair are tested together, at the centre of their points, because the points of a flat
    contact are at its corners, which can be off the pad.

    Args:
        loads: (m,) loads, as an array of `loads.LOAD`.
        group: (m,) number of each load's pair, or -1.
        count: Number of pairs.
        extents: (n, 3) array with the columns AREA, SPACING and LIMIT of `patches`.
        arrays: Fields of the skin's `TaxelIndex`, as a plain tuple.
        inside: (m,) bool output: True if a taxel receives the load.
    """
    index = TaxelIndex(*arrays)
    for m in range(len(loads)):
        if group[m] < 0:
            inside[m] = not is_outside(loads[m], extents, index)
    for number in range(count):
        total, point, normal, first = 0.0, np.zeros(3), np.zeros(3), -1
        for m in range(len(loads)):
            if group[m] != number:
                continue
            first = m if first < 0 else first
            along = 0.0
            for i in range(3):
                along += loads[m].force[i] * loads[m].normal[i]
            total += along
            point += along * loads[m].point
            normal += along * loads[m].normal
        center = loads[first : first + 1].copy()
        center[0].point[:] = point / total
        center[0].normal[:] = normal / np.sqrt((normal**2).sum())
        inside[group == number] = not is_outside(center[0], extents, index)


@kernel(counted=False)
def net_wrenches(values, ids, slot, body_positions, body_rotations, out):
    """Add the net contact wrench of each body with skin to ``out``.

    Args:
        values: (c, WIDTH) values of `engines.Contacts`.
        ids: (c, IDS) ids of `engines.Contacts`.
        slot: (nbody,) index of each body among the b bodies with skin, or -1.
        body_positions: (nbody, 3) positions of the bodies in the world [m].
        body_rotations: (nbody, 3, 3) rotations from body frames to the world.
        out: (b, 6) output: force [N] and torque [N m] about the body's origin, in the body's frame.
    """
    position, wrench_world, bodies = values[:, POSITION:], values[:, WRENCH_WORLD:], ids[:, BODIES:]
    for c in range(len(ids)):
        for side in range(2):
            body = bodies[c, side]
            if body < 0 or slot[body] < 0:
                continue
            sign = 1.0 if side == 1 else -1.0
            fx, fy, fz = sign * wrench_world[c, 0], sign * wrench_world[c, 1], sign * wrench_world[c, 2]
            rx = position[c, 0] - body_positions[body, 0]
            ry = position[c, 1] - body_positions[body, 1]
            rz = position[c, 2] - body_positions[body, 2]
            tx = sign * wrench_world[c, 3] + ry * fz - rz * fy
            ty = sign * wrench_world[c, 4] + rz * fx - rx * fz
            tz = sign * wrench_world[c, 5] + rx * fy - ry * fx
            rotation = body_rotations[body]
            for i in range(3):
                out[slot[body], i] += rotation[0, i] * fx + rotation[1, i] * fy + rotation[2, i] * fz
                out[slot[body], 3 + i] += rotation[0, i] * tx + rotation[1, i] * ty + rotation[2, i] * tz


@kernel(counted=False)
def to_taxel_axes(values, axes):
    """Convert vectors from body frames to components along two tangents and the inward normal, in place.

    Args:
        values: (n, 3) vectors; replaced by their components.
        axes: (n, 3, 3) axes of the taxels. Rows: first tangent, second tangent, outward normal.
    """
    for n in range(len(values)):
        x, y, z = values[n, 0], values[n, 1], values[n, 2]
        if x != 0.0 or y != 0.0 or z != 0.0:
            for i in range(3):
                along = axes[n, i, 0] * x + axes[n, i, 1] * y + axes[n, i, 2] * z
                values[n, i] = along if i < 2 else -along


@kernel(counted=False)
def place_in_world(points, offsets, body_ids, positions, rotations, out):
    """Transform points from body frames to the world.

    Args:
        points: (n, 3) points in body frames, grouped by pad [m].
        offsets: (p + 1,) first point of each pad; the last entry is n.
        body_ids: (p,) id of the body of each pad.
        positions: (nbody, 3) positions of the bodies in the world [m].
        rotations: (nbody, 3, 3) rotations from body frames to the world.
        out: (n, 3) output: positions in the world [m].
    """
    for b in range(len(body_ids)):
        r, t = rotations[body_ids[b]], positions[body_ids[b]]
        # Local variables, because the compiler would read arrays again after each write to the output.
        xx, xy, xz, tx = r[0, 0], r[0, 1], r[0, 2], t[0]
        yx, yy, yz, ty = r[1, 0], r[1, 1], r[1, 2], t[1]
        zx, zy, zz, tz = r[2, 0], r[2, 1], r[2, 2], t[2]
        for q in range(offsets[b], offsets[b + 1]):
            x, y, z = points[q, 0], points[q, 1], points[q, 2]
            out[q, 0] = xx * x + xy * y + xz * z + tx
            out[q, 1] = yx * x + yy * y + yz * z + ty
            out[q, 2] = zx * x + zy * y + zz * z + tz

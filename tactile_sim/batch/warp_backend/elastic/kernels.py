"""Kernels of `elastic_foundation`: find patches with contacts, and compute the readings of their taxels."""

import warp as wp
from warp import float64 as real

from tactile_sim.batch.warp_backend.contact_kernels import GEOMS
from tactile_sim.batch.warp_backend.curvature import Geom
from tactile_sim.batch.warp_backend.elastic.arrays import Layer
from tactile_sim.batch.warp_backend.elastic.pairs import Pair, group_loads, load_at, net_load
from tactile_sim.batch.warp_backend.elastic.press import press
from tactile_sim.batch.warp_backend.loads import Load as Point
from tactile_sim.batch.warp_backend.loads import load_of
from tactile_sim.batch.warp_backend.taxel_kernels import (
    Taxels,
    add_load,
    add_reading,
    find_nearest,
    is_outside,
)
from tactile_sim.skin import touch_functions
from tactile_sim.skin.responses import LINEAR

OUTSIDE = -2
"""Value of ``Load.group`` for loads that no taxel receives."""


@wp.kernel(enable_backward=False)
def list_patches(
    counts: wp.array[int],
    ids: wp.array3d[int],
    geoms: wp.array[Geom],
    patches: int,
    listed: wp.array[int],
    number: wp.array[int],
):
    """List the patches with contacts in arbitrary order. One thread handles a patch in an environment.

    Args:
        counts: (num_envs,) number of contacts.
        ids: (num_envs, k, Contacts.IDS) body and geom ids of the contacts.
        geoms: (ngeom,) geoms with the index of their patch.
        patches: Number of patches.
        listed: Receives the index environment * patches + patch of each patch with a contact.
        number: (1,) receives the number of these patches; must be zero before.
    """
    env, p = wp.tid()
    touched = bool(False)
    for slot in range(counts[env]):
        for side in range(2):
            touched = touched or geoms[ids[env, slot, wp.static(GEOMS) + side]].patch == p
    if touched:
        listed[wp.atomic_add(number, 0, 1)] = env * patches + p


@wp.func
def drop_outside(layer: Layer, lane: int, count: int, pairs: int, patch: int, taxels: Taxels):
    """Set the group of loads outside limited pads to OUTSIDE, so that no taxel receives them.

    All loads of a pair of surfaces are tested together: their center is inside or outside. Loads that belong
    to no pair are tested one by one.

    Args:
        layer: The layer, with the loads in ``Layer.loads``.
        lane: Index of the thread.
        count: Number of loads.
        pairs: Number of pairs.
        patch: Index of the patch.
        taxels: The taxels of the skin.
    """
    for number in range(pairs):
        pair = net_load(layer, lane, number, count, patch, 0, real(0.0))
        center = Point()
        center.point = wp.vec3(pair.origin)
        center.normal = wp.vec3(pair.axes[2])
        if is_outside(find_nearest(center, taxels.patches[patch], taxels), center, taxels):
            regroup(layer, lane, count, number, wp.static(OUTSIDE))
    for m in range(count):
        load = layer.loads[m, lane]
        if load.group == -1:
            point = Point()
            point.point = wp.vec3(load.point)
            point.normal = wp.vec3(load.normal)
            if is_outside(find_nearest(point, taxels.patches[patch], taxels), point, taxels):
                load.group = wp.static(OUTSIDE)
                layer.loads[m, lane] = load


@wp.func
def regroup(layer: Layer, lane: int, count: int, number: int, group: int):
    """Set the group of the loads of pair ``number`` to ``group``; ``count`` is the number of all loads."""
    for m in range(count):
        load = layer.loads[m, lane]
        if load.group == number:
            load.group = group
            layer.loads[m, lane] = load


@wp.func
def add_pair(
    env: int,
    layer: Layer,
    lane: int,
    pair: Pair,
    rotation: wp.mat33d,
    taxels: Taxels,
    quantity: int,
    in_taxel_axes: bool,
    out: wp.array3d[float],
):
    """Add the load between a pair of surfaces to the readings ``out``; return whether it presses any taxel.

    Args:
        env: Index of the environment.
        layer: The layer.
        lane: Index of the thread.
        pair: The pair.
        rotation: Rotation from the frame of the body with the skin to the world.
        taxels: The taxels of the skin.
        quantity: Number of the touch function, such as ``touch_functions.NORMAL``.
        in_taxel_axes: As in `add_reading`.
        out: (num_envs, taxels, channels) readings.
    """
    pressure = press(layer, lane, pair, taxels)
    axes = pair.axes
    if quantity == wp.static(touch_functions.FORCE_VECTOR_GLOBAL):
        axes = axes * wp.transpose(rotation)
    e1, e2, normal = axes[0], axes[1], axes[2]
    lean_x, lean_y = pair.force[0] / pair.force[2], pair.force[1] / pair.force[2]
    scale, twist = pressure.scale, pressure.twist
    for e in range(pressure.pressed):
        f, fz = scale * layer.sums[0, e, lane], scale * layer.sums[3, e, lane]
        fx, fy = scale * layer.sums[1, e, lane] + lean_x * fz, scale * layer.sums[2, e, lane] + lean_y * fz
        first = f * lean_x - twist * (fy - f * pressure.y)
        second = f * lean_y + twist * (fx - f * pressure.x)
        value = wp.vec3d()
        if quantity == wp.static(touch_functions.NORMAL):
            value[0] = f
        elif quantity == wp.static(touch_functions.NORMAL_FORCE):
            value = f * normal
        elif quantity == wp.static(touch_functions.FRICTION):
            value = first * e1 + second * e2
        else:
            value = first * e1 + second * e2 + f * normal
        add_reading(env, layer.pressed[e, lane], wp.vec3(value), in_taxel_axes, taxels, out)
    return pressure.pressed > 0


@wp.kernel(enable_backward=False)
def read_areas(
    listed: wp.array[int],
    number: wp.array[int],
    counts: wp.array[int],
    values: wp.array3d[float],
    ids: wp.array3d[int],
    xpos: wp.array2d[wp.vec3],
    xmat: wp.array2d[wp.mat33],
    geoms: wp.array[Geom],
    taxels: Taxels,
    quantity: int,
    in_taxel_axes: bool,
    layer: Layer,
    queue: wp.array2d[int],
    distances: wp.array2d[float],
    out: wp.array3d[float],
    full: wp.array[int],
):
    """Spread the loads on each listed patch over the contact area, and add them to the taxels' readings.

    The readings must be zero at the start. One thread handles a patch, one pair after another. Loads that
    cannot be spread over an area are spread linearly. ``full`` is set as in `taxel_kernels.read_contacts`.
    """
    lane = wp.tid()
    patches = taxels.patches.shape[0]
    k = int(lane)
    while k < number[0]:
        env, p = listed[k] // patches, listed[k] % patches
        patch = taxels.patches[p]
        k += layer.gap.shape[1]
        count, body, limited = int(0), int(0), patch.limited
        for slot in range(counts[env]):
            for side in range(2):
                here = geoms[ids[env, slot, wp.static(GEOMS) + side]]
                if here.patch == p:
                    body = here.body
                    layer.loads[count, lane] = load_at(env, slot, side, values, ids, xpos, xmat, geoms, layer)
                    count += 1
        pairs = group_loads(layer, lane, count)
        if limited != 0:
            drop_outside(layer, lane, count, pairs, p, taxels)
        rotation = wp.mat33d(xmat[env, body])
        for pair_number in range(pairs):
            pair = net_load(layer, lane, pair_number, count, p, patch.start, real(patch.spacing))
            if pair.first < 0:
                continue
            done = bool(False)
            if pair.force[2] > real(0.0):
                done = add_pair(env, layer, lane, pair, rotation, taxels, quantity, in_taxel_axes, out)
            if not done:  # no taxel is in reach, or the net force pulls
                regroup(layer, lane, count, pair_number, -1)
        for m in range(count):
            if layer.loads[m, lane].group == -1:
                slot, side = layer.loads[m, lane].contact // 2, layer.loads[m, lane].contact % 2
                here = geoms[ids[env, slot, wp.static(GEOMS) + side]]
                there = geoms[ids[env, slot, wp.static(GEOMS) + 1 - side]]
                load = load_of(env, slot, side, values, here, there, xpos, xmat)
                start = find_nearest(load, patch, taxels)
                if not add_load(
                    env,
                    lane,
                    start,
                    load,
                    taxels,
                    quantity,
                    wp.static(LINEAR),
                    in_taxel_axes,
                    queue,
                    distances,
                    out,
                ):
                    full[0] = 1
                    break

"""Combine the contacts of a patch with one other body into a pair of surfaces that press on each other."""

import warp as wp
from warp import float64 as real

from tactile_sim.batch.warp_backend.contact_kernels import (
    BODIES,
    DISTANCE,
    FRAME,
    GEOMS,
    POSITION,
    WRENCH_WORLD,
    vector_at,
)
from tactile_sim.batch.warp_backend.curvature import Geom
from tactile_sim.batch.warp_backend.elastic import constants
from tactile_sim.batch.warp_backend.elastic.arrays import Layer, Load


@wp.struct
class Pair:
    """Combined contacts of a patch with one other body.

    ``origin`` [m] and ``axes`` give the frame of the pair in the frame of the body with the patch; the rows
    of ``axes`` are two tangents and the mean normal. ``force`` [N] and ``moment`` about the origin [N m] are
    expressed in the frame of the pair.
    """

    first: int
    number: int
    loads: int
    """Number of loads on the patch."""
    patch: int
    base: int
    """First taxel of the patch."""
    spacing: real
    other_patch: int
    """Patch of the other body, or -1 if it has no skin."""
    origin: wp.vec3d
    axes: wp.mat33d
    force: wp.vec3d
    moment: wp.vec3d


@wp.func
def doubled(values: wp.array3d[float], env: int, slot: int, column: int):
    """Return the values of a contact in ``column`` and the next two columns as a float64 vector."""
    return wp.vec3d(vector_at(values, env, slot, column))


@wp.func
def load_at(
    env: int,
    slot: int,
    side: int,
    values: wp.array3d[float],
    ids: wp.array3d[int],
    xpos: wp.array2d[wp.vec3],
    xmat: wp.array2d[wp.mat33],
    geoms: wp.array[Geom],
    layer: Layer,
):
    """Return the load of a contact on the skin of one of its two geoms, in the frame of that geom's body.

    ``slot`` is the index of the contact in the environment, and ``side`` is 0 for the first geom or 1 for the
    second.
    """
    other = ids[env, slot, wp.static(GEOMS) + 1 - side]
    here = ids[env, slot, wp.static(BODIES) + side]
    there = ids[env, slot, wp.static(BODIES) + 1 - side]
    sign = wp.where(side == 1, real(1.0), real(-1.0))
    to_body = wp.transpose(wp.mat33d(xmat[env, here]))
    origin = wp.vec3d(xpos[env, here])
    normal = doubled(values, env, slot, wp.static(FRAME))
    half = real(0.5) * real(values[env, slot, wp.static(DISTANCE)]) * sign
    load = Load()
    load.contact = 2 * slot + side
    load.group = -1
    load.other = other
    load.other_body = there
    load.other_patch = geoms[other].patch
    load.point = to_body * (doubled(values, env, slot, wp.static(POSITION)) + half * normal - origin)
    load.normal = sign * (to_body * normal)
    load.force = sign * (to_body * doubled(values, env, slot, wp.static(WRENCH_WORLD)))
    load.torque = sign * (to_body * doubled(values, env, slot, wp.static(WRENCH_WORLD) + 3))
    load.torque += wp.cross(-half * sign * load.normal, load.force)
    solid, turn = layer.solids[other], wp.mat33d(xmat[env, there])
    load.other_position = to_body * (wp.vec3d(xpos[env, there]) + turn * solid.position - origin)
    load.other_rotation = to_body * (turn * solid.rotation)
    return load


@wp.func
def group_loads(layer: Layer, lane: int, count: int):
    """Set each load's ``group`` to the number of its pair, or to -1 if it pulls; return how many pairs exist.

    Loads from the same body with similar normals belong to the same pair. ``count`` is the number of loads.
    """
    number = int(0)
    for m in range(count):
        load = layer.loads[m, lane]
        push = wp.dot(load.force, load.normal)
        load.group = -1
        if push > real(0.0) and push < real(wp.inf):
            for k in range(m):
                other = layer.loads[k, lane]
                if load.group < 0 and other.group >= 0 and other.other_body == load.other_body:
                    if wp.dot(other.normal, load.normal) > real(wp.static(constants.APART)):
                        load.group = other.group
            if load.group < 0:
                load.group = number
                number += 1
        layer.loads[m, lane] = load
    return number


@wp.func
def net_load(layer: Layer, lane: int, number: int, count: int, patch: int, base: int, spacing: real):
    """Combine the loads between a pair of surfaces into a `Pair`.

    Args:
        layer: The layer, with grouped loads in ``Layer.loads``.
        lane: Index of the thread.
        number: Number of the pair.
        count: Number of loads on the patch.
        patch: Index of the patch.
        base: First taxel of the patch.
        spacing: Distance between neighboring taxels of the patch [m].
    """
    pair = Pair()
    pair.first = int(-1)
    pair.number = number
    pair.loads = count
    pair.patch = patch
    pair.base = base
    pair.spacing = spacing
    total, normal = real(0.0), wp.vec3d()
    for m in range(count):
        load = layer.loads[m, lane]
        if load.group == number:
            if pair.first < 0:
                pair.first = m
                pair.other_patch = load.other_patch
            push = wp.dot(load.force, load.normal)
            total += push
            pair.origin += push * load.point
            normal += push * load.normal
    pair.origin = pair.origin / total
    normal = normal / wp.sqrt(wp.dot(normal, normal))
    # A tangent: the axis that is farthest from the normal, made orthogonal to it.
    a, b, c = wp.abs(normal[0]), wp.abs(normal[1]), wp.abs(normal[2])
    axis = wp.vec3d(real(0.0), real(0.0), real(1.0))
    if a <= b and a <= c:
        axis = wp.vec3d(real(1.0), real(0.0), real(0.0))
    elif b < a and b <= c:
        axis = wp.vec3d(real(0.0), real(1.0), real(0.0))
    tangent = axis - wp.dot(axis, normal) * normal
    tangent = tangent / wp.sqrt(wp.dot(tangent, tangent))
    pair.axes = wp.matrix_from_rows(tangent, wp.cross(normal, tangent), normal)
    force, moment = wp.vec3d(), wp.vec3d()
    for m in range(count):
        load = layer.loads[m, lane]
        if load.group == number:
            force += load.force
            moment += load.torque + wp.cross(load.point - pair.origin, load.force)
    pair.force = pair.axes * force
    pair.moment = pair.axes * moment
    return pair

"""Warp functions that compute the loads of contacts on a skin and evaluate touch functions for them."""

import warp as wp

from tactile_sim.batch.warp_backend.contact_kernels import (
    DISTANCE,
    FRAME,
    POSITION,
    WRENCH_WORLD,
    vector_at,
)
from tactile_sim.batch.warp_backend.curvature import Geom, effective_radius
from tactile_sim.skin import touch_functions


@wp.struct
class Load:
    """Contact load on a patch of skin, in the frame of the patch's body; see `skin.loads.Loads`."""

    point: wp.vec3
    normal: wp.vec3
    force: wp.vec3
    force_world: wp.vec3
    radius: float
    patch: int
    other_patch: int


@wp.func
def load_of(
    env: int,
    slot: int,
    side: int,
    values: wp.array3d[float],
    here: Geom,
    there: Geom,
    xpos: wp.array2d[wp.vec3],
    xmat: wp.array2d[wp.mat33],
):
    """Return the load of a contact on the skin of one of its two geoms, in the frame of that geom's body.

    Args:
        env: Index of the environment.
        slot: Index of the contact in the environment.
        side: 0 for the first geom of the contact, 1 for the second.
        values: (num_envs, k, Contacts.WIDTH) contacts.
        here: The geom with the skin.
        there: The other geom.
        xpos: (num_envs, nbody) origins of the bodies in the world [m].
        xmat: (num_envs, nbody) rotations from body frames to the world.
    """
    frame = wp.matrix_from_rows(
        vector_at(values, env, slot, wp.static(FRAME)),
        vector_at(values, env, slot, wp.static(FRAME) + 3),
        vector_at(values, env, slot, wp.static(FRAME) + 6),
    )
    sign = wp.where(side == 1, 1.0, -1.0)
    to_body = wp.transpose(xmat[env, here.body])
    normal = to_body * frame[0]
    half = 0.5 * values[env, slot, wp.static(DISTANCE)] * sign
    load = Load()
    middle = vector_at(values, env, slot, wp.static(POSITION)) - xpos[env, here.body]
    load.point = to_body * middle + half * normal
    load.normal = sign * normal
    load.force_world = sign * vector_at(values, env, slot, wp.static(WRENCH_WORLD))
    load.force = to_body * load.force_world
    load.radius = effective_radius(here, there, xmat[env, here.body], xmat[env, there.body], frame)
    load.patch = here.patch
    load.other_patch = there.patch
    return load


@wp.func
def value_of(load: Load, quantity: int):
    """Return the value of a touch function for a load as a vector; a scalar is the first component.

    ``quantity`` is the number of the touch function, as in `touch_functions.evaluate`.
    """
    along = wp.dot(load.force, load.normal)
    if quantity == wp.static(touch_functions.NORMAL):
        return wp.vec3(along, 0.0, 0.0)
    if quantity == wp.static(touch_functions.NORMAL_FORCE):
        return along * load.normal
    if quantity == wp.static(touch_functions.FORCE_VECTOR_GLOBAL):
        return load.force_world
    if quantity == wp.static(touch_functions.FRICTION):
        return load.force - along * load.normal
    return load.force

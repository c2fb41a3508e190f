"""Collect the contacts of all MuJoCo Warp environments in the layout of `engines.Contacts`.

In all kernels of this package, ``counts`` (num_envs,), ``values`` (num_envs, k, Contacts.WIDTH) and ``ids``
(num_envs, k, Contacts.IDS) are the contacts, and ``xpos`` and ``xmat`` (num_envs, nbody) the poses of bodies.
"""

from typing import Any

import mujoco
import mujoco_warp as mjw
import numpy as np
import warp as wp

from tactile_sim.engines import Contacts

_ROOM = 48
POSITION, FRAME, DISTANCE = Contacts.POSITION, Contacts.FRAME, Contacts.DISTANCE
WRENCH_WORLD, WRENCH, VELOCITY = Contacts.WRENCH_WORLD, Contacts.WRENCH, Contacts.VELOCITY
ANGULAR, FRICTION = Contacts.ANGULAR, Contacts.FRICTION
BODIES, GEOMS, INDEX = Contacts.BODIES, Contacts.GEOMS, Contacts.INDEX


@wp.kernel(enable_backward=False)
def list_contacts(
    number: wp.array[int],
    world: wp.array[int],
    address: wp.array2d[int],
    counts: wp.array[int],
    slots: wp.array2d[int],
):
    """List the contacts with a force in each environment, in arbitrary order. One thread per contact.

    ``number``: (1,) number of contacts in all environments.
    ``world``: Environment of each contact.
    ``address``: First constraint row of each contact (in column 0); negative if the contact has no force.
    ``slots``: (num_envs, k) receives the indices of the contacts.
    """
    c = wp.tid()
    if c >= number[0] or address[c, 0] < 0:
        return
    env = world[c]
    slot = wp.atomic_add(counts, env, 1)
    if slot < slots.shape[1]:
        slots[env, slot] = c


@wp.func
def precedes(a: int, b: int, geom: wp.array[wp.vec2i], number: wp.array[int]):
    """Return whether contact ``a`` sorts before contact ``b``.

    Contacts are sorted by their geom ids, and contacts of the same two geoms by their ``number``.
    """
    if geom[a][0] != geom[b][0]:
        return geom[a][0] < geom[b][0]
    if geom[a][1] != geom[b][1]:
        return geom[a][1] < geom[b][1]
    return number[a] < number[b]


@wp.kernel(enable_backward=False)
def sort_contacts(
    geom: wp.array[wp.vec2i],
    number: wp.array[int],
    counts: wp.array[int],
    slots: wp.array2d[int],
    most: wp.array[int],
):
    """Sort the contacts of each environment as in `precedes`, so that sums are reproducible.

    One thread handles an environment.

    ``geom``: Geom ids of each contact.
    ``number``: Index of each contact among the contacts of the same two geoms.
    ``slots``: (num_envs, k) indices of the contacts, sorted in place.
    ``most``: (1,) receives the largest of ``counts``; must be zero before the call.
    """
    env = wp.tid()
    wp.atomic_max(most, 0, counts[env])
    for k in range(1, wp.min(counts[env], slots.shape[1])):
        contact = slots[env, k]
        at = int(k)
        while at > 0 and precedes(contact, slots[env, wp.max(at - 1, 0)], geom, number):
            slots[env, at] = slots[env, at - 1]
            at -= 1
        slots[env, at] = contact


@wp.kernel(enable_backward=False)
def record_contacts(
    counts: wp.array[int],
    slots: wp.array2d[int],
    pos: wp.array[wp.vec3],
    frame: wp.array[wp.mat33],
    dist: wp.array[float],
    friction: wp.array[Any],
    dim: wp.array[int],
    geom: wp.array[wp.vec2i],
    force: wp.array[wp.spatial_vector],
    geom_body: wp.array[int],
    body_root: wp.array[int],
    cvel: wp.array2d[wp.spatial_vector],
    subtree_com: wp.array2d[wp.vec3],
    values: wp.array3d[float],
    ids: wp.array3d[int],
):
    """Write the listed contacts in the layout of `engines.Contacts`. One thread per environment and slot.

    ``slots``: (num_envs, k) indices of the contacts, which select elements of the next seven arrays.
    ``pos``: Positions in the world [m].
    ``frame``: Contact frames; rows are the normal and two tangents.
    ``dist``: Distances [m].
    ``friction``: Friction coefficients.
    ``dim``: Dimensions (condim).
    ``geom``: Geom ids.
    ``force``: Forces and torques in the contact frame [N, N m].
    ``geom_body``: (ngeom,) body of each geom.
    ``body_root``: (nbody,) root body of each body.
    ``cvel``: (num_envs, nbody) angular and linear velocities at the center of mass of the kinematic tree.
    ``subtree_com``: (num_envs, nbody) centers of mass of the subtrees in the world [m].
    """
    env, slot = wp.tid()
    if slot >= counts[env]:
        return
    c = slots[env, slot]
    axes = frame[c]
    along, turn = wp.spatial_top(force[c]), wp.spatial_bottom(force[c])
    force_world, torque_world = along * axes, turn * axes
    ids[env, slot, wp.static(INDEX)] = c
    velocity, turning = wp.vec3(), wp.vec3()
    for side in range(2):
        g = geom[c][side]
        body = geom_body[g]
        ids[env, slot, wp.static(GEOMS) + side] = g
        ids[env, slot, wp.static(BODIES) + side] = body
        moving = cvel[env, body]
        arm = pos[c] - subtree_com[env, body_root[body]]
        surface = wp.spatial_bottom(moving) + wp.cross(wp.spatial_top(moving), arm)
        sign = wp.where(side == 1, 1.0, -1.0)
        velocity += sign * surface
        turning += sign * wp.spatial_top(moving)
    for i in range(3):
        values[env, slot, wp.static(POSITION) + i] = pos[c][i]
        values[env, slot, wp.static(WRENCH) + i] = along[i]
        values[env, slot, wp.static(WRENCH) + 3 + i] = turn[i]
        values[env, slot, wp.static(WRENCH_WORLD) + i] = force_world[i]
        values[env, slot, wp.static(WRENCH_WORLD) + 3 + i] = torque_world[i]
        values[env, slot, wp.static(VELOCITY) + i] = velocity[i]
        values[env, slot, wp.static(ANGULAR) + i] = turning[i]
        for j in range(3):
            values[env, slot, wp.static(FRAME) + 3 * i + j] = axes[i, j]
    values[env, slot, wp.static(DISTANCE)] = dist[c]
    values[env, slot, wp.static(FRICTION)] = wp.where(dim[c] > 1, friction[c][0], 0.0)


@wp.func
def vector_at(values: wp.array3d[float], env: int, slot: int, column: int):
    """Return the values of a contact in ``column`` and the next two columns as a vector."""
    return wp.vec3(values[env, slot, column], values[env, slot, column + 1], values[env, slot, column + 2])


@wp.kernel(enable_backward=False)
def net_wrenches(
    counts: wp.array[int],
    values: wp.array3d[float],
    ids: wp.array3d[int],
    xpos: wp.array2d[wp.vec3],
    xmat: wp.array2d[wp.mat33],
    bodies: wp.array[int],
    out: wp.array3d[float],
):
    """Write the net contact wrench on each body with skin, about the body's origin and in its frame.

    One thread handles a body in an environment.

    ``bodies``: (b,) ids of the bodies with skin.
    ``out``: (num_envs, b, 6) receives force and torque [N, N m].
    """
    env, k = wp.tid()
    body = bodies[k]
    force, torque = wp.vec3(), wp.vec3()
    for slot in range(counts[env]):
        for side in range(2):
            if ids[env, slot, wp.static(BODIES) + side] == body:
                sign = wp.where(side == 1, 1.0, -1.0)
                push = sign * vector_at(values, env, slot, wp.static(WRENCH_WORLD))
                arm = vector_at(values, env, slot, wp.static(POSITION)) - xpos[env, body]
                force += push
                torque += sign * vector_at(values, env, slot, wp.static(WRENCH_WORLD) + 3)
                torque += wp.cross(arm, push)
    to_body = wp.transpose(xmat[env, body])
    force, torque = to_body * force, to_body * torque
    for i in range(3):
        out[env, k, i] = force[i]
        out[env, k, 3 + i] = torque[i]


class WarpContacts:
    """Contacts with a force, sorted so that sums do not depend on the order in which threads run."""

    def __init__(self, model: mujoco.MjModel, num_envs: int, device: Any):
        """Allocate arrays for the contacts of all environments on a Warp device."""
        self.num_envs, self.device = num_envs, device
        with wp.ScopedDevice(device):
            self._bodies = [wp.array(array, dtype=int) for array in (model.geom_bodyid, model.body_rootid)]
            self._most = wp.zeros(1, dtype=int)
            self._ids = wp.zeros(0, dtype=int)
            self.counts = wp.zeros(num_envs, dtype=int)
            """(num_envs,) number of contacts in each environment."""
        self._make_room(_ROOM)

    def read(self, warp_model: Any, data: Any) -> None:
        """Read the contacts of MuJoCo Warp's last forward step. Call `fit` to check that all were stored."""
        contact = data.contact
        if len(self._ids) != data.naconmax:
            with wp.ScopedDevice(self.device):
                self._ids = wp.array(np.arange(data.naconmax), dtype=int)
                self._force = wp.zeros(data.naconmax, dtype=wp.spatial_vector)
        mjw.contact_force(warp_model, data, self._ids, False, self._force)
        self.counts.zero_()
        self._most.zero_()
        wp.launch(
            list_contacts, data.naconmax, [data.nacon, contact.worldid, contact.efc_address],
            [self.counts, self._slots], device=self.device,
        )  # fmt: skip
        wp.launch(
            sort_contacts, self.num_envs, [contact.geom, contact.geomcollisionid],
            [self.counts, self._slots, self._most], device=self.device,
        )  # fmt: skip
        wp.launch(
            record_contacts, self._slots.shape,
            [self.counts, self._slots, contact.pos, contact.frame, contact.dist, contact.friction,
             contact.dim, contact.geom, self._force, *self._bodies, data.cvel, data.subtree_com],
            [self.values, self.ids], device=self.device,
        )  # fmt: skip

    def fit(self) -> bool:
        """Return whether the arrays were large enough for the last `read`; if not, enlarge them."""
        if (most := int(self._most.numpy()[0])) <= self.values.shape[1]:
            return True
        self._make_room(2 * most)
        return False

    def _make_room(self, contacts: int) -> None:
        shape = self.num_envs, contacts
        with wp.ScopedDevice(self.device):
            self._slots = wp.zeros(shape, dtype=int)
            self.values = wp.zeros((*shape, Contacts.WIDTH), dtype=float)
            """(num_envs, k, Contacts.WIDTH) float columns of `engines.Contacts`."""
            self.ids = wp.zeros((*shape, Contacts.IDS), dtype=int)
            """(num_envs, k, Contacts.IDS) integer columns of `engines.Contacts`."""

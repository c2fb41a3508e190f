"""The contacts of one step as a structure of arrays."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numba import njit

FORCE_FLOOR = 1e-9
"""A contact whose force stays below this [N] carries none and is not listed."""


@dataclass(frozen=True)
class Contacts:
    """n contacts that carry a force. Object 1 is the first geom, object 2 the second.

    Where one side is a flex, its geom and body are -1; the relative velocity against a flex is NaN, for its
    surface has no one body to move with.
    """

    position: np.ndarray
    """(n, 3) midway between the two surfaces, world [m]."""
    frame: np.ndarray
    """(n, 3, 3) rows: normal from object 1 to object 2, first tangent, second tangent; world, unit."""
    distance: np.ndarray
    """(n,) between the surfaces [m], negative in penetration."""
    geoms: np.ndarray
    """(n, 2) int32 geom ids."""
    bodies: np.ndarray
    """(n, 2) int32 body ids."""
    wrench: np.ndarray
    """(n, 6) on object 2 about the position, force then torque along the rows of the frame [N, N m]."""
    wrench_world: np.ndarray
    """(n, 6) the same along the axes of the world."""
    relative_velocity: np.ndarray
    """(n, 3) of object 2 against object 1 at the position, world [m/s]."""
    index: np.ndarray
    """(n,) int32 of each in the engine's own list."""

    def __len__(self) -> int:
        return len(self.distance)

    @staticmethod
    def empty(n: int) -> Contacts:
        """Room for n contacts."""
        shapes = ((3,), (3, 3), (), (2,), (2,), (6,), (6,), (3,), ())
        kinds = (float, float, float, np.int32, np.int32, float, float, float, np.int32)
        return Contacts(*(np.empty((n, *shape), kind) for shape, kind in zip(shapes, kinds, strict=True)))

    def first(self, n: int) -> Contacts:
        """The first n of them."""
        return self if n == len(self) else Contacts(*(array[:n] for array in self.arrays()))

    def arrays(self) -> tuple[np.ndarray, ...]:
        """All fields in their order."""
        return tuple(vars(self).values())

    def touching(self, sensing: np.ndarray) -> Contacts:
        """Those that touch a sensing body, told so that a lone sensing body is the second.

        sensing: (nbody + 1,) mask of bodies; its last entry stands for body -1. A contact told from its other
        side has its normal and second tangent turned round, so that the frame stays right-handed.
        """
        out = Contacts.empty(len(self))
        return out.first(_touching(sensing, self.arrays(), out.arrays()))


def read_contacts(model: mujoco.MjModel, data: mujoco.MjData) -> Contacts:
    """The contacts of MuJoCo's data, whose positions, velocities and constraint forces are of one state."""
    contact = data.contact
    n = data.ncon
    out = Contacts.empty(n)
    count = _read(
        contact.pos,
        contact.frame,
        contact.dist,
        contact.geom,
        contact.dim,
        contact.efc_address,
        contact.friction,
        data.efc_force,
        model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC,
        model.geom_bodyid,
        model.body_rootid,
        data.cvel,
        data.subtree_com,
        *out.arrays(),
    )
    return out.first(count)


@njit(cache=True)
def _touching(sensing, contacts, out):
    position, frame, distance, geoms, bodies, wrench, wrench_world, velocity, index = contacts
    o_position, o_frame, o_distance, o_geoms, o_bodies, o_wrench, o_world, o_velocity, o_index = out
    count = 0
    for c in range(len(distance)):
        first, second = sensing[bodies[c, 0]], sensing[bodies[c, 1]]
        if not (first or second):
            continue
        swap = first and not second
        sign = -1.0 if swap else 1.0
        o_position[count] = position[c]
        o_distance[count] = distance[c]
        o_index[count] = index[c]
        for side in range(2):
            o_geoms[count, side] = geoms[c, 1 - side if swap else side]
            o_bodies[count, side] = bodies[c, 1 - side if swap else side]
        for axis in range(3):
            turn = sign if axis != 1 else 1.0
            # The opposite wrench along turned axes: only the parts along the first tangent change their sign.
            o_wrench[count, axis] = sign * turn * wrench[c, axis]
            o_wrench[count, 3 + axis] = sign * turn * wrench[c, 3 + axis]
            for i in range(3):
                o_frame[count, axis, i] = turn * frame[c, axis, i]
            o_world[count, axis] = sign * wrench_world[c, axis]
            o_world[count, 3 + axis] = sign * wrench_world[c, 3 + axis]
            o_velocity[count, axis] = sign * velocity[c, axis]
        count += 1
    return count


@njit(cache=True)
def _read(
    pos,
    frame,
    dist,
    geom,
    dim,
    address,
    friction,
    efc_force,
    elliptic,
    geom_body,
    body_root,
    cvel,
    subtree_com,
    out_pos,
    out_frame,
    out_dist,
    out_geoms,
    out_bodies,
    out_wrench,
    out_world,
    out_velocity,
    out_index,
):
    count = 0
    wrench = np.empty(6)
    for c in range(len(dist)):
        start = address[c]
        if start < 0:
            continue
        wrench[:] = 0.0
        if dim[c] == 1 or elliptic:
            for k in range(dim[c]):
                wrench[k] = efc_force[start + k]
        else:
            # A pyramidal cone has two opposite edges for each tangential direction (mju_decodePyramid).
            for k in range(dim[c] - 1):
                up = efc_force[start + 2 * k]
                down = efc_force[start + 2 * k + 1]
                wrench[0] += up + down
                wrench[k + 1] = (up - down) * friction[c, k]
        if max(abs(wrench[0]), abs(wrench[1]), abs(wrench[2])) < FORCE_FLOOR:
            continue

        out_wrench[count] = wrench
        out_dist[count] = dist[c]
        out_index[count] = c
        for i in range(3):
            out_pos[count, i] = pos[c, i]
            force = 0.0
            torque = 0.0
            for row in range(3):
                axis = frame[c, 3 * row + i]
                out_frame[count, row, i] = axis
                force += wrench[row] * axis
                torque += wrench[3 + row] * axis
            out_world[count, i] = force
            out_world[count, 3 + i] = torque
            out_velocity[count, i] = 0.0

        for side in range(2):
            g = geom[c, side]
            out_geoms[count, side] = g
            if g < 0:
                out_bodies[count, side] = -1
                out_velocity[count, :] = np.nan
                continue
            body = geom_body[g]
            out_bodies[count, side] = body
            sign = 1.0 if side == 1 else -1.0
            # cvel: rotation then translation of the body, at the centre of mass of its kinematic tree.
            root = body_root[body]
            rx = pos[c, 0] - subtree_com[root, 0]
            ry = pos[c, 1] - subtree_com[root, 1]
            rz = pos[c, 2] - subtree_com[root, 2]
            wx, wy, wz = cvel[body, 0], cvel[body, 1], cvel[body, 2]
            out_velocity[count, 0] += sign * (cvel[body, 3] + wy * rz - wz * ry)
            out_velocity[count, 1] += sign * (cvel[body, 4] + wz * rx - wx * rz)
            out_velocity[count, 2] += sign * (cvel[body, 5] + wx * ry - wy * rx)
        count += 1
    return count

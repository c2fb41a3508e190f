"""The contacts of one step as a structure of arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields

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

    def __len__(self) -> int:
        return len(self.distance)

    def select(self, keep: np.ndarray) -> Contacts:
        """Those contacts that a mask (n,) or an array of indices names."""
        return Contacts(*(getattr(self, field.name)[keep] for field in fields(self)))

    def flipped(self, swap: np.ndarray) -> Contacts:
        """The same contacts, told from the other side where the mask (n,) says so.

        The normal and the second tangent turn round, so that the frame stays right-handed.
        """
        turn = np.where(swap[:, None], [-1.0, 1.0, -1.0], 1.0)
        opposite = np.where(swap, -1.0, 1.0)[:, None]
        # Opposite wrench along turned axes: only the parts along the first tangent change their sign.
        components = np.tile(opposite * turn, 2)
        return Contacts(
            self.position,
            self.frame * turn[:, :, None],
            self.distance,
            np.where(swap[:, None], self.geoms[:, ::-1], self.geoms),
            np.where(swap[:, None], self.bodies[:, ::-1], self.bodies),
            self.wrench * components,
            self.wrench_world * opposite,
            self.relative_velocity * opposite,
        )


def read_contacts(model: mujoco.MjModel, data: mujoco.MjData) -> Contacts:
    """The contacts of MuJoCo's data, whose positions, velocities and constraint forces are of one state."""
    contact = data.contact
    n = data.ncon
    out = Contacts(
        np.empty((n, 3)),
        np.empty((n, 3, 3)),
        np.empty(n),
        np.empty((n, 2), np.int32),
        np.empty((n, 2), np.int32),
        np.empty((n, 6)),
        np.empty((n, 6)),
        np.empty((n, 3)),
    )
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
        out.position,
        out.frame,
        out.distance,
        out.geoms,
        out.bodies,
        out.wrench,
        out.wrench_world,
        out.relative_velocity,
    )
    return out if count == n else out.select(slice(count))


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

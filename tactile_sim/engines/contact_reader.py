"""Read the contacts that carry a force from MuJoCo's data."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.engines.contacts import (
    ANGULAR,
    BODIES,
    DISTANCE,
    FRAME,
    FRICTION,
    GEOMS,
    INDEX,
    POSITION,
    VELOCITY,
    WRENCH,
    WRENCH_WORLD,
    Contacts,
)

ELLIPTIC = int(mujoco.mjtCone.mjCONE_ELLIPTIC)
FORCE_FLOOR = 1e-9
"""Magnitude below which a force component is negligible [N].

Contacts whose force components are all negligible are omitted.
"""


def read_contacts(model: mujoco.MjModel, data: mujoco.MjData) -> Contacts:
    """Return the contacts in MuJoCo's data that carry a force.

    Args:
        model: MuJoCo model.
        data: Data whose positions, velocities and constraint forces belong to the same state.
    """
    contact = data.contact
    out = Contacts.empty(data.ncon)
    count = read_arrays(
        contact.pos,
        contact.frame,
        contact.dist,
        contact.geom,
        contact.dim,
        contact.efc_address,
        contact.friction,
        data.efc_force,
        model.opt.cone == ELLIPTIC,
        model.geom_bodyid,
        model.body_rootid,
        data.cvel,
        data.subtree_com,
        out.values,
        out.ids,
    )
    return Contacts(out.values[:count], out.ids[:count])


# MuJoCo's arrays are contiguous for one contact but not for more. The signature accepts both, and causes the
# kernel to be compiled on import, not in the middle of a run.
@kernel(
    "int64(f8[:,:], f8[:,:], f8[:], i4[:,:], i4[:], i4[:], f8[:,:], f8[::1], b1,"
    " i4[::1], i4[::1], f8[:,::1], f8[:,::1], f8[:,::1], i4[:,::1])",
    counted=False,
)
def read_arrays(
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
    out_values,
    out_ids,
):
    """Write the contacts that carry a force into the arrays of `Contacts` and return their number.

    Args:
        pos: (n, 3) contact positions in the world [m]. This and the next six arguments are fields of
            MuJoCo's contacts.
        frame: (n, 9) contact frames, row by row.
        dist: (n,) distances between the surfaces [m].
        geom: (n, 2) geom ids, or -1 for a flex.
        dim: (n,) dimensions of the contacts (condim).
        address: (n,) index of each contact's first element in ``efc_force``, or negative if no force acts.
        friction: (n, 1 or more) friction coefficients.
        efc_force: Constraint forces [N, N m], as in mujoco.MjData.
        elliptic: Whether friction cones are elliptic instead of pyramidal.
        geom_body: (ngeom,) body of each geom.
        body_root: (nbody,) root body of each body.
        cvel: (nbody, 6) angular and linear velocity of each body [rad/s, m/s]. The linear velocity is that of
            the point at the centre of mass of the body's kinematic tree.
        subtree_com: (nbody, 3) centres of mass of the subtrees in the world [m].
        out_values: (n, WIDTH) output array for `Contacts.values`.
        out_ids: (n, IDS) output array for `Contacts.ids`.
    """
    count = 0
    for c in range(len(dist)):
        start = address[c]
        if start < 0:
            continue
        out, out_id = out_values[count], out_ids[count]
        wrench = out[WRENCH : WRENCH + 6]
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

        out[DISTANCE] = dist[c]
        out[FRICTION] = friction[c, 0] if dim[c] > 1 else 0.0
        out_id[INDEX] = c
        for i in range(3):
            out[POSITION + i] = pos[c, i]
            force = 0.0
            torque = 0.0
            for row in range(3):
                axis = frame[c, 3 * row + i]
                out[FRAME + 3 * row + i] = axis
                force += wrench[row] * axis
                torque += wrench[3 + row] * axis
            out[WRENCH_WORLD + i] = force
            out[WRENCH_WORLD + 3 + i] = torque
            out[VELOCITY + i] = 0.0
            out[ANGULAR + i] = 0.0

        for side in range(2):
            g = geom[c, side]
            out_id[GEOMS + side] = g
            if g < 0:
                out_id[BODIES + side] = -1
                out[VELOCITY : VELOCITY + 3] = np.nan
                out[ANGULAR : ANGULAR + 3] = np.nan
                continue
            body = geom_body[g]
            out_id[BODIES + side] = body
            sign = 1.0 if side == 1 else -1.0
            # cvel: angular and linear velocity of the body, at the centre of mass of its kinematic tree.
            root = body_root[body]
            rx = pos[c, 0] - subtree_com[root, 0]
            ry = pos[c, 1] - subtree_com[root, 1]
            rz = pos[c, 2] - subtree_com[root, 2]
            wx, wy, wz = cvel[body, 0], cvel[body, 1], cvel[body, 2]
            out[VELOCITY] += sign * (cvel[body, 3] + wy * rz - wz * ry)
            out[VELOCITY + 1] += sign * (cvel[body, 4] + wz * rx - wx * rz)
            out[VELOCITY + 2] += sign * (cvel[body, 5] + wx * ry - wy * rx)
            for i in range(3):
                out[ANGULAR + i] += sign * cvel[body, i]
        count += 1
    return count

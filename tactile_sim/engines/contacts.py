"""Contacts of one time step, stored as a structure of arrays."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim.compilation import kernel

ELLIPTIC = int(mujoco.mjtCone.mjCONE_ELLIPTIC)
FORCE_FLOOR = 1e-9
"""Magnitude below which a force component is negligible [N].

Contacts whose force components are all negligible are omitted.
"""


class FlexContacts(NamedTuple):
    """Flex, element and vertex ids for the two sides of each contact.

    Each array has shape (n, 2), with one row for each of the engine's n contacts. An id is -1 if that side
    has no flex, element or vertex. `Contacts.index` contains row indices into these arrays.
    """

    flex: np.ndarray
    element: np.ndarray
    vertex: np.ndarray


class Contacts:
    """A set of n contacts that carry a force. Object 1 is the first geom and object 2 the second.

    The data is stored in two arrays with one row per contact, which kernels read directly. The properties are
    views of the columns of these arrays. If one side is a flex, its geom and body are -1 and the relative
    velocity is NaN, because the surface of a flex does not move with a single body.

    Attributes:
        values: (n, WIDTH) float64 array that contains the position, frame, wrench and other physical
            quantities of each contact.
        ids: (n, IDS) int32 array that contains the ids of the bodies and geoms, and the ``index``.
    """

    __slots__ = ("ids", "values")
    POSITION, FRAME, DISTANCE, WRENCH_WORLD, WRENCH, VELOCITY, FRICTION, WIDTH = 0, 3, 12, 13, 19, 25, 28, 29
    """First column of each field in ``values``, and the total number of columns."""
    BODIES, GEOMS, INDEX, IDS = 0, 2, 4, 5
    """First column of each field in ``ids``, and the total number of columns."""

    def __init__(self, values: np.ndarray, ids: np.ndarray):
        """Wrap two arrays without copying them.

        Args:
            values: (n, WIDTH) float64 array, see the attribute ``values``.
            ids: (n, IDS) int32 array, see the attribute ``ids``.
        """
        self.values = values
        self.ids = ids

    @staticmethod
    def empty(n: int) -> Contacts:
        """Create n contacts with uninitialized values."""
        return Contacts(np.empty((n, Contacts.WIDTH)), np.empty((n, Contacts.IDS), np.int32))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def position(self) -> np.ndarray:
        """(n, 3) point midway between the two surfaces, in the world frame [m]."""
        return self.values[:, 0:3]

    @property
    def frame(self) -> np.ndarray:
        """(n, 3, 3) axes of the contact frames, in the world frame.

        The rows are the unit normal from object 1 to object 2 and the two tangents.
        """
        return self.values[:, 3:12].reshape(-1, 3, 3)

    @property
    def distance(self) -> np.ndarray:
        """(n,) distance between the surfaces [m], negative if they penetrate."""
        return self.values[:, 12]

    @property
    def wrench_world(self) -> np.ndarray:
        """(n, 6) force and torque on object 2 about ``position``, in the world frame [N, N m]."""
        return self.values[:, 13:19]

    @property
    def wrench(self) -> np.ndarray:
        """(n, 6) force and torque of ``wrench_world``, expressed in the contact frame [N, N m]."""
        return self.values[:, 19:25]

    @property
    def relative_velocity(self) -> np.ndarray:
        """(n, 3) velocity of object 2 relative to object 1 at ``position``, in the world frame [m/s]."""
        return self.values[:, 25:28]

    @property
    def friction(self) -> np.ndarray:
        """(n,) coefficient of sliding friction along the first tangent."""
        return self.values[:, 28]

    @property
    def bodies(self) -> np.ndarray:
        """(n, 2) body ids of the two objects."""
        return self.ids[:, 0:2]

    @property
    def geoms(self) -> np.ndarray:
        """(n, 2) geom ids of the two objects."""
        return self.ids[:, 2:4]

    @property
    def index(self) -> np.ndarray:
        """(n,) index of each contact in the engine's list of contacts."""
        return self.ids[:, 4]

    def touching(self, sensing: np.ndarray) -> Contacts:
        """Return the contacts that involve sensing bodies.

        If only one of the objects is a sensing body, it becomes object 2. Swapping the objects negates the
        normal and the second tangent, so the frame stays right-handed.

        Args:
            sensing: (nbody + 1,) bool, True for each sensing body. The last entry belongs to body id -1,
                which denotes a flex.

        Returns:
            A copy of the selected contacts.
        """
        values, ids = np.empty_like(self.values), np.empty_like(self.ids)
        count = _touching(sensing, self.values, self.ids, values, ids)
        return Contacts(values[:count], ids[:count])


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


POSITION, FRAME, DISTANCE = Contacts.POSITION, Contacts.FRAME, Contacts.DISTANCE
WRENCH_WORLD, WRENCH, VELOCITY = Contacts.WRENCH_WORLD, Contacts.WRENCH, Contacts.VELOCITY
FRICTION = Contacts.FRICTION
BODIES, GEOMS, INDEX = Contacts.BODIES, Contacts.GEOMS, Contacts.INDEX


@kernel(counted=False)
def _touching(sensing, values, ids, out_values, out_ids):
    count = 0
    for c in range(len(ids)):
        first, second = sensing[ids[c, BODIES]], sensing[ids[c, BODIES + 1]]
        if not (first or second):
            continue
        out, out_id = out_values[count], out_ids[count]
        for i in range(len(out)):
            out[i] = values[c, i]
        for i in range(len(out_id)):
            out_id[i] = ids[c, i]
        if first and not second:
            for column in (BODIES, GEOMS):
                out_id[column], out_id[column + 1] = ids[c, column + 1], ids[c, column]
            for i in range(3):
                out[FRAME + i] = -out[FRAME + i]
                out[FRAME + 6 + i] = -out[FRAME + 6 + i]
                out[VELOCITY + i] = -out[VELOCITY + i]
            for i in range(6):
                out[WRENCH_WORLD + i] = -out[WRENCH_WORLD + i]
            # The negated wrench along negated axes: only components along the first tangent change sign.
            out[WRENCH + 1] = -out[WRENCH + 1]
            out[WRENCH + 4] = -out[WRENCH + 4]
        count += 1
    return count


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

        for side in range(2):
            g = geom[c, side]
            out_id[GEOMS + side] = g
            if g < 0:
                out_id[BODIES + side] = -1
                out[VELOCITY : VELOCITY + 3] = np.nan
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
        count += 1
    return count

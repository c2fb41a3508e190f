"""Contacts of one time step, stored as a structure of arrays."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim import _core

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

    The data is stored in two arrays with one row per contact, which compiled functions read directly. The
    properties are views of the columns of these arrays. If one side is a flex, its geom and body are -1 and
    the relative velocities are NaN, because the surface of a flex does not move with a single body.

    Attributes:
        values: (n, WIDTH) float64 array that contains the position, frame, wrench and other physical
            quantities of each contact.
        ids: (n, IDS) int32 array that contains the ids of the bodies and geoms, and the ``index``.
    """

    __slots__ = ("ids", "values")
    POSITION, FRAME, DISTANCE, WRENCH_WORLD, WRENCH = 0, 3, 12, 13, 19
    VELOCITY, ANGULAR, FRICTION, WIDTH = 25, 28, 31, 32
    """First column of each field in ``values``, and the total number of columns."""
    BODIES, GEOMS, INDEX, IDS = 0, 2, 4, 5
    """First column of each field in ``ids``, and the total number of columns."""

    def __init__(self, values: np.ndarray, ids: np.ndarray):
        """Wrap two arrays without copying them."""
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
    def relative_angular_velocity(self) -> np.ndarray:
        """(n, 3) angular velocity of object 2 relative to object 1, in the world frame [rad/s]."""
        return self.values[:, 28:31]

    @property
    def friction(self) -> np.ndarray:
        """(n,) coefficient of sliding friction along the first tangent."""
        return self.values[:, 31]

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
        return Contacts(*_core.touching(sensing, self.values, self.ids))


def read_contacts(model: mujoco.MjModel, data: mujoco.MjData) -> Contacts:
    """Return the contacts in MuJoCo's data that carry a force.

    Positions, velocities and constraint forces in ``data`` must belong to the same state.
    """
    out = Contacts.empty(data.ncon)
    count = _core.read_contacts(model._address, data._address, out.values, out.ids)
    return Contacts(out.values[:count], out.ids[:count])

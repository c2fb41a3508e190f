"""Loads that contacts exert on bodies with skin."""

from __future__ import annotations

import numpy as np

LOAD = np.dtype(
    [
        ("contact", np.int64),
        ("body", np.int64),
        ("patch", np.int64),
        ("point", float, 3),
        ("force", float, 3),
        ("force_world", float, 3),
        ("normal", float, 3),
        ("velocity", float, 3),
        ("angular_velocity", float, 3),
        ("radius", float),
        ("friction", float),
        ("other_patch", np.int64),
        ("torque", float, 3),
        ("rotation", float, (3, 3)),
        ("other", np.int64),
        ("other_body", np.int64),
        ("other_position", float, 3),
        ("other_rotation", float, (3, 3)),
    ]
)
"""Structured dtype of one load; the fields are described by the properties of `Loads`."""


class Loads:
    """A set of m loads. Each load is exerted by one contact on one body with skin.

    A contact between two bodies with skin yields a load on each. The loads are stored in ``table``, an array
    (m,) of `LOAD`; the properties are views into it.
    """

    def __init__(self, table: np.ndarray):
        self.table = table

    @staticmethod
    def empty(m: int) -> Loads:
        """Return m loads of zero, without a second geom, body or patch (-1)."""
        loads = Loads(np.zeros(m, LOAD))
        loads.other[:] = loads.other_body[:] = loads.other_patch[:] = -1
        return loads

    @staticmethod
    def of_bytes(memory: np.ndarray) -> Loads:
        """Return the loads in an array (m * LOAD.itemsize,) uint8."""
        return Loads(memory.view(LOAD))

    @property
    def records(self) -> np.ndarray:
        """`table` as a contiguous array, which native code requires."""
        return np.ascontiguousarray(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, which: slice | np.ndarray) -> Loads:
        """Return the loads selected by a slice, a mask or indices."""
        return Loads(self.table[which])

    @property
    def contact(self) -> np.ndarray:
        """(m,) index of the contact that exerts each load."""
        return self.table["contact"]

    @property
    def body(self) -> np.ndarray:
        """(m,) body on which each load acts, as an index into the skin's ``body_ids``."""
        return self.table["body"]

    @property
    def patch(self) -> np.ndarray:
        """(m,) patch on which each load acts, as an index into the skin's patches."""
        return self.table["patch"]

    @property
    def point(self) -> np.ndarray:
        """(m, 3) point of application on the body's surface, in the body's frame [m]."""
        return self.table["point"]

    @property
    def force(self) -> np.ndarray:
        """(m, 3) force on the body, in the body's frame [N]."""
        return self.table["force"]

    @property
    def force_world(self) -> np.ndarray:
        """(m, 3) force on the body, in the world frame [N]."""
        return self.table["force_world"]

    @property
    def normal(self) -> np.ndarray:
        """(m, 3) unit normal of the contact, pointing into the body, in the body's frame."""
        return self.table["normal"]

    @property
    def velocity(self) -> np.ndarray:
        """(m, 3) velocity of the other surface relative to the skin at ``point``, in the body's frame [m/s].

        It is NaN if either surface is a flex.
        """
        return self.table["velocity"]

    @property
    def angular_velocity(self) -> np.ndarray:
        """(m, 3) angular velocity of the other surface relative to the skin, in the body's frame [rad/s].

        The velocity differs between the taxels of a load by its cross product with their distance, see
        `TouchFunction.at_taxels`. It is 0 if ``velocity`` already is that at a single taxel, as in the loads
        that `elastic_foundation` returns, and NaN if either surface is a flex.
        """
        return self.table["angular_velocity"]

    @property
    def radius(self) -> np.ndarray:
        """(m,) effective radius of curvature of the two surfaces in contact [m], see `curvature`."""
        return self.table["radius"]

    @property
    def friction(self) -> np.ndarray:
        """(m,) coefficient of sliding friction of the contact."""
        return self.table["friction"]

    @property
    def other_patch(self) -> np.ndarray:
        """(m,) patch of the other surface, as an index into the skin's patches, or -1 if it has no skin."""
        return self.table["other_patch"]

    @property
    def torque(self) -> np.ndarray:
        """(m, 3) torque about ``point`` exerted in addition to the force, in the body's frame [N m]."""
        return self.table["torque"]

    @property
    def rotation(self) -> np.ndarray:
        """(m, 3, 3) rotation from the frame of the body to the world."""
        return self.table["rotation"]

    @property
    def other(self) -> np.ndarray:
        """(m,) id of the other geom in the contact, or -1 for a flex."""
        return self.table["other"]

    @property
    def other_body(self) -> np.ndarray:
        """(m,) id of the other body in the contact, or -1 for a flex."""
        return self.table["other_body"]

    @property
    def other_position(self) -> np.ndarray:
        """(m, 3) origin of the other geom, in the body's frame [m]."""
        return self.table["other_position"]

    @property
    def other_rotation(self) -> np.ndarray:
        """(m, 3, 3) rotation from the other geom's frame to the body's frame."""
        return self.table["other_rotation"]

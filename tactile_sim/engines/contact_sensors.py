"""Readings of contact sensors, stored in a layout that does not depend on the engine."""

from __future__ import annotations

from functools import cache

import numpy as np

from tactile_sim.scenes.contact_sensors import WIDTHS, ContactLayout


class ContactSensor:
    """Readings of one contact sensor in n environments, with s slots each. Filled slots come first.

    All fields have values, even those that the sensor does not request. Empty slots contain zeros. With
    ``netforce``, a single slot contains the sum of all contacts; its normal and tangent are the world's x and
    y axes.

    Attributes:
        layout: Configuration of the sensor.
        values: (n, s, WIDTH) array with one row for each slot; the fields are views of its columns.
        found: (n,) total number of matching contacts, which may exceed the number of slots.
    """

    __slots__ = ("found", "layout", "values")
    FORCE, TORQUE, WRENCH, DIST, POS, NORMAL, TANGENT, WIDTH = 0, 3, 6, 12, 13, 16, 19, 22
    """First column of each field in ``values``, and the total number of columns."""

    def __init__(self, layout: ContactLayout, values: np.ndarray, found: np.ndarray):
        self.layout = layout
        self.values = values
        self.found = found

    @property
    def filled(self) -> np.ndarray:
        """(n,) number of filled slots in each environment."""
        return np.minimum(self.found, self.layout.slots)

    @property
    def force(self) -> np.ndarray:
        """(n, s, 3) force of object 1 on object 2 [N].

        The components are along the normal, the tangent and the cross product normal x tangent.
        """
        return self.values[:, :, 0:3]

    @property
    def torque(self) -> np.ndarray:
        """(n, s, 3) torque on object 2 about ``pos``, along the same axes as ``force`` [N m]."""
        return self.values[:, :, 3:6]

    @property
    def wrench(self) -> np.ndarray:
        """(n, s, 6) force and torque on object 2 about ``pos``, in the world frame [N, N m]."""
        return self.values[:, :, 6:12]

    @property
    def dist(self) -> np.ndarray:
        """(n, s) distance between the surfaces [m], negative if they penetrate; 0 for ``netforce``."""
        return self.values[:, :, 12]

    @property
    def pos(self) -> np.ndarray:
        """(n, s, 3) contact point, or point of application of the net force, in the world frame [m]."""
        return self.values[:, :, 13:16]

    @property
    def normal(self) -> np.ndarray:
        """(n, s, 3) unit normal from object 1 to object 2, in the world frame."""
        return self.values[:, :, 16:19]

    @property
    def tangent(self) -> np.ndarray:
        """(n, s, 3) unit tangent perpendicular to the normal, in the world frame."""
        return self.values[:, :, 19:22]

    def flat(self) -> np.ndarray:
        """Return the readings as a flat array.

        Returns:
            (n, 1 + slots * width) float32 array with the number of filled slots, followed by the requested
            fields of each slot.
        """
        count = len(self.values)
        columns = _flat_columns(self.layout.data, self.layout.slots)
        flat = np.empty((count, 1 + len(columns)), np.float32)
        flat[:, 0] = self.filled
        flat[:, 1:] = self.values.reshape(count, -1)[:, columns]
        return flat


_STARTS = {
    "force": ContactSensor.FORCE,
    "torque": ContactSensor.TORQUE,
    "dist": ContactSensor.DIST,
    "pos": ContactSensor.POS,
    "normal": ContactSensor.NORMAL,
    "tangent": ContactSensor.TANGENT,
}


@cache
def _flat_columns(data: tuple[str, ...], slots: int) -> np.ndarray:
    """Return the indices of the columns that `ContactSensor.flat` writes after the number of filled slots.

    Args:
        data: Names of the requested fields.
        slots: Number of slots.

    Returns:
        Column indices into ``ContactSensor.values``, reshaped to (n, slots * WIDTH).
    """
    slot = [_STARTS[field] + i for field in data if field != "found" for i in range(WIDTHS[field])]
    return (np.arange(slots)[:, None] * ContactSensor.WIDTH + np.array(slot, int)).ravel()

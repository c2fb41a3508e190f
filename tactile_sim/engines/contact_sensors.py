"""What a contact sensor finds, as users know it, whichever engine found it."""

from __future__ import annotations

from functools import cache

import numpy as np

from tactile_sim.engines.sensor_layout import WIDTHS, ContactLayout


class ContactSensor:
    """One contact sensor at one instant, in n environments and s slots, the filled ones first.

    All fields are there, whichever of them the sensor asks for; slots that are not filled are zero. With
    ``netforce`` there is one slot, the sum of all contacts: its normal is x and its tangent y of the world.

    values (n, s, WIDTH): all numbers in one block, a row a slot; the fields are views of its columns.
    found (n,): all contacts that match, more than slots where not all are kept.
    """

    __slots__ = ("found", "layout", "values")
    FORCE, TORQUE, WRENCH, DIST, POS, NORMAL, TANGENT, WIDTH = 0, 3, 6, 12, 13, 16, 19, 22
    """First columns of the fields in ``values``, and how many there are."""

    def __init__(self, layout: ContactLayout, values: np.ndarray, found: np.ndarray):
        self.layout = layout
        """What the sensor is asked for."""
        self.values = values
        self.found = found

    @property
    def filled(self) -> np.ndarray:
        """(n,) how many slots are filled."""
        return np.minimum(self.found, self.layout.slots)

    @property
    def force(self) -> np.ndarray:
        """(n, s, 3) what object 1 exerts on object 2, along normal, tangent, normal x tangent [N]."""
        return self.values[:, :, 0:3]

    @property
    def torque(self) -> np.ndarray:
        """(n, s, 3) likewise, about ``pos`` [N m]."""
        return self.values[:, :, 3:6]

    @property
    def wrench(self) -> np.ndarray:
        """(n, s, 6) the same force and torque in the world, about ``pos``, on object 2 [N, N m]."""
        return self.values[:, :, 6:12]

    @property
    def dist(self) -> np.ndarray:
        """(n, s) gap between the surfaces [m], negative inside; 0 for ``netforce``."""
        return self.values[:, :, 12]

    @property
    def pos(self) -> np.ndarray:
        """(n, s, 3) contact point, or point of attack of the sum, world [m]."""
        return self.values[:, :, 13:16]

    @property
    def normal(self) -> np.ndarray:
        """(n, s, 3) unit vector from object 1 to object 2, world."""
        return self.values[:, :, 16:19]

    @property
    def tangent(self) -> np.ndarray:
        """(n, s, 3) unit vector across the normal, world."""
        return self.values[:, :, 19:22]

    def flat(self) -> np.ndarray:
        """(n, 1 + slots x width) float32: the number of filled slots, then slot by slot what is asked for."""
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
    """Columns of the flat array, without its count, in the block of all slots."""
    slot = [_STARTS[field] + i for field in data if field != "found" for i in range(WIDTHS[field])]
    return (np.arange(slots)[:, None] * ContactSensor.WIDTH + np.array(slot, int)).ravel()

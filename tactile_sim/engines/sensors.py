"""Sensors of one or several environments; contact sensors in a layout that does not depend on the engine."""

from __future__ import annotations

from functools import cache, cached_property

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.common.errors import EngineError
from tactile_sim.common.schema import known
from tactile_sim.scenes.contact_sensors import (
    WIDTHS,
    ContactLayout,
    MujocoLayout,
    complete_layout,
    contact_layout,
    is_contact,
    sensor_names,
)


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
    """Return the columns of ``ContactSensor.values`` (n, slots * WIDTH) that `ContactSensor.flat` writes."""
    slot = [_STARTS[field] + i for field in data if field != "found" for i in range(WIDTHS[field])]
    return (np.arange(slots)[:, None] * ContactSensor.WIDTH + np.array(slot, int)).ravel()


class Sensors:
    """Mixin that implements the methods of all engines for reading sensors.

    All values are those of the last ``forward``, ``step`` or ``reset``. Like MuJoCo's, values read after
    ``step`` belong to the state before the last time step.
    """

    model: mujoco.MjModel
    num_envs: int

    @cached_property
    def sensor_ids(self) -> dict[str, int]:
        """Ids of the scene's sensors by name; an unnamed sensor is called ``sensor<id>``."""
        return sensor_names(self.model)

    @cached_property
    def contact_sensor_names(self) -> list[str]:
        """Names of the ``<contact>`` sensors."""
        return [name for name, sensor in self.sensor_ids.items() if is_contact(self.model, sensor)]

    def get_sensor_data(self, name: str) -> np.ndarray:
        """Return the values of a sensor of any type, in MuJoCo's layout.

        Args:
            name: Name of the sensor.

        Returns:
            (num_envs, n) copy of the values.

        Raises:
            EngineError: The sensor does not exist.
        """
        sensor = self._sensor(name)
        start = int(self.model.sensor_adr[sensor])
        return self._values_at(start)[:, start : start + self.model.sensor_dim[sensor]].copy()

    def get_sensor_value(self, name: str) -> np.ndarray:
        """Return the values of a sensor as a flat array.

        Args:
            name: Name of the sensor.

        Returns:
            For a contact sensor, a (1 + slots * width,) float32 array with the number of filled slots,
            followed by the requested fields of each slot. For any other sensor, (n,) float32 values. With
            several environments, the array has an additional leading axis (num_envs, ...).

        Raises:
            EngineError: The sensor does not exist.
        """
        if is_contact(self.model, self._sensor(name)):
            values = self.get_contact_sensor(name).flat()
        else:
            values = self.get_sensor_data(name).astype(np.float32)
        return values[0] if self.num_envs == 1 else values

    def get_contact_sensor(self, name: str) -> ContactSensor:
        """Return all fields of a contact sensor.

        Args:
            name: Name of the sensor.

        Raises:
            EngineError: The sensor does not exist or is not a contact sensor.
        """
        layout, complete = self._contact_sensor(name)
        if complete is None:
            raise self._incomplete(layout)
        values = np.empty((self.num_envs, layout.slots, ContactSensor.WIDTH))
        found = np.empty(self.num_envs, np.int32)
        rows = self._values_at(complete.address)
        _core.read_contact_sensor(rows, complete.address, complete.stride, values, found)
        return ContactSensor(layout, values, found)

    def get_contact_force_magnitude(self, name: str) -> np.ndarray:
        """Return the magnitude of the force between a contact sensor's two objects.

        With ``netforce``, this is the net force of all contacts. With ``maxforce``, it is the force of the
        strongest contact. With ``none`` and ``mindist``, it is the vector sum over the sensor's slots.

        Args:
            name: Name of the sensor.

        Returns:
            (num_envs,) magnitude [N], 0 without contacts.

        Raises:
            EngineError: The sensor does not exist or is not a contact sensor.
        """
        layout, complete = self._contact_sensor(name)
        if layout.slots == 1 or layout.reduce == "maxforce":
            force = (complete or layout).force
            if force is None:
                raise self._incomplete(layout)
            return lengths(self._values_at((complete or layout).address)[:, force : force + 3])
        if complete is None:
            raise self._incomplete(layout)
        out = np.empty(self.num_envs)
        rows = self._values_at(complete.address)
        _core.contact_sensor_force(rows, complete.address, complete.stride, layout.slots, out)
        return out

    def contact_layout(self, name: str) -> MujocoLayout:
        """Return the configuration of a contact sensor."""
        return self._contact_sensor(name)[0]

    def _values_at(self, address: int) -> np.ndarray:
        """Return the values (num_envs, nsensordata) of all sensors; that at the address is up to date."""
        raise NotImplementedError

    @cached_property
    def _contacts(self) -> dict[str, tuple[MujocoLayout, MujocoLayout | None]]:
        """Cached layouts of contact sensors, keyed by name.

        The first layout is that of the sensor itself. The second contains all fields, or is None if no sensor
        has all fields; see `complete_layout`.
        """
        return {}

    def _sensor(self, name: str) -> int:
        return self.sensor_ids[known("the scene has no sensor named", name, self.sensor_ids, EngineError)]

    def _contact_sensor(self, name: str) -> tuple[MujocoLayout, MujocoLayout | None]:
        sensor = self._sensor(name)
        if name not in self._contacts:
            if not is_contact(self.model, sensor):
                kind = mujoco.mjtSensor(self.model.sensor_type[sensor]).name.removeprefix("mjSENS_").lower()
                raise EngineError(
                    f"sensor {name!r}: must be a contact sensor, got type {kind}; use get_sensor_data"
                )
            layout = contact_layout(self.model, sensor, name)
            self._contacts[name] = layout, complete_layout(self.model, sensor, layout)
        return self._contacts[name]

    def _incomplete(self, layout: MujocoLayout) -> EngineError:
        return EngineError(
            f"contact sensor {layout.name!r}: must have all fields in a model that tactile_sim did not load,"
            f" got {', '.join(layout.data)}; use tactile_sim.engines.load, or list all fields in its data"
        )


def lengths(vectors: np.ndarray) -> np.ndarray:
    """Return the lengths (n,) of vectors (n, 3)."""
    x, y, z = vectors.T.astype(float)
    return np.sqrt(x * x + y * y + z * z)

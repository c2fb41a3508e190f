"""Sensor access for engines with arrays in MuJoCo's layout, for one or several environments."""

from __future__ import annotations

from functools import cached_property

import mujoco
import numpy as np

from tactile_sim.arguments import known
from tactile_sim.compilation import kernel
from tactile_sim.engines.contact_sensors import ContactSensor
from tactile_sim.errors import EngineError
from tactile_sim.scenes.sensor_layout import (
    MujocoLayout,
    complete_layout,
    contact_layout,
    is_contact,
    sensor_names,
)


class MujocoSensors:
    """Mixin that implements the engines' methods for reading sensors.

    All values are those of the last ``forward``, ``step`` or ``reset``. As in MuJoCo, values read after
    ``step`` belong to the state before the last time step.
    """

    model: mujoco.MjModel
    num_envs: int
    _sensordata: np.ndarray
    """(num_envs, nsensordata) values of all sensors, updated in place by the engine."""

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
        _read(self._values_at(complete.address), complete.address, complete.stride, values, found)
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
        out = np.empty(self.num_envs)
        if layout.slots == 1 or layout.reduce == "maxforce":
            force = (complete or layout).force
            if force is None:
                raise self._incomplete(layout)
            _norms(self._values_at((complete or layout).address), force, out)
        elif complete is None:
            raise self._incomplete(layout)
        else:
            _norms_of_sums(
                self._values_at(complete.address), complete.address, complete.stride, layout.slots, out
            )
        return out

    def contact_layout(self, name: str) -> MujocoLayout:
        """Return the configuration of a contact sensor and its position in ``sensordata``."""
        return self._contact_sensor(name)[0]

    def _values_at(self, address: int) -> np.ndarray:
        """Update the sensor at this address if the engine defers updates, and return ``_sensordata``."""
        return self._sensordata

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


WRENCH, DIST = ContactSensor.WRENCH, ContactSensor.DIST
TORQUE, RAW_DIST, RAW_NORMAL, RAW_TANGENT, RAW_WIDTH = 3, 6, 10, 13, 16
"""Index of each field's first value in a slot with all fields, and the number of values in such a slot.

The field ``found`` is not counted.
"""


@kernel
def _read(sensordata, address, stride, values, found):
    """Copy a sensor's readings to ``values`` and ``found``, and add its wrenches in the world frame.

    The sensor must have all fields. ``address`` is its first column in ``sensordata``, and ``stride`` is the
    number of values in a slot.
    """
    for n in range(len(values)):
        found[n] = sensordata[n, address]
        for s in range(values.shape[1]):
            raw, out = sensordata[n, address + s * stride + 1 :], values[n, s]
            for i in range(RAW_DIST):
                out[i] = raw[i]
            for i in range(RAW_WIDTH - RAW_DIST):
                out[DIST + i] = raw[RAW_DIST + i]
            _to_world(raw, raw[RAW_NORMAL:], raw[RAW_TANGENT:], out[WRENCH:])
            _to_world(raw[TORQUE:], raw[RAW_NORMAL:], raw[RAW_TANGENT:], out[WRENCH + 3 :])


@kernel
def _to_world(vector, normal, tangent, out):
    """Rotate a vector from a contact frame to the world frame.

    The axes of the contact frame are the normal, the tangent and normal x tangent.
    """
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        across = normal[j] * tangent[k] - normal[k] * tangent[j]
        out[i] = vector[0] * normal[i] + vector[1] * tangent[i] + vector[2] * across


@kernel
def _norms(sensordata, force, out):
    """Write the norm of the force (3,) that starts at column ``force`` to ``out`` (num_envs,) [N]."""
    for n in range(len(out)):
        x, y, z = sensordata[n, force], sensordata[n, force + 1], sensordata[n, force + 2]
        out[n] = np.sqrt(x * x + y * y + z * z)


@kernel
def _norms_of_sums(sensordata, address, stride, slots, out):
    """Write the norm of the sum of the forces in all filled slots to ``out`` (num_envs,) [N]."""
    force_world = np.empty(3)
    for n in range(len(out)):
        x, y, z = 0.0, 0.0, 0.0
        for s in range(min(slots, int(sensordata[n, address]))):
            raw = sensordata[n, address + s * stride + 1 :]
            _to_world(raw, raw[RAW_NORMAL:], raw[RAW_TANGENT:], force_world)
            x += force_world[0]
            y += force_world[1]
            z += force_world[2]
        out[n] = np.sqrt(x * x + y * y + z * z)

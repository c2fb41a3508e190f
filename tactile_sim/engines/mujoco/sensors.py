"""Sensor access for engines with arrays in MuJoCo's layout, for one or several environments."""

from __future__ import annotations

from functools import cached_property

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.arguments import known
from tactile_sim.engines.contact_sensors import ContactSensor
from tactile_sim.errors import EngineError
from tactile_sim.scenes.contact_sensors import (
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


def lengths(vectors: np.ndarray) -> np.ndarray:
    """Return the lengths (n,) of vectors (n, 3)."""
    x, y, z = vectors.T.astype(float)
    return np.sqrt(x * x + y * y + z * z)

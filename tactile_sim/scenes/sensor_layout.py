"""Describe which fields a contact sensor reports and where they are in ``sensordata``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import mujoco

from tactile_sim.scenes.sensor_schema import FIELDS, REDUCTIONS

COMPLETE = "tactile_sim/complete/"
"""Name prefix of added sensors that measure all fields, followed by the id of the scene's sensor."""

WIDTHS = {"found": 1, "force": 3, "torque": 3, "dist": 1, "pos": 3, "normal": 3, "tangent": 3}
_MUJOCO_WIDTHS = {**WIDTHS, "linvel": 3, "angvel": 3}
MUJOCO_FIELDS = tuple(_MUJOCO_WIDTHS)
"""Fields in MuJoCo's order; bit k of a sensor's data specification selects field k."""
ALL_BITS = (1 << len(FIELDS)) - 1


@dataclass(frozen=True)
class ContactLayout:
    """Configuration of a contact sensor, independent of the engine."""

    name: str
    data: tuple[str, ...]
    """Requested fields in canonical order."""
    reduce: str
    slots: int
    """Largest number of contacts that the sensor reports: ``num``, or 1 for ``netforce``."""


@dataclass(frozen=True)
class MujocoLayout(ContactLayout):
    """Layout of a contact sensor's slots in MuJoCo's ``sensordata``."""

    address: int
    bits: int

    @cached_property
    def stride(self) -> int:
        """Number of values in a slot."""
        return sum(width for k, width in enumerate(_MUJOCO_WIDTHS.values()) if self.bits >> k & 1)

    @cached_property
    def force(self) -> int | None:
        """Index of the first slot's force in ``sensordata``, or None if it is not requested."""
        found, force = self.bits & 1, self.bits >> 1 & 1
        return self.address + found if force else None


def unnamed_sensor(sensor: int) -> str:
    """Return the generated name of an unnamed sensor with this id."""
    return f"sensor{sensor}"


def sensor_names(model: mujoco.MjModel) -> dict[str, int]:
    """Return the ids of the scene's original sensors by name; an unnamed sensor is ``sensor<id>``."""
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_SENSOR, i) for i in range(model.nsensor)]
    return {
        name or unnamed_sensor(i): i
        for i, name in enumerate(names)
        if not (name and name.startswith(COMPLETE))
    }


def is_contact(model: mujoco.MjModel, sensor: int) -> bool:
    """Return whether the sensor with this id is a ``<contact>`` sensor."""
    return model.sensor_type[sensor] == mujoco.mjtSensor.mjSENS_CONTACT


def contact_layout(model: mujoco.MjModel, sensor: int, name: str) -> MujocoLayout:
    """Return the layout of a ``<contact>`` sensor.

    Args:
        model: The compiled scene.
        sensor: Id of the sensor.
        name: Name of the sensor, which is stored in the layout.
    """
    bits, reduction, num = (int(number) for number in model.sensor_intprm[sensor][:3])
    reduce = REDUCTIONS[reduction]
    data = tuple(field for k, field in enumerate(FIELDS) if bits >> k & 1)
    slots = 1 if reduce == "netforce" else num
    return MujocoLayout(name, data, reduce, slots, int(model.sensor_adr[sensor]), bits)


def complete_layout(model: mujoco.MjModel, sensor: int, layout: MujocoLayout) -> MujocoLayout | None:
    """Return a layout from which all fields of a contact sensor can be read.

    This is the layout of the sensor that `complete_contact_sensors` added for this purpose, if there is one.
    Otherwise, it is the layout of the sensor itself if that has all fields.

    Args:
        model: The compiled scene.
        sensor: Id of the sensor.
        layout: Layout of the sensor itself.

    Returns:
        The layout, or None if no sensor has all fields.
    """
    added = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, f"{COMPLETE}{sensor}")
    if added >= 0:
        return contact_layout(model, added, layout.name)
    return layout if layout.bits & ALL_BITS == ALL_BITS else None

"""What a contact sensor is asked for, and where its numbers lie."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import mujoco

from tactile_sim.config.contact_sensors import FIELDS, REDUCTIONS

COMPLETE = "tactile_sim/complete/"
"""Begins the name of a sensor that stands beside the scene's own and asks for all; then comes its id."""

WIDTHS = {"found": 1, "force": 3, "torque": 3, "dist": 1, "pos": 3, "normal": 3, "tangent": 3}
_MUJOCO_WIDTHS = {**WIDTHS, "linvel": 3, "angvel": 3}
MUJOCO_FIELDS = tuple(_MUJOCO_WIDTHS)
"""Fields in MuJoCo's order; bit k of a sensor's data stands for field k."""
ALL_BITS = (1 << len(FIELDS)) - 1


@dataclass(frozen=True)
class ContactLayout:
    """What one contact sensor is asked for, whichever engine it is in."""

    name: str
    data: tuple[str, ...]
    """Fields asked for, in their order."""
    reduce: str
    slots: int
    """The most contacts it tells: ``num``, or 1 for ``netforce``."""


@dataclass(frozen=True)
class MujocoLayout(ContactLayout):
    """The same sensor in MuJoCo's ``sensordata``: slot after slot, each ``stride`` numbers."""

    address: int
    bits: int

    @cached_property
    def stride(self) -> int:
        """Numbers of a slot."""
        return sum(width for k, width in enumerate(_MUJOCO_WIDTHS.values()) if self.bits >> k & 1)

    @cached_property
    def force(self) -> int | None:
        """Where in ``sensordata`` the force of the first slot begins; None: it is not asked for."""
        found, force = self.bits & 1, self.bits >> 1 & 1
        return self.address + found if force else None


def made_name(sensor: int) -> str:
    """What a sensor is called that the scene leaves unnamed."""
    return f"sensor{sensor}"


def sensor_names(model: mujoco.MjModel) -> dict[str, int]:
    """Ids of the scene's sensors by name; an unnamed one is ``sensor<id>``."""
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_SENSOR, i) for i in range(model.nsensor)]
    return {
        name or made_name(i): i for i, name in enumerate(names) if not (name and name.startswith(COMPLETE))
    }


def is_contact(model: mujoco.MjModel, sensor: int) -> bool:
    """Whether a sensor is a ``<contact>``."""
    return model.sensor_type[sensor] == mujoco.mjtSensor.mjSENS_CONTACT


def contact_layout(model: mujoco.MjModel, sensor: int, name: str) -> MujocoLayout:
    """The layout of a ``<contact>`` sensor."""
    bits, reduction, num = (int(number) for number in model.sensor_intprm[sensor][:3])
    reduce = REDUCTIONS[reduction]
    data = tuple(field for k, field in enumerate(FIELDS) if bits >> k & 1)
    slots = 1 if reduce == "netforce" else num
    return MujocoLayout(name, data, reduce, slots, int(model.sensor_adr[sensor]), bits)


def complete_layout(model: mujoco.MjModel, sensor: int, layout: MujocoLayout) -> MujocoLayout | None:
    """The layout that has all fields: that of the sensor beside it, or its own; None: there is none."""
    beside = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, f"{COMPLETE}{sensor}")
    if beside >= 0:
        return contact_layout(model, beside, layout.name)
    return layout if layout.bits & ALL_BITS == ALL_BITS else None

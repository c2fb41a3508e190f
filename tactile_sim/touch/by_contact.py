"""The plain way from contacts to sensors: methods, asked contact by contact, that may be overridden."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from tactile_sim.engines.contacts import FORCE_FLOOR, read_contacts
from tactile_sim.errors import CommandError, SceneError, suggest
from tactile_sim.skin import TOUCH_FUNCTIONS, Loads, Skin, TouchFunction
from tactile_sim.touch import arguments
from tactile_sim.touch.base import Touch


class ContactTouch(Touch, ABC):
    """A touch system whose parts with sensors, bodies or geoms, are the patches of a `Skin`.

    Beside the skin it needs, by the id of a part, its ``_slots`` among the patches and its ``_slices`` of the
    sensors, in the order of all dictionaries; and ``_touch``, the skin's own touch function of this type.
    """

    skin: Skin
    """What the sensors are; its taxels are they, in the order of the output."""
    _slots: dict[int, int]
    _slices: dict[int, slice]
    _touch: TouchFunction

    def get_contacts(self) -> list[tuple[int, int, Any]]:
        """(contact id, part id, raw force) for each part with sensors in each contact that carries a force.

        The raw force is what the touch function gives. A contact of two parts with sensors is there twice.
        """
        tuples = []
        for contact_id, parts in enumerate(self._parts_of(self.m_data.contact.geom).tolist()):
            for part in parts:
                if not self.has_sensors(part):
                    continue
                if np.abs(self.get_raw_force(contact_id, part)).max() >= FORCE_FLOOR:
                    tuples.append((contact_id, part, self.touch_function(contact_id, part)))
        self.contact_tuples = tuples
        return tuples

    def get_empty_sensor_dict(self, size: int) -> dict[int, np.ndarray]:
        """Zeros (n, size) float32 by part: the outputs when nothing is touched."""
        zeros = np.zeros((len(self.skin.positions), arguments.count("size", size)), np.float32)
        return self._by_part(zeros)

    def flatten_sensor_dict(self, sensor_dict: dict[int, np.ndarray]) -> np.ndarray:
        """The arrays of all parts with sensors one after another, in the order of their ids.

        Raises CommandError where a part is missing, or has not one row for each of its sensors, of one width.
        """
        if not isinstance(sensor_dict, Mapping):
            raise CommandError(f"sensor_dict: needs a mapping of ids to arrays, but is {sensor_dict!r}")
        parts: list[np.ndarray] = []
        for part in sorted(self._slices):
            if part not in sensor_dict:
                raise CommandError(f"sensor_dict: {self._called(part)} is missing")
            width = parts[0].shape[1:] if parts else np.shape(sensor_dict[part])[1:]
            rows = self._slices[part].stop - self._slices[part].start
            if np.shape(sensor_dict[part]) != (rows, *width):
                raise CommandError(
                    f"sensor_dict: {self._called(part)} needs an array {(rows, *width)}, but has one"
                    f" {np.shape(sensor_dict[part])}"
                )
            parts.append(np.asarray(sensor_dict[part]))
        return np.concatenate(parts) if parts else np.zeros((0, self.touch_size), np.float32)

    def get_total_sensor_count(self) -> int:
        """The number of all sensors."""
        return len(self.skin.positions)

    def get_contact_position_world(self, contact_id: int) -> np.ndarray:
        """(3,) where a contact is [m]: halfway between the two surfaces, world frame."""
        self._check_contact(contact_id)
        return self.m_data.contact.pos[contact_id].copy()

    # -- what bodies and geoms differ in ---------------------------------------------------------------------

    def has_sensors(self, part_id: int) -> bool:
        """Whether a part has sensors."""
        return part_id in self._slices

    def get_contact_position_relative(self, contact_id: int, part_id: int) -> np.ndarray:
        """(3,) where a contact is on a part's own surface [m], in its frame."""
        to_part = self._side(contact_id, part_id)
        contact, (position, rotation) = self.m_data.contact, self._pose(part_id)
        half_way = 0.5 * to_part * contact.dist[contact_id] * contact.frame[contact_id, :3]
        return (self.get_contact_position_world(contact_id) + half_way - position) @ rotation

    def get_contact_normal(self, contact_id: int, part_id: int) -> np.ndarray:
        """(3,) unit normal of a contact, into the part, in its frame."""
        to_part = self._side(contact_id, part_id)
        return to_part * self.m_data.contact.frame[contact_id, :3] @ self._pose(part_id)[1]

    def get_raw_force(self, contact_id: int, part_id: int) -> np.ndarray:
        """(3,) force on a part along the rows of MuJoCo's contact frame [N]: normal and two tangents.

        The frame's normal leads from the first geom to the second, so that the first feels a negative one.
        """
        to_part = self._side(contact_id, part_id)
        wrench = np.zeros(6)
        mujoco.mj_contactForce(self.m_model, self.m_data, contact_id, wrench)
        return to_part * wrench[:3]

    @abstractmethod
    def _called(self, part_id: int) -> str:
        """What errors call a part."""

    @abstractmethod
    def _parts_of(self, geoms: np.ndarray) -> np.ndarray:
        """Ids of the parts that geoms belong to; -1 for -1, a flex."""

    @abstractmethod
    def _pose(self, part_id: int) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,) [m] and rotation (3, 3) of a part's frame in the world."""

    def _in_part(self, touch: TouchFunction) -> TouchFunction:
        """A touch function in the frames of the parts, not of their bodies."""
        return touch

    # -- inside ----------------------------------------------------------------------------------------------

    def _obs_by_methods(self) -> np.ndarray:
        contacts = self.get_contacts()
        self.contact_tuples = contacts
        self.sensor_outputs = self.get_empty_sensor_dict(self.touch_size)
        self._weights = self._by_part(np.zeros((len(self.skin.positions), 1)))
        """Of means: the normal force on each sensor so far [N]."""
        for contact_id, part_id, force in contacts:
            self.response_function(contact_id, part_id, force)
        return self.flatten_sensor_dict(self.sensor_outputs)

    def _evaluate(self, touch: str, contact_id: int, part_id: int) -> Any:
        """What a touch function of the skin gives: (channels,), or a float where it has one."""
        loads, row = self._loads_of(contact_id, part_id)
        return plain(self._in_part(TOUCH_FUNCTIONS[touch]).evaluate(loads)[row])

    def _respond(self, response: str, contact_id: int, part_id: int, force: Any) -> None:
        """Adds a force, or what else the touch function gave, to ``sensor_outputs``."""
        loads, row = self._loads_of(contact_id, part_id)
        this = np.zeros((len(loads), 1))
        this[row] = 1
        share = TouchFunction(1, "", lambda _: this)
        shares = self.skin.sense(loads, share, response)[self._slices[part_id]]
        output, value = self.sensor_outputs[part_id], np.atleast_1d(arguments.numbers(force))
        if value.shape != output.shape[1:] or not (self._touch.mean or np.isfinite(value).all()):
            raise CommandError(
                f"{response}: what {self.touch_type} gave for contact {contact_id} needs to be"
                f" {output.shape[1]} finite numbers, but is {force!r}"
            )
        if not self._touch.mean:
            output += shares * value
        elif not np.isnan(value).any():
            shares *= TOUCH_FUNCTIONS["normal"].evaluate(loads)[row]
            weights = self._weights[part_id]
            weights += shares
            felt = shares[:, 0] > 0
            output[felt] += (value - output[felt]) * (shares[felt] / weights[felt])

    def _loads_of(self, contact_id: int, part_id: int) -> tuple[Loads, int]:
        """The loads of a contact, and which of them is that on a part: as the methods of one contact tell."""
        rotations = self.m_data.xmat.reshape(-1, 3, 3)
        contacts = read_contacts(self.m_model, self.m_data)
        loads = self.skin.loads(contacts, self.m_data.xpos, rotations)
        loads = loads[contacts.index[loads.contact] == contact_id]
        self._check_sensing(part_id)
        slot = self._slots[part_id]
        rows = np.flatnonzero(loads.patch == slot)
        if len(rows) == 0:
            # A contact that carries no force is no load.
            loads, rows = Loads.empty(1), np.zeros(1, int)
            loads.patch[:], loads.body[:] = slot, self.skin.patch_bodies[slot]
        row = int(rows[0])
        body = self.skin.bodies[int(loads.body[row])].body_id
        origin, rotation = self._pose(part_id)
        to_body = rotations[body].T @ rotation
        force = self.get_raw_force(contact_id, part_id) @ self.m_data.contact.frame[contact_id].reshape(3, 3)
        point = self.get_contact_position_relative(contact_id, part_id)
        loads.force_world[row] = force
        loads.force[row] = force @ rotations[body]
        loads.point[row] = to_body @ point + (origin - self.m_data.xpos[body]) @ rotations[body]
        loads.normal[row] = to_body @ self.get_contact_normal(contact_id, part_id)
        return loads, row

    def _side(self, contact_id: int, part_id: int) -> float:
        """1 where the normal of a contact leads into a part, -1 where it leads out of it."""
        self._check_contact(contact_id)
        first, second = self._parts_of(self.m_data.contact.geom[contact_id]).tolist()
        if part_id not in (first, second):
            raise SceneError(f"{self._called(part_id)} has no part in contact {contact_id}")
        return -1.0 if part_id == first else 1.0

    def _by_part(self, sensors: np.ndarray) -> dict[int, np.ndarray]:
        return {part: sensors[where] for part, where in self._slices.items()}

    def _check_sensing(self, part_id: int) -> None:
        if part_id not in self._slices:
            others = suggest("", map(self._called, self._slices))
            raise SceneError(f"{self._called(part_id)} has no sensors{others}")

    def _check_contact(self, contact_id: int) -> None:
        if not arguments.is_index(contact_id, self.m_data.ncon):
            raise SceneError(f"there is no contact {contact_id!r}: there are {self.m_data.ncon} now, from 0")


def plain(value: np.ndarray) -> Any:
    """A float where a touch function gives but one number, else a copy."""
    return value.copy() if len(value) > 1 else float(value[0])

"""Touch computed contact by contact, with methods that subclasses can override."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from tactile_sim import arguments
from tactile_sim.engines.contacts import FORCE_FLOOR, read_contacts
from tactile_sim.errors import CommandError, SceneError, suggest
from tactile_sim.skin import TOUCH_FUNCTIONS, Loads, Skin, TouchFunction
from tactile_sim.touch.base import Touch


class ContactTouch(Touch, ABC):
    """A touch system in which each sensing part (a body or a geom) is a patch of a `Skin`.

    In all methods ``contact_id`` is an index into ``m_data.contact``, and ``part_id`` is the id of a body or
    geom with sensors.

    A subclass must set ``skin``, ``_slots`` (patch index of each part), ``_slices`` (slice of each part's
    sensors) and ``_touch`` (the skin's touch function for ``touch_type``). ``_slots`` and ``_slices`` are
    keyed by part id. All other dictionaries have the same order as ``_slices``.
    """

    skin: Skin
    """The skin; its taxels are the sensors, in the order of the output."""
    _slots: dict[int, int]
    _slices: dict[int, slice]
    _touch: TouchFunction

    def get_contacts(self) -> list[tuple[int, int, Any]]:
        """Return (contact id, part id, output) for each sensing part in each contact that carries a force.

        The output is the result of the touch function. A contact between two sensing parts appears twice.
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
        """Return the readings without contact: arrays of zeros (n, size) float32, keyed by part id."""
        zeros = np.zeros((len(self.skin.positions), arguments.whole("size", size)), np.float32)
        return self._by_part(zeros)

    def flatten_sensor_dict(self, sensor_dict: dict[int, np.ndarray]) -> np.ndarray:
        """Concatenate the arrays of all sensing parts in the order of their ids.

        Args:
            sensor_dict: Arrays (n, c) with one row per sensor, keyed by part id.

        Raises:
            CommandError: If a part is missing or its array has a wrong shape.
        """
        if not isinstance(sensor_dict, Mapping):
            raise CommandError(f"sensor_dict: must be a mapping of ids to arrays, got {sensor_dict!r}")
        parts: list[np.ndarray] = []
        for part in sorted(self._slices):
            if part not in sensor_dict:
                raise CommandError(f"sensor_dict: {self._called(part)} is missing")
            width = parts[0].shape[1:] if parts else np.shape(sensor_dict[part])[1:]
            rows = self._slices[part].stop - self._slices[part].start
            if np.shape(sensor_dict[part]) != (rows, *width):
                raise CommandError(
                    f"sensor_dict: {self._called(part)}: must have shape {(rows, *width)}, got"
                    f" {np.shape(sensor_dict[part])}"
                )
            parts.append(np.asarray(sensor_dict[part]))
        return np.concatenate(parts) if parts else np.zeros((0, self.touch_size), np.float32)

    def get_total_sensor_count(self) -> int:
        """Return the total number of sensors."""
        return len(self.skin.positions)

    def get_contact_position_world(self, contact_id: int) -> np.ndarray:
        """Return a contact's position (3,) [m] in the world, midway between the two surfaces."""
        self._check_contact(contact_id)
        return self.m_data.contact.pos[contact_id].copy()

    # -- overridden for bodies and geoms ---------------------------------------------------------------------

    def has_sensors(self, part_id: int) -> bool:
        """Return whether a part has sensors."""
        return arguments.is_whole(part_id) and part_id in self._slices

    def get_contact_position_relative(self, contact_id: int, part_id: int) -> np.ndarray:
        """Return a contact's position (3,) [m] on the surface of a part, in the part's frame."""
        to_part = self._side(contact_id, part_id)
        contact, (position, rotation) = self.m_data.contact, self._pose(part_id)
        half_way = 0.5 * to_part * contact.dist[contact_id] * contact.frame[contact_id, :3]
        return (self.get_contact_position_world(contact_id) + half_way - position) @ rotation

    def get_contact_normal(self, contact_id: int, part_id: int) -> np.ndarray:
        """Return a contact's unit normal (3,), pointing into the part, in the part's frame."""
        to_part = self._side(contact_id, part_id)
        return to_part * self.m_data.contact.frame[contact_id, :3] @ self._pose(part_id)[1]

    def get_raw_force(self, contact_id: int, part_id: int) -> np.ndarray:
        """Return the force (3,) on a part [N] along the axes of MuJoCo's contact frame.

        The axes are the normal and two tangents. The normal points from the first geom to the second, so a
        compressive force on the first geom is negative.
        """
        to_part = self._side(contact_id, part_id)
        wrench = np.zeros(6)
        mujoco.mj_contactForce(self.m_model, self.m_data, contact_id, wrench)
        return to_part * wrench[:3]

    @abstractmethod
    def _called(self, part_id: int) -> str:
        """Return the name of a part for error messages."""

    @abstractmethod
    def _parts_of(self, geoms: np.ndarray) -> np.ndarray:
        """Return the id of the part that each geom belongs to. An entry of -1, for a flex, is kept."""

    @abstractmethod
    def _pose(self, part_id: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the position (3,) [m] and rotation (3, 3) of a part's frame in the world."""

    def _in_part(self, touch: TouchFunction) -> TouchFunction:
        """Convert a touch function so that it returns vectors in part frames instead of body frames."""
        return touch

    # -- internal --------------------------------------------------------------------------------------------

    def _obs_by_methods(self) -> np.ndarray:
        contacts = self.get_contacts()
        self.contact_tuples = contacts
        self.sensor_outputs = self.get_empty_sensor_dict(self.touch_size)
        self._weights = self._by_part(np.zeros((len(self.skin.positions), 1)))
        """Sum of the normal forces on each sensor so far [N]; weights for averaging."""
        for contact_id, part_id, force in contacts:
            self.response_function(contact_id, part_id, force)
        return self.flatten_sensor_dict(self.sensor_outputs)

    def _evaluate(self, touch: str, contact_id: int, part_id: int) -> Any:
        """Return the value (channels,) of one of the skin's touch functions, or a float for one channel."""
        loads, row = self._loads_of(contact_id, part_id)
        return plain(self._in_part(TOUCH_FUNCTIONS[touch]).evaluate(loads)[row])

    def _respond(self, response: str, contact_id: int, part_id: int, force: Any) -> None:
        """Distribute an output of the touch function over a part's sensors, and update ``sensor_outputs``.

        Each sensor's share is added to its reading. For touch functions that are averaged, such as ``slip``,
        the reading is the mean over the contacts, weighted by normal force.

        Args:
            response: Name of the response function of the skin.
            contact_id: Index of the contact.
            part_id: Id of the part.
            force: Output (channels,) of the touch function.

        Raises:
            CommandError: The output has the wrong shape, or it is not finite and the touch function is not
                averaged.
        """
        loads, row = self._loads_of(contact_id, part_id)
        this = np.zeros((len(loads), 1))
        this[row] = 1
        share = TouchFunction(1, "", lambda _: this)
        shares = self.skin.readings_from_loads(loads, share, response)[self._slices[part_id]]
        output, value = self.sensor_outputs[part_id], np.atleast_1d(arguments.as_array(force))
        if value.shape != output.shape[1:] or not (self._touch.mean or np.isfinite(value).all()):
            raise CommandError(
                f"{response}: output of {self.touch_type} for contact {contact_id} must be"
                f" {output.shape[1]} finite numbers, got {force!r}"
            )
        if not self._touch.mean:
            output += shares * value
        elif not np.isnan(value).any():
            shares *= TOUCH_FUNCTIONS["normal"].evaluate(loads)[row]
            weights = self._weights[part_id]
            weights += shares
            loaded = shares[:, 0] > 0
            output[loaded] += (value - output[loaded]) * (shares[loaded] / weights[loaded])

    def _loads_of(self, contact_id: int, part_id: int) -> tuple[Loads, int]:
        """Return the loads of a contact, and the index of the load on a part.

        The force, point and normal of that load are computed with the overridable methods.
        """
        self._check_contact(contact_id)
        rotations = self.m_data.xmat.reshape(-1, 3, 3)
        contacts = read_contacts(self.m_model, self.m_data)
        loads = self.skin.loads(contacts, self.m_data.xpos, rotations)
        loads = loads[contacts.index[loads.contact] == contact_id]
        self._check_sensing(part_id)
        slot = self._slots[part_id]
        rows = np.flatnonzero(loads.patch == slot)
        if len(rows) == 0:
            # Contacts without force are not in the loads.
            loads, rows = Loads.empty(1), np.zeros(1, int)
            loads.patch[:], loads.body[:] = slot, self.skin.patch_bodies[slot]
        row = int(rows[0])
        body = int(self.skin.body_ids[loads.body[row]])
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
        """Return 1 if a contact's normal points into a part, or -1 if it points out of the part."""
        self._check_contact(contact_id)
        first, second = self._parts_of(self.m_data.contact.geom[contact_id]).tolist()
        if not arguments.is_whole(part_id) or part_id not in (first, second):
            raise SceneError(f"contact {contact_id} does not involve {self._called(part_id)}")
        return -1.0 if part_id == first else 1.0

    def _by_part(self, sensors: np.ndarray) -> dict[int, np.ndarray]:
        return {part: sensors[where] for part, where in self._slices.items()}

    def _check_sensing(self, part_id: int) -> None:
        if not (arguments.is_whole(part_id) and part_id in self._slices):
            others = suggest("", map(self._called, self._slices))
            raise SceneError(f"{self._called(part_id)} has no sensors{others}")

    def _check_contact(self, contact_id: int) -> None:
        if not arguments.is_index(contact_id, self.m_data.ncon):
            raise SceneError(f"contact_id: out of range for {self.m_data.ncon} contacts, got {contact_id!r}")


def plain(value: np.ndarray) -> Any:
    """Return an array of one element as a float, and any other array as a copy."""
    return value.copy() if len(value) > 1 else float(value[0])

"""Common base of `DiscreteTouch` and `TrimeshTouch`, with two ways to compute readings.

By default, native code processes all contacts. If a subclass overrides a method that computes readings, or
``touch_function`` or ``response_function`` is assigned, readings are computed contact by contact in Python.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar

import mujoco
import numpy as np

from tactile_sim.common import schema
from tactile_sim.common.errors import CommandError, ConfigError, SceneError, suggest
from tactile_sim.common.names import Names
from tactile_sim.common.schema import SPACING
from tactile_sim.config import KEYS, match, match_scales
from tactile_sim.engines.contacts import FORCE_FLOOR, Contacts, read_contacts
from tactile_sim.skin import PLACEMENTS, RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS, Loads, Skin, TouchFunction
from tactile_sim.skin.limits import check_count, geom_areas
from tactile_sim.skin.responses import PER_LOAD

REQUIRED = ("scales", "touch_function", "response_function")
"""Required keys of touch_params."""
OPTIONS = {
    "placement": "mimo",
    "distance": KEYS["skin.distance"].default,
    "stiffness": KEYS["skin.stiffness"].default,
    "thickness": KEYS["skin.thickness"].default,
}
"""Optional keys of touch_params and their defaults; see ``skin`` in the configuration."""
COARSEST = SPACING.most
"""Spacing that replaces an infinite scale [m]; it results in one sensor per geom."""
PIPELINE = (
    "flatten_sensor_dict",
    "get_contact_normal",
    "get_contact_position_relative",
    "get_contact_position_world",
    "get_contacts",
    "get_empty_sensor_dict",
    "get_raw_force",
    "has_sensors",
)
"""Names of the methods that compute readings contact by contact, except touch and response functions."""


def _touch_types() -> dict[str, int]:
    """Return the number of channels of each touch function whose value does not depend on the taxel."""
    functions = TOUCH_FUNCTIONS.items()
    return {name: f.channels for name, f in functions if not f.factor and f.frame != "taxel"}


class Touch:
    """Base class of all touch systems.

    A subclass must define `get_touch_obs`, its touch and response functions, VALID_TOUCH_TYPES and
    VALID_RESPONSE_FUNCTIONS.

    Args:
        env: Any object with a MuJoCo ``model`` and ``data``, or a wrapper whose ``unwrapped`` has them.
        touch_params: Mapping with the keys

            - ``scales``: distance between sensors [m] for each body, by name, id or shell pattern
              (``finger_*`` matches bodies that can collide; an exact name takes precedence);
            - ``touch_function``: name of the method that computes the measured quantity, one of
              VALID_TOUCH_TYPES;
            - ``response_function``: name of the method that distributes a contact force over sensors, one of
              VALID_RESPONSE_FUNCTIONS.

    Attributes:
        env: The environment passed to the constructor.
        m_model: MuJoCo model of the environment.
        m_data: MuJoCo data of the environment.
        sensor_scales: Distance between the sensors on each body [m], keyed by body id.
        touch_type: Name of the touch function.
        touch_function: Method that computes the measured quantity for a contact.
        touch_size: Number of channels per sensor.
        response_type: Name of the response function.
        response_function: Method that distributes this quantity over the sensors.
        sensor_positions: Positions (n, 3) [m] by body or geom id, in the frame of that body or geom.
        sensor_outputs: Readings (n, touch_size) by body or geom id, from the last `get_touch_obs`.

    Raises:
        ConfigError: If ``env`` or ``touch_params`` is invalid.
    """

    VALID_TOUCH_TYPES: ClassVar[dict[str, int]] = {}
    """Number of channels of each touch function."""
    VALID_RESPONSE_FUNCTIONS: ClassVar[list[str]] = []
    """Names of the response functions."""

    sensor_positions: dict[int, np.ndarray]
    sensor_outputs: dict[int, np.ndarray]

    def __init__(self, env: Any, touch_params: Mapping[str, Any]) -> None:
        if not isinstance(touch_params, Mapping):
            raise ConfigError(f"touch_params: must be a mapping, got {touch_params!r}")
        for key in REQUIRED:
            if key not in touch_params:
                got = ", ".join(map(str, touch_params)) or "none"
                raise ConfigError(f"touch_params: missing key {key!r}, got keys: {got}")
        self.env = env
        self.m_model, self.m_data = _model_and_data(env)
        self.names = Names(self.m_model)
        """Names of the model's bodies and geoms; unnamed ones have generated names."""
        self.sensor_scales = self._read_scales(touch_params["scales"])
        self.touch_type: str = touch_params["touch_function"]
        types = self._touch_types()
        self.touch_function = self._method("touch_function", self.touch_type, types)
        self.touch_size = types[self.touch_type]
        self.response_type: str = touch_params["response_function"]
        self.response_function = self._method(
            "response_function", self.response_type, self._response_functions()
        )
        self.sensor_positions = {}
        self.sensor_outputs = {}

    def get_touch_obs(self) -> np.ndarray:
        """Return the readings (n, touch_size) of all sensors and store them in sensor_outputs."""
        raise NotImplementedError(f"{type(self).__name__} must define get_touch_obs()")

    def _touch_types(self) -> Mapping[str, int]:
        """Return the number of channels of each valid touch function."""
        return self.VALID_TOUCH_TYPES

    def _response_functions(self) -> list[str]:
        """Return the names of the valid response functions."""
        return self.VALID_RESPONSE_FUNCTIONS

    def _method(self, key: str, name: Any, valid: Mapping[str, int] | list[str]) -> Callable[..., Any]:
        if not isinstance(name, str) or name not in valid:
            raise ConfigError(f"touch_params: {key}: unknown function {name!r}{suggest(str(name), valid)}")
        method = getattr(self, name, None)
        if method is None:
            raise ConfigError(f"touch_params: {key}: {type(self).__name__} must define a method {name!r}")
        return method

    def _read_scales(self, scales: Any) -> dict[int, float]:
        """Return the distance between sensors [m], keyed by body id, in the order of ``scales``."""
        where = "touch_params: scales"
        if not isinstance(scales, Mapping):
            raise ConfigError(f"{where}: must be a mapping of bodies to distances [m], got {scales!r}")
        by_name = {self._body_name(body, where): scale for body, scale in scales.items()}
        for name, scale in by_name.items():
            check_scale(scale, f"{where}.{name}")
        return match_scales({name: float(s) for name, s in by_name.items()}, self.m_model, self.names, where)

    def _body_name(self, body: Any, where: str) -> str:
        if isinstance(body, str):
            return body
        if schema.is_index(body, self.m_model.nbody):
            return self.names.bodies[body]
        raise ConfigError(f"{where}: body id must be 0 to {self.m_model.nbody - 1}, got {body!r}")


class SkinTouch(Touch, ABC):
    """A touch system in which each sensing part (a body or a geom) is a patch of a `Skin`.

    In all methods ``contact_id`` is an index into ``m_data.contact``, and ``part_id`` is the id of a body or
    geom with sensors.

    ``_slots`` (patch index of each part) and ``_slices`` (slice of each part's sensors) are keyed by part id.
    All other dictionaries have the same order as ``_slices``.
    """

    skin: Skin
    """The skin; its taxels are the sensors, in the order of the output."""
    _slots: dict[int, int]
    _slices: dict[int, slice]
    _touch: TouchFunction
    VALID_TOUCH_TYPES: ClassVar[dict[str, int]] = _touch_types()
    VALID_RESPONSE_FUNCTIONS: ClassVar[list[str]] = list(PER_LOAD)
    _outputs: dict[int, np.ndarray] | None
    _tuples: list[tuple[int, int, Any]] | None
    _overridden: ClassVar[frozenset[str]] = frozenset()
    """Names of the attributes that are defined in subclasses outside this package."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        foreign = (vars(base) for base in cls.__mro__ if not base.__module__.startswith(__package__))
        cls._overridden = frozenset().union(*foreign)

    def __init__(self, env: Any, touch_params: Mapping[str, Any]) -> None:
        """Build the skin and compute the first readings.

        Args:
            env: Any object with a MuJoCo ``model`` and ``data``, or a wrapper whose ``unwrapped`` has them.
            touch_params: Mapping with the keys ``scales``, ``touch_function`` and ``response_function``, see
                `Touch`, and the optional keys ``placement`` (mimo, even), ``distance`` (euclidean, surface),
                ``stiffness`` [Pa] and ``thickness`` [m], as in the configuration's ``skin``. The last two
                are either one number, or a mapping from bodies to numbers, with keys as in ``scales``.

        Raises:
            ConfigError: If a parameter is invalid.
            SceneError: If a body cannot have sensors.
        """
        for key in touch_params if isinstance(touch_params, Mapping) else ():
            if key not in (*REQUIRED, *OPTIONS):
                raise ConfigError(
                    f"touch_params: unknown key {key!r}{suggest(str(key), [*REQUIRED, *OPTIONS])}"
                )
        super().__init__(env, touch_params)
        self.plotting_limits: dict[int, float] = {}
        """Upper bound on the magnitude of the coordinates of each part's surface, in the part's frame [m]."""
        self._options = {
            key: self._checked_option(key, touch_params.get(key, default)) for key, default in OPTIONS.items()
        }
        self._response = self.response_type
        self._own_methods = self.touch_function, self.response_function
        self._by_methods = not self._overridden.isdisjoint((*PIPELINE, self.touch_type, self.response_type))
        touch = TOUCH_FUNCTIONS.get(self.touch_type, TOUCH_FUNCTIONS["force_vector"])
        self._touch = self._in_part(touch)._replace(at_taxels=False)  # methods return one value per contact
        self._begin()
        self.get_touch_obs()

    # -- readings --------------------------------------------------------------------------------------------

    def get_touch_obs(self) -> np.ndarray:
        """Return the readings (n, touch_size) float32 of all sensors, grouped by part in id order.

        ``sensor_outputs`` contains the same readings by part, in the order of ``sensor_positions``.
        """
        if self._by_methods or (self.touch_function, self.response_function) != self._own_methods:
            return self._obs_by_methods()
        data = self.m_data
        contacts = read_contacts(self.m_model, data)
        self._seen = contacts, data.xpos.copy(), data.xmat.reshape(-1, 3, 3).copy()
        self._outputs = self._tuples = None
        return self._compute_readings()

    @property
    def sensor_outputs(self) -> dict[int, np.ndarray]:
        """Readings from the last `get_touch_obs`: an array (n, touch_size) float32 for each part id."""
        if self._outputs is None:
            self._outputs = self._by_part(self._compute_readings())
        return self._outputs

    @sensor_outputs.setter
    def sensor_outputs(self, outputs: dict[int, np.ndarray]) -> None:
        self._outputs = outputs

    @property
    def contact_tuples(self) -> list[tuple[int, int, Any]]:
        """Result of `get_contacts` at the last `get_touch_obs`."""
        if self._tuples is None:
            loads = self.skin.loads(*self._seen)
            contacts = self._seen[0].index[loads.contact].tolist()
            parts = self.skin.patch_ids[loads.patch].tolist()
            forces = map(plain, self._touch.evaluate(loads))
            self._tuples = list(zip(contacts, parts, forces, strict=True))
        return self._tuples

    @contact_tuples.setter
    def contact_tuples(self, tuples: list[tuple[int, int, Any]]) -> None:
        self._tuples = tuples

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
        zeros = np.zeros((len(self.skin.positions), schema.whole("size", size)), np.float32)
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
        return schema.is_integer(part_id) and part_id in self._slices

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

    @abstractmethod
    def _begin(self) -> None:
        """Build the skin for ``sensor_scales`` and pass it to `_set_skin`."""

    def _set_skin(self, skin: Skin, order: Iterable[int]) -> None:
        """Replace the skin and discard the readings.

        Args:
            skin: The new skin.
            order: Part ids in the order used by all dictionaries.
        """
        self.skin = skin
        self._slots = {part: slot for slot, part in enumerate(skin.patch_ids.tolist())}
        where = {
            part: slice(*skin.patch_offsets[slot : slot + 2].tolist()) for part, slot in self._slots.items()
        }
        self._slices = {part: where[part] for part in order}
        poses = np.zeros((self.m_model.nbody, 3)), np.zeros((self.m_model.nbody, 3, 3))
        self._seen = Contacts.empty(0), *poses
        """Contacts and body poses at the last `get_touch_obs`, from which outputs are computed on access."""
        self._outputs = self._tuples = None

    def _compute_readings(self) -> np.ndarray:
        return self.skin.readings_from_contacts(*self._seen, self._touch, self._response, dtype=np.float32)

    def _touch_types(self) -> Mapping[str, int]:
        return {**_touch_types(), **self.VALID_TOUCH_TYPES}

    def _response_functions(self) -> list[str]:
        return list(dict.fromkeys([*RESPONSE_FUNCTIONS, *self.VALID_RESPONSE_FUNCTIONS]))

    def _method(self, key: str, name: Any, valid: Mapping[str, int] | list[str]) -> Callable[..., Any]:
        touch = key == "touch_function"
        known: Iterable[str] = _touch_types() if touch else RESPONSE_FUNCTIONS
        if isinstance(name, str) and name in known and not hasattr(self, name):
            # Functions registered with the skin need no method here.
            return partial(self._evaluate if touch else self._respond, name)
        return super()._method(key, name, valid)

    def _checked_option(self, key: str, value: Any) -> Any:
        """Check an optional value of ``touch_params``, and return it.

        A mapping from body names, patterns or ids to values is converted to a mapping from body ids.
        """
        if key not in ("stiffness", "thickness") or not isinstance(value, Mapping):
            return _checked(key, value)
        where = f"touch_params: {key}"
        by_name = {
            self._body_name(body, where): _checked(key, own, f".{body}") for body, own in value.items()
        }
        bodies = [self.names.bodies[body] for body in sorted(self.sensor_scales)]
        chosen = match(by_name, bodies, where, "body with sensors")
        return {self.names.body_id(body): by_name[entry] for body, entry in chosen.items()}

    def _find(self, word: str, part_id: Any, name: str | None) -> int:
        """Return the id of a body or geom that is specified by id or by name."""
        names = self.names.bodies if word == "body" else self.names.geoms
        if part_id is None:
            if name is None:
                raise SceneError(f"{word}: missing; pass {word}_id or {word}_name{suggest('', names)}")
            find = self.names.body_id if word == "body" else self.names.geom_id
            return find(name)
        if not schema.is_index(part_id, len(names)):
            raise SceneError(f"{word}_id: must be 0 to {len(names) - 1}, got {part_id!r}")
        return int(part_id)

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
        output, value = self.sensor_outputs[part_id], np.atleast_1d(schema.as_array(force))
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
        if not schema.is_integer(part_id) or part_id not in (first, second):
            raise SceneError(f"contact {contact_id} does not involve {self._called(part_id)}")
        return -1.0 if part_id == first else 1.0

    def _by_part(self, sensors: np.ndarray) -> dict[int, np.ndarray]:
        return {part: sensors[where] for part, where in self._slices.items()}

    def _check_sensing(self, part_id: int) -> None:
        if not (schema.is_integer(part_id) and part_id in self._slices):
            others = suggest("", map(self._called, self._slices))
            raise SceneError(f"{self._called(part_id)} has no sensors{others}")

    def _check_contact(self, contact_id: int) -> None:
        if not schema.is_index(contact_id, self.m_data.ncon):
            raise SceneError(f"contact_id: out of range for {self.m_data.ncon} contacts, got {contact_id!r}")


def check_scale(scale: Any, where: str) -> None:
    """Raise ConfigError unless a scale is a distance > 0 [m]; it may be infinite."""
    is_number = isinstance(scale, int | float | np.number) and not isinstance(scale, bool)
    if not (is_number and scale > 0):
        raise ConfigError(f"{where}: must be a distance > 0 m, got {scale!r}")


def _model_and_data(env: Any) -> tuple[mujoco.MjModel, mujoco.MjData]:
    for candidate in (env, getattr(env, "unwrapped", None)):
        model, data = getattr(candidate, "model", None), getattr(candidate, "data", None)
        if isinstance(model, mujoco.MjModel) and isinstance(data, mujoco.MjData):
            if (data.qpos.size, len(data.xpos), len(data.geom_xpos)) != (model.nq, model.nbody, model.ngeom):
                raise ConfigError(
                    f"env: the data of this {type(candidate).__name__} belong to another model; use"
                    " mujoco.MjData(model)"
                )
            return model, data
    raise ConfigError(
        f"env: {type(env).__name__} has no MuJoCo model and data; provide an env with attributes 'model'"
        " (mujoco.MjModel) and 'data' (mujoco.MjData)"
    )


def scale_linear(force: np.ndarray, distances: np.ndarray, scale: float) -> np.ndarray:
    """Scale a force linearly with distance, from the full force at 0 to zero at ``scale``.

    Args:
        force: Force (c,).
        distances: Distances (n,) [m].
        scale: Distance at which the force becomes zero [m].

    Returns:
        Forces (n, c).
    """
    return np.clip(1 - np.asarray(distances, float) / scale, 0, None)[:, None] * np.atleast_1d(force)


def plain(value: np.ndarray) -> Any:
    """Return an array of one element as a float, and any other array as a copy."""
    return value.copy() if len(value) > 1 else float(value[0])


def _checked(key: str, value: Any, entry: str = "") -> Any:
    if key == "placement" and isinstance(value, str) and value in PLACEMENTS:
        # Placements can be registered with the skin.
        return value
    try:
        return KEYS[f"skin.{key}"].check(value)
    except ValueError as error:
        raise ConfigError(f"touch_params: {key}{entry}: {error}") from None


def spacing_of(scale: Any, where: str) -> float:
    """Convert a scale to a finite spacing [m]; raise ConfigError if the scale is invalid.

    Args:
        scale: Distance between sensors [m]; infinite for one sensor per geom.
        where: Name of the argument, for error messages.
    """
    check_scale(scale, where)
    return min(float(scale), COARSEST)


def new_spacing(model: mujoco.MjModel, geoms: list[int], scale: Any, where: str) -> float:
    """Convert the scale of new sensors to a finite spacing [m], and check the number of sensors.

    Args:
        model: The model.
        geoms: Ids of the geoms.
        scale: Distance between sensors [m]; infinite for one sensor per geom.
        where: Name of the argument, for error messages.

    Raises:
        ConfigError: The scale is invalid or results in too many sensors.
    """
    spacing = spacing_of(scale, where)
    check_count([(where, geom_areas(model)[geoms].sum(), spacing)])
    return spacing

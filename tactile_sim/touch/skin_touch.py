"""Common base of `DiscreteTouch` and `TrimeshTouch`, with two ways to compute readings.

By default, native code processes all contacts. If a subclass overrides a method that computes
readings, or ``touch_function`` or ``response_function`` is assigned, readings are computed contact by contact
with the methods in `by_contact`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar

import mujoco
import numpy as np

from tactile_sim.arguments import is_index
from tactile_sim.config import KEYS, match
from tactile_sim.engines.contacts import Contacts, read_contacts
from tactile_sim.errors import ConfigError, SceneError, suggest
from tactile_sim.schema import SPACING
from tactile_sim.skin import PLACEMENTS, RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS, Skin
from tactile_sim.skin.limits import check_count, geom_areas
from tactile_sim.skin.responses import PER_LOAD
from tactile_sim.touch.base import REQUIRED, check_scale
from tactile_sim.touch.by_contact import ContactTouch, plain

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


class SkinTouch(ContactTouch):
    """A touch system that computes readings in native code unless a subclass overrides methods."""

    VALID_TOUCH_TYPES: ClassVar[dict[str, int]] = _touch_types()
    VALID_RESPONSE_FUNCTIONS: ClassVar[list[str]] = list(PER_LOAD)
    _outputs: dict[int, np.ndarray] | None
    _tuples: list[tuple[int, int, Any]] | None
    _overridden: ClassVar[frozenset[str]] = frozenset()
    """Names of the attributes that are defined in subclasses outside this package."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
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
        if not is_index(part_id, len(names)):
            raise SceneError(f"{word}_id: must be 0 to {len(names) - 1}, got {part_id!r}")
        return int(part_id)


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

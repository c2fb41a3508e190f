"""Interface of all touch systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import mujoco
import numpy as np

from tactile_sim.arguments import is_index
from tactile_sim.config import match_scales
from tactile_sim.errors import ConfigError, suggest
from tactile_sim.names import Names

REQUIRED = ("scales", "touch_function", "response_function")
"""Required keys of touch_params."""


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
        if is_index(body, self.m_model.nbody):
            return self.names.bodies[body]
        raise ConfigError(f"{where}: body id must be 0 to {self.m_model.nbody - 1}, got {body!r}")


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

"""The interface of all touch systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import mujoco
import numpy as np

from tactile_sim.config import match_scales
from tactile_sim.errors import ConfigError, suggest
from tactile_sim.names import Names
from tactile_sim.touch.arguments import is_index

REQUIRED = ("scales", "touch_function", "response_function")
"""Keys of touch_params that each touch system needs."""


class Touch:
    """Base of all touch systems. One of your own gives `get_touch_obs`, its functions, and both VALID lists.

    env is anything with MuJoCo's ``model`` and ``data`` (also wrapped, where ``env.unwrapped`` has them).
    touch_params is a mapping with

    - ``scales``: the distance between sensors [m] for each body, by name, id or shell pattern
      (``finger_*``, which means bodies that can collide; an exact name wins);
    - ``touch_function``: what a sensor tells, a method by its name in VALID_TOUCH_TYPES;
    - ``response_function``: how the force of a contact is shared out among sensors, a method by its name in
      VALID_RESPONSE_FUNCTIONS.

    Attributes: ``env``; ``m_model`` and ``m_data``, its model and data; ``sensor_scales``, the distance
    between sensors [m] by body id; ``touch_type`` and ``response_type``, the names of the methods,
    ``touch_function`` and ``response_function``, the methods; ``touch_size``, the size of a sensor's output;
    ``sensor_positions``, (n, 3) by body part [m], in its frame; ``sensor_outputs``, (n, touch_size) by body
    part, as of the last `get_touch_obs`.

    Raises ConfigError for parameters that cannot be used.
    """

    VALID_TOUCH_TYPES: ClassVar[dict[str, int]] = {}
    """Touch functions and the sizes of their outputs."""
    VALID_RESPONSE_FUNCTIONS: ClassVar[list[str]] = []
    """Response functions."""

    sensor_positions: dict[int, np.ndarray]
    sensor_outputs: dict[int, np.ndarray]

    def __init__(self, env: Any, touch_params: Mapping[str, Any]) -> None:
        if not isinstance(touch_params, Mapping):
            raise ConfigError(f"touch_params: needs a mapping, but is {touch_params!r}")
        for key in REQUIRED:
            if key not in touch_params:
                there = ", ".join(map(str, touch_params)) or "none"
                raise ConfigError(f"touch_params: the key {key!r} is missing; there are: {there}")
        self.env = env
        self.m_model, self.m_data = _model_and_data(env)
        self.names = Names(self.m_model)
        """Names of the model's bodies and geoms, also of those that the scene leaves unnamed."""
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
        """(n, touch_size) what all sensors feel now; by body part in sensor_outputs."""
        raise NotImplementedError(f"{type(self).__name__} has no get_touch_obs()")

    def _touch_types(self) -> Mapping[str, int]:
        """What ``touch_function`` may be, and the size of its output."""
        return self.VALID_TOUCH_TYPES

    def _response_functions(self) -> list[str]:
        """What ``response_function`` may be."""
        return self.VALID_RESPONSE_FUNCTIONS

    def _method(self, key: str, name: Any, valid: Mapping[str, int] | list[str]) -> Callable[..., Any]:
        if not isinstance(name, str) or name not in valid:
            raise ConfigError(f"touch_params: {key}: there is no {name!r}{suggest(str(name), valid)}")
        method = getattr(self, name, None)
        if method is None:
            raise ConfigError(f"touch_params: {key}: {type(self).__name__} has no method {name!r}; define it")
        return method

    def _read_scales(self, scales: Any) -> dict[int, float]:
        """Distance between sensors by body id, in the order of the entries."""
        where = "touch_params: scales"
        if not isinstance(scales, Mapping):
            raise ConfigError(f"{where}: needs a mapping of bodies to metres, but is {scales!r}")
        by_name = {self._body_name(body, where): scale for body, scale in scales.items()}
        for name, scale in by_name.items():
            check_scale(scale, f"{where}.{name}")
        return match_scales({name: float(s) for name, s in by_name.items()}, self.m_model, self.names, where)

    def _body_name(self, body: Any, where: str) -> str:
        if isinstance(body, str):
            return body
        if is_index(body, self.m_model.nbody):
            return self.names.bodies[body]
        raise ConfigError(f"{where}: there is no body {body!r}; ids are 0 to {self.m_model.nbody - 1}")


def check_scale(scale: Any, where: str) -> None:
    """Raises ConfigError where a scale is no distance; infinite is one: as coarse as can be."""
    is_number = isinstance(scale, int | float | np.number) and not isinstance(scale, bool)
    if not (is_number and scale > 0):
        raise ConfigError(f"{where}: needs the distance between sensors in metres, above 0, but is {scale!r}")


def _model_and_data(env: Any) -> tuple[mujoco.MjModel, mujoco.MjData]:
    for candidate in (env, getattr(env, "unwrapped", None)):
        model, data = getattr(candidate, "model", None), getattr(candidate, "data", None)
        if isinstance(model, mujoco.MjModel) and isinstance(data, mujoco.MjData):
            if (data.qpos.size, len(data.xpos), len(data.geom_xpos)) != (model.nq, model.nbody, model.ngeom):
                raise ConfigError(
                    f"the data of this {type(candidate).__name__} are of another model; make them with"
                    " mujoco.MjData(model)"
                )
            return model, data
    raise ConfigError(
        f"a {type(env).__name__} has no MuJoCo model and data; give an env whose attributes 'model' and"
        " 'data' are a mujoco.MjModel and a mujoco.MjData"
    )


def scale_linear(force: np.ndarray, distances: np.ndarray, scale: float) -> np.ndarray:
    """(n, c) a force (c,) that falls linearly with distances (n,): whole at 0, nothing from scale on."""
    return np.clip(1 - np.asarray(distances, float) / scale, 0, None)[:, None] * np.atleast_1d(force)

"""Base class of plug-ins, which add an engine with its scene, commands and topics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from tactile_sim.engines.batch import Environments
from tactile_sim.engines.protocol import Engine


@dataclass(frozen=True)
class EngineTopic:
    """A topic of an engine: a ROS message of which one array changes."""

    stream: str
    """Key of ``rates`` that sets how often it is published."""
    type: str
    """Message type, such as ``sensor_msgs/msg/JointState``."""
    name: str
    """Relative name of the topic."""
    array: str
    """Field of the message that holds the array."""
    read: Callable[[], np.ndarray]
    """Returns the array of the current step."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Constant fields. A header has the stamp of the step."""


class EnginePlugin:
    """Base of plug-ins, see `tactile_sim.registry`. Only `make_engine` has to be overridden.

    ``options`` is the instance of `Settings` made of the configuration's keys below the engine's name. It is
    None for a plug-in without `Settings`, and in `engines.load`, which has no configuration.
    """

    requires_spec = True
    """False if `make_engine` uses only the compiled model, so that a compiled model can be simulated."""
    Settings: type | None = None
    """Frozen dataclass of the keys below the engine's name; its fields are made by `config.keys.key`."""

    def make_engine(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, options: Any, bodies: Collection[int] | None
    ) -> Engine:
        """Return one environment of a scene.

        Args:
            spec: The scene.
            model: The compiled scene.
            options: See the class.
            bodies: Ids of the bodies whose contacts are needed; None for all.

        Raises:
            EngineError: The engine is not installed or does not support the scene.
        """
        raise NotImplementedError

    def make_environments(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, num_envs: int, threads: int
    ) -> Environments:
        """Return several environments of a scene that are stepped at once.

        Args:
            spec: The scene.
            model: The compiled scene.
            num_envs: Number of environments.
            threads: Number of threads; 0 for the number of processors.

        Raises:
            NotImplementedError: The engine runs one environment only.
            EngineError: As in `make_engine`.
        """
        raise NotImplementedError

    def scene_name(self, options: Any) -> str | None:
        """Return the name of the engine's own scene, or None if the configuration names the scene."""
        return None

    def make_scene(self, name: str, options: Any, where: str) -> mujoco.MjSpec | None:
        """Return the engine's own scene, or None to load the scene file.

        Args:
            name: Result of `scene_name`, or the scene that is passed to `engines.load`.
            options: See the class.
            where: Beginning of error messages.

        Raises:
            SceneError, ConfigError: The scene cannot be made.
        """
        return None

    def default_scales(self, options: Any) -> Mapping[str, float]:
        """Return the spacing of taxels [m] by body name or pattern, if ``skin.scales`` is not set."""
        return {}

    def make_commander(
        self, engine: Engine, names: Any, control: Mapping[str, Mapping[str, Any]], where: str
    ) -> Any:
        """Return the engine's own `Commander`, or None for the default.

        Args:
            engine: Result of `make_engine`.
            names: `Names` of the scene.
            control: ``control`` of the configuration.
            where: Beginning of error messages.
        """
        return None

    def make_motion(self, engine: Engine, options: Any) -> Any:
        """Return the engine's own `Motion`, or None for that of the configuration."""
        return None

    def topics(self, engine: Engine) -> Iterable[EngineTopic]:
        """Return the engine's own topics."""
        return ()

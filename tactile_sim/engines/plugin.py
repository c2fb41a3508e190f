"""Plug-ins that add an engine, optionally with its own scene, commands and topics; those of this package."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from tactile_sim.engines.environments import Environments, MujocoEnvironments
from tactile_sim.engines.mujoco import MujocoEngine
from tactile_sim.engines.protocol import Engine
from tactile_sim.scenes.camera import Camera


@dataclass(frozen=True)
class EngineTopic:
    """A ROS topic that an engine publishes.

    Consecutive messages differ only in the time stamp and in one array.
    """

    stream: str
    """Configuration key below ``rates`` that sets the publishing rate of the topic."""
    type: str
    """Message type, such as ``sensor_msgs/msg/JointState``."""
    name: str
    """Relative name of the topic."""
    array: str
    """Name of the message field for the array that changes between messages.

    The field is a sequence of numbers or a struct of numbers, such as a pose.
    """
    read: Callable[[], np.ndarray]
    """Function that returns the values of the field ``array`` for the current step."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Values of the message fields that do not change, by field name.

    If the message has a header, its stamp is set to the time of the step. If the array is a struct, its frame
    is that of the world, unless it is set here.
    """


class EnginePlugin:
    """Base class of plug-ins that add an engine, see `tactile_sim.engines.registry`.

    Only `make_engine` must be overridden. The argument ``options`` of the methods is an instance of
    `Settings`, created from the configuration keys below the engine's name. It is None if the plug-in has no
    `Settings`, or if `engines.load` calls the method, because `engines.load` does not use a configuration.
    """

    requires_spec = True
    """Whether `make_engine` needs the spec. If False, the engine can also simulate models without a spec."""
    Settings: type | None = None
    """Frozen dataclass of the configuration keys below the engine's name.

    Create its fields with `tactile_sim.common.schema.parameter`.
    """

    def make_engine(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, options: Any, bodies: Collection[int] | None
    ) -> Engine:
        """Create an engine that simulates one environment of a scene.

        Args:
            spec: The scene as an editable spec.
            model: The compiled scene.
            options: Engine settings; see the class docstring.
            bodies: Ids of the bodies whose contacts are needed; None for all.

        Raises:
            EngineError: The engine is not installed or does not support the scene.
        """
        raise NotImplementedError

    def make_environments(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, num_envs: int, threads: int
    ) -> Environments:
        """Create an engine that steps several environments of a scene together, in ``threads`` threads.

        Raises:
            NotImplementedError: The engine supports only a single environment.
            EngineError: The engine is not installed or does not support the scene.
        """
        raise NotImplementedError

    def scene_name(self, options: Any) -> str | None:
        """Return the name of a scene that the engine provides, or None to use the configured scene."""
        return None

    def make_scene(self, name: str, options: Any, where: str) -> mujoco.MjSpec | None:
        """Create a scene that the engine provides, or return None to load the scene from a file.

        Args:
            name: Result of `scene_name`, or the scene that is passed to `engines.load`.
            options: Engine settings; see the class docstring.
            where: Prefix for error messages.

        Raises:
            SceneError, ConfigError: The scene cannot be created.
        """
        return None

    def default_scales(self, options: Any) -> Mapping[str, float]:
        """Return the default spacing of the taxels [m], keyed by body name or pattern of body names.

        The default is used if neither ``skin.scales`` nor ``skin.pads`` is set.
        """
        return {}

    def make_commander(
        self, engine: Engine, names: Any, control: Mapping[str, Mapping[str, Any]], where: str
    ) -> Any:
        """Create an engine-specific `Commander`, or return None to use the default one.

        Args:
            engine: Result of `make_engine`.
            names: `Names` of the scene.
            control: The configuration's ``control`` table.
            where: Prefix for error messages.
        """
        return None

    def make_motion(self, engine: Engine, options: Any) -> Any:
        """Create an engine-specific `Motion`, or return None to use the configured motion."""
        return None

    def cameras(self, options: Any) -> Mapping[str, Camera]:
        """Return calibrated cameras, in addition to those of the scene, by the name to use in ``cameras``."""
        return {}

    def topics(self, engine: Engine) -> Iterable[EngineTopic]:
        """Return the additional topics that the engine publishes."""
        return ()


class MujocoPlugin(EnginePlugin):
    """Plug-in for MuJoCo."""

    requires_spec = False

    def make_engine(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, options: Any, bodies: Collection[int] | None
    ) -> Engine:
        return MujocoEngine(model)

    def make_environments(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, num_envs: int, threads: int
    ) -> Environments:
        return MujocoEnvironments(model, num_envs, threads)


class MotrixPlugin(EnginePlugin):
    """Plug-in for MotrixSim, which is an optional package."""

    def make_engine(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, options: Any, bodies: Collection[int] | None
    ) -> Engine:
        from tactile_sim.engines.motrix import MotrixEngine

        return MotrixEngine(spec, model, bodies)

    def make_environments(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, num_envs: int, threads: int
    ) -> Environments:
        from tactile_sim.engines.motrix_environments import MotrixEnvironments

        return MotrixEnvironments(spec, model, num_envs, threads)

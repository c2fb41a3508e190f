"""Physics engines behind a common interface."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, cast

import mujoco

from tactile_sim.common.errors import EngineError, SceneError
from tactile_sim.common.schema import whole
from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.environments import Environments
from tactile_sim.engines.mujoco import MujocoEngine
from tactile_sim.engines.plugin import EnginePlugin, EngineTopic
from tactile_sim.engines.protocol import DataEngine, Engine
from tactile_sim.engines.registry import engine_plugin
from tactile_sim.engines.sensors import ContactSensor
from tactile_sim.scenes import compiled, load_scene
from tactile_sim.scenes.contact_sensors import check_sensors

__all__ = [
    "ContactSensor",
    "Contacts",
    "DataEngine",
    "Engine",
    "EnginePlugin",
    "EngineTopic",
    "Environments",
    "MujocoEngine",
    "load",
    "make",
    "make_many",
]

_LOG = logging.getLogger("tactile_sim.engines")


def load(
    scene: str | Path,
    engine: str = "mujoco",
    num_envs: int = 1,
    *,
    contact_sensors: Mapping[str, Mapping[str, Any]] | None = None,
    threads: int = 0,
) -> DataEngine | Environments:
    """Load a scene into an engine.

    Args:
        scene: MJCF or URDF file: the name of a scene in this package (``touch_cube``), a path relative to the
            working directory, or a ``package://`` or ``file://`` address. For the engine ``trifinger``, the
            type of the robot, for example ``trifingerpro``.
        engine: ``mujoco``, ``motrix``, ``trifinger`` or an engine that another package registers.
        num_envs: Number of environments that are stepped together.
        contact_sensors: Contact sensors to add to the scene, with the same keys as in a configuration:
            ``{"tip": {"geom1": "fingertip", "geom2": "ball", "data": ["force"], "reduce": "netforce"}}``.
        threads: Number of threads that step several environments, or 0 for one thread per processor.

    Returns:
        An engine with one environment, or a batch of environments if ``num_envs`` > 1.

    Raises:
        SceneError: The scene is invalid.
        ConfigError: A contact sensor is invalid.
        EngineError: The engine is not installed or rejects the scene.
    """
    if not isinstance(scene, str | PathLike):
        raise SceneError(f"scene: must be a name such as 'touch_cube' or a path, got {scene!r}")
    num_envs = whole("num_envs", num_envs, 1, error=EngineError)
    threads = whole("threads", threads, error=EngineError)
    plugin = engine_plugin(engine)
    sensors = check_sensors({} if contact_sensors is None else contact_sensors, "engines.load")
    own = plugin.make_scene(str(scene), None, "engines.load")
    if own is not None:
        spec, model = compiled(own, Path(scene), contact_sensors=sensors)
    else:
        spec, model = load_scene(str(scene), base=Path.cwd(), contact_sensors=sensors)
    loaded: DataEngine | Environments
    if num_envs == 1:
        loaded = cast(DataEngine, make(engine, spec, model))
    else:
        loaded = make_many(engine, spec, model, num_envs, threads)
    for line in loaded.unsupported:
        _LOG.warning("engine %r: %s", engine, line)
    return loaded


def make(
    engine: str,
    spec: mujoco.MjSpec,
    model: mujoco.MjModel,
    bodies: Collection[int] | None = None,
    options: Any = None,
) -> Engine:
    """Create an engine that simulates one environment of a loaded scene.

    Args:
        engine: Name of the engine.
        spec: The scene as an editable spec.
        model: The compiled scene.
        bodies: Ids of the bodies whose contacts are needed; some engines skip all other contacts to save
            time. None selects all bodies.
        options: Engine-specific settings from the configuration, see `EnginePlugin`.

    Returns:
        The engine, with the environment in its initial state.

    Raises:
        EngineError: The engine is unknown or does not support the scene.
    """
    return engine_plugin(engine).make_engine(spec, model, options, bodies)


def make_many(
    engine: str, spec: mujoco.MjSpec, model: mujoco.MjModel, num_envs: int, threads: int = 0
) -> Environments:
    """Create an engine that steps several environments of a loaded scene together.

    Args:
        engine: Name of the engine.
        spec: The scene as an editable spec.
        model: The compiled scene.
        num_envs: Number of environments.
        threads: Number of threads, or 0 for one thread per processor.

    Raises:
        EngineError: The engine is unknown, does not support the scene, does not support several
            environments, or runs out of memory.
    """
    try:
        return engine_plugin(engine).make_environments(spec, model, num_envs, threads)
    except NotImplementedError:
        raise EngineError(f"engine {engine!r}: num_envs must be 1, got {num_envs}; leave it out") from None
    except MemoryError:
        raise EngineError(f"num_envs: not enough memory, got {num_envs} environments; use fewer") from None

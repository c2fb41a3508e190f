"""Physics engines behind one interface."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tactile_sim.engines.contact_sensors import ContactSensor
from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.mujoco import MujocoEngine
from tactile_sim.engines.mujoco_batch import MujocoBatch
from tactile_sim.errors import EngineError, suggest

__all__ = ["ContactSensor", "Contacts", "MujocoBatch", "MujocoEngine", "load"]

_ENGINES = ("mujoco",)


def load(
    scene: str | Path,
    engine: str = "mujoco",
    num_envs: int = 1,
    *,
    contact_sensors: Mapping[str, Mapping[str, Any]] | None = None,
    threads: int = 0,
) -> MujocoEngine | MujocoBatch:
    """Loads a scene into an engine.

    Args:
        scene: a shipped name (``touch_cube``), a path, or a ``package://`` or ``file://`` address of an MJCF
            or URDF file; a relative path counts from the working directory.
        engine: ``mujoco``.
        num_envs: how many environments of the scene to step at once.
        contact_sensors: contact sensors to add to those of the scene, as in a configuration:
            ``{"tip": {"geom1": "fingertip", "geom2": "ball", "data": ["force"], "reduce": "netforce"}}``.
        threads: how many step several environments; 0: as many as the machine has processors.

    Raises:
        SceneError: the scene cannot be used.
        ConfigError: a contact sensor cannot be.
        EngineError: the engine is not there.
    """
    from tactile_sim.config import records
    from tactile_sim.scenes import load_model

    if engine not in _ENGINES:
        raise EngineError(f"no engine {engine!r}{suggest(engine, _ENGINES)}")
    if num_envs < 1:
        raise EngineError(f"cannot run {num_envs} environments: num_envs needs to be at least 1")
    sensors = records("contact_sensors", contact_sensors or {}, "engines.load")
    model = load_model(str(scene), base=Path.cwd(), contact_sensors=sensors)
    return MujocoEngine(model) if num_envs == 1 else MujocoBatch(model, num_envs, threads)

"""Physics engines behind one interface."""

from __future__ import annotations

from pathlib import Path

from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.mujoco import MujocoEngine
from tactile_sim.errors import EngineError, suggest

__all__ = ["Contacts", "MujocoEngine", "load"]

_ENGINES = {"mujoco": MujocoEngine}


def load(scene: str | Path, engine: str = "mujoco", num_envs: int = 1) -> MujocoEngine:
    """Loads a scene into an engine.

    scene is a shipped name (``touch_cube``), a path, or a ``package://`` or ``file://`` address of an MJCF or
    URDF file; a relative path counts from the working directory. Raises SceneError for a scene that cannot be
    used, EngineError for an engine that is not there.
    """
    from tactile_sim.scenes import load_model

    if engine not in _ENGINES:
        raise EngineError(f"no engine {engine!r}{suggest(engine, _ENGINES)}")
    if num_envs != 1:
        raise EngineError(f"engine {engine!r} runs one environment, not {num_envs}: use num_envs=1")
    return _ENGINES[engine](load_model(str(scene), base=Path.cwd()))

"""Settings, frames, engine and feelers of a `Simulation`, created from its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from tactile_sim import config, engines
from tactile_sim.common.errors import ConfigError, located
from tactile_sim.common.names import Names
from tactile_sim.config import FeelerSettings, Settings
from tactile_sim.engines import Engine
from tactile_sim.feelers.feelers import Feelers
from tactile_sim.feelers.placement import Request, place_all
from tactile_sim.skin import Skin

_MADE_IN_PYTHON = "<scene made in Python>"


def checked_settings(scene: Any, settings: Mapping[str, Any] | None) -> Settings:
    """Convert the arguments of `Simulation` to checked settings. Raise ConfigError if they are invalid."""
    if settings is not None and not isinstance(settings, Mapping):
        raise ConfigError(f"settings: must be a mapping of keys to values, got {settings!r}")
    if isinstance(scene, mujoco.MjSpec | mujoco.MjModel):
        if "scene" in (settings or {}):
            raise ConfigError("settings.scene: the scene was already passed as an object; remove the key")
        return config.from_mapping({**(settings or {}), "scene": _MADE_IN_PYTHON}, Path.cwd(), "settings")
    if settings is not None:
        raise ConfigError("settings: are only for a scene built in Python; add them to the configuration")
    if isinstance(scene, Settings):
        return scene
    if isinstance(scene, Mapping):
        return config.from_mapping(scene, Path.cwd())
    if not isinstance(scene, str | PathLike):
        raise ConfigError(
            "configuration: must be a name such as 'touch_cube', a path, a mapping, an MjSpec or an MjModel,"
            f" got {scene!r}"
        )
    return config.load(Path(scene) if isinstance(scene, PathLike) else scene)


def body_frames(settings: Settings, names: Names) -> list[str]:
    """Return the names of the bodies' TF frames, indexed by body id.

    Raises:
        ConfigError: ``world_frame`` is also the frame of a body.
    """
    bodies = [settings.frame_prefix + name for name in names.bodies[1:]]
    if settings.world_frame in bodies:
        raise ConfigError(
            f"{settings.source}: world_frame: {settings.world_frame!r} is also the frame of a body;"
            " give the world another name, or the bodies a frame_prefix"
        )
    return [settings.world_frame, *bodies]


def make_feelers(model: mujoco.MjModel, feelers: Mapping[int, tuple[str, FeelerSettings]]) -> Feelers:
    """Place the feelers of a configuration.

    Args:
        model: The compiled scene.
        feelers: For each body id, a prefix for error messages and the settings.

    Raises:
        ConfigError, SceneError: ``feelers`` does not fit the scene.
    """
    requests = [
        Request(body, where, Path(own.image) if own.image else None, own.spacing, own.length, own.white_only)
        for body, (where, own) in feelers.items()
    ]
    return Feelers(
        model,
        place_all(model, requests),
        tolerance=[own.tolerance for _, own in feelers.values()],
        children=[own.children for _, own in feelers.values()],
    )


def make_engine(settings: Settings, spec: mujoco.MjSpec, model: mujoco.MjModel, skin: Skin) -> Engine:
    """Create the engine that a configuration names.

    Args:
        settings: The configuration.
        spec: The scene as an editable spec.
        model: The compiled scene.
        skin: Skin on its bodies.

    Raises:
        ConfigError: A flex has skin, but the engine does not report contacts of flexes.
        EngineError: The engine is unknown or does not support the scene.
    """
    # An engine may skip contacts that nothing reads.
    bodies_read = np.unique(skin.body_ids).tolist() if settings.contacts == "skin" else None
    with located(settings.source):
        engine = engines.make(settings.engine, spec, model, bodies_read, settings.engine_settings)
    flexes = [pad.name for pad in skin.pads if pad.flex >= 0]
    if flexes and not engine.reports_flex_contacts:
        raise ConfigError(
            f"{settings.source}: skin.pads.{flexes[0]}.flex: requires an engine that reports contacts of"
            f" flexes, such as mujoco, got {settings.engine}"
        )
    return engine

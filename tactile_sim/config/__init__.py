"""Read configurations in the same way as rcl, and convert them to validated, immutable settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tactile_sim.common.errors import MOST_ERRORS, ConfigError, ErrorList
from tactile_sim.common.files import expand_home, find_shipped, shipped_file
from tactile_sim.common.names import match
from tactile_sim.common.schema import Key
from tactile_sim.config import parameter_file
from tactile_sim.config.elements import resolve_cameras
from tactile_sim.config.mapping import checked_mapping, from_mapping
from tactile_sim.config.review import add_scene_errors, raise_all
from tactile_sim.config.scene import configured_scene, robot_description
from tactile_sim.config.settings import (
    KEYS,
    CameraSettings,
    FeelerSettings,
    MarkerSettings,
    MotionSettings,
    PadSettings,
    Rates,
    Settings,
    SkinSettings,
    WebSettings,
    engine_keys,
)
from tactile_sim.config.skin import match_scales, resolve_feelers, resolve_pads, resolve_scales, skin_plan

__all__ = [
    "KEYS",
    "CameraSettings",
    "FeelerSettings",
    "Key",
    "MarkerSettings",
    "MotionSettings",
    "PadSettings",
    "Rates",
    "Settings",
    "SkinSettings",
    "WebSettings",
    "configured_scene",
    "engine_keys",
    "find",
    "from_mapping",
    "load",
    "match",
    "match_scales",
    "raise_all",
    "resolve_cameras",
    "resolve_feelers",
    "resolve_pads",
    "resolve_scales",
    "robot_description",
    "skin_plan",
]


def find(name: str | Path) -> Path:
    """Return the path of a configuration file.

    A name that ends in ``.yaml`` is always a path, so that a missing file is not replaced by a shipped one.
    """
    if not isinstance(name, str | os.PathLike):
        raise ConfigError(f"configuration: must be a name such as 'touch_cube' or a path, got {name!r}")
    if not str(name):
        raise ConfigError("the configuration's name is empty; give a shipped name or the path of a YAML file")
    path = expand_home(name)
    if os.path.isfile(path) or path.suffix in (".yaml", ".yml"):
        return path
    shipped = shipped_file("config", str(name))
    if shipped is not None:
        return shipped
    looks_like_a_path = len(path.parts) != 1 or os.path.exists(path)
    return path if looks_like_a_path else find_shipped("config", str(name))


def load(
    name: str | Path,
    node: str = "/tactile_sim",
    changes: Mapping[str, Any] = MappingProxyType({}),
    scene_errors: bool = False,
) -> Settings:
    """Load and validate the settings in a parameter file."""
    path = find(name)
    if not isinstance(node, str):
        raise ConfigError(f"node: must be a full name such as '/tactile_sim', got {node!r}")
    if not isinstance(changes, Mapping):
        raise ConfigError(f"changes: must be a mapping of full keys to values, got {changes!r}")
    values = parameter_file.read(path, str(path), node) | dict(changes)
    settings, invalid = checked_mapping(values, path.absolute().parent, str(path))
    errors = ErrorList(error for _, error in invalid)
    if invalid and scene_errors and len(errors.errors) < MOST_ERRORS:  # more would not be shown
        add_scene_errors(settings, [key for key, _ in invalid], errors)
    errors.check()
    return settings

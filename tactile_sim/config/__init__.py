"""The configuration: read as rcl reads it, checked before anything starts, frozen."""

from __future__ import annotations

from pathlib import Path

from tactile_sim import share
from tactile_sim.config import parameter_file
from tactile_sim.config.resolve import resolve_gains, resolve_keyframes, resolve_scales
from tactile_sim.config.schema import KEYS, Key, from_mapping, nest
from tactile_sim.config.settings import (
    Gains,
    MarkerSettings,
    MotionSettings,
    Rates,
    Settings,
    SkinSettings,
    WebSettings,
)

__all__ = [
    "KEYS",
    "Gains",
    "Key",
    "MarkerSettings",
    "MotionSettings",
    "Rates",
    "Settings",
    "SkinSettings",
    "WebSettings",
    "find",
    "from_mapping",
    "load",
    "nest",
    "resolve_gains",
    "resolve_keyframes",
    "resolve_scales",
]


def find(name: str | Path) -> Path:
    """The file of a configuration: a path that exists, else a shipped name (``touch_cube``).

    Raises:
        ConfigError: there is neither.
    """
    path = Path(name).expanduser()
    if path.exists() or path.is_absolute() or len(path.parts) != 1:
        return path
    shipped = share.lookup("config", str(name))
    if shipped is None and path.suffix in (".yaml", ".yml"):
        return path
    return shipped or share.find("config", str(name))


def load(name: str | Path, node: str = "/tactile_sim") -> Settings:
    """Checked settings from a parameter file, given by path or as a shipped name.

    Args:
        name: path of a YAML file, or a shipped name such as ``touch_cube``.
        node: full name of the node whose parameters are read.

    Raises:
        ConfigError: the file cannot be read, or says what cannot be.
    """
    path = find(name)
    source = str(name) if path == Path(name) else str(path)
    return from_mapping(nest(parameter_file.read(path, source, node)), path.resolve().parent, source)

"""Load presets, which describe real tactile sensors as pads and cite a source for each property."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tactile_sim.common.errors import ConfigError, suggest
from tactile_sim.common.files import YAML_LOADER

FOLDER = Path(__file__).resolve().parent
"""Folder that contains the presets and their layout files."""
GRADES = ("primary", "secondary", "estimated")
"""Grades of the source of a property.

``primary`` means a file or paper from the sensor's project, ``secondary`` a publication by other authors, and
``estimated`` an estimate by this project.
"""


@dataclass(frozen=True)
class Figure:
    """A property of a real sensor, such as its range."""

    value: str
    grade: str
    """Grade of the source, one of `GRADES`."""
    source: str = ""
    """Publication from which the value is taken; empty for an estimate."""


@dataclass(frozen=True)
class Preset:
    """Configuration of a pad that imitates a real sensor, and where its numbers come from."""

    name: str
    title: str
    pad: dict[str, Any]
    """Keys below ``skin.pads.NAME``."""
    sensor: dict[str, dict[str, Any]]
    """Stages and parameters below ``skin.sensor.NAME``."""
    figures: dict[str, Figure]
    """Properties of the real sensor, keyed by name: layout, range, resolution, rate, ..."""


def names() -> list[str]:
    """Return the names of all presets."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load(name: str, where: str = "preset") -> Preset:
    """Load the preset with this name from its YAML file.

    Args:
        name: Name of the preset.
        where: Prefix for error messages (file and key).

    Raises:
        ConfigError: The preset is unknown.
    """
    known = names()
    if name not in known:
        raise ConfigError(f"{where}: unknown preset {name!r}{suggest(name, known)}")
    return _read(name)


@cache
def _read(name: str) -> Preset:
    content = yaml.load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), YAML_LOADER)
    return Preset(
        name,
        content["title"],
        content["pad"],
        content.get("sensor", {}),
        {key: Figure(**figure) for key, figure in content["figures"].items()},
    )

"""Presets: real tactile sensors as pads, with the source of each figure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tactile_sim.errors import ConfigError, suggest

FOLDER = Path(__file__).resolve().parent
"""The folder of the presets and of their layouts."""
GRADES = ("primary", "secondary", "estimated")
"""Grades of the origin of a figure: file or paper of the sensor's project, a note about it, our estimate."""


@dataclass(frozen=True)
class Figure:
    """A property of a real sensor."""

    value: str
    grade: str
    """One of `GRADES`."""
    source: str = ""
    """Publication of the figure; empty for an estimate."""


@dataclass(frozen=True)
class Preset:
    """A real sensor."""

    name: str
    title: str
    pad: dict[str, Any]
    """Keys below ``skin.pads.NAME``."""
    sensor: dict[str, dict[str, Any]]
    """Stages and parameters below ``skin.sensor.NAME``."""
    figures: dict[str, Figure]
    """Figures by property: layout, range, resolution, rate, ..."""


def names() -> list[str]:
    """Return the names of all presets."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load(name: str, where: str = "preset") -> Preset:
    """Return a preset.

    Args:
        name: Its name.
        where: The beginning of errors: file and key.

    Raises:
        ConfigError: The preset is unknown.
    """
    known = names()
    if name not in known:
        raise ConfigError(f"{where}: unknown preset {name!r}{suggest(name, known)}")
    content = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return Preset(
        name,
        content["title"],
        content["pad"],
        content.get("sensor", {}),
        {key: Figure(**figure) for key, figure in content["figures"].items()},
    )

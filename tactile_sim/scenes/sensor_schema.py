"""Declare the keys ``contact_sensors.NAME.*``, which are the attributes of ``<contact>`` sensors in MJCF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tactile_sim.errors import ConfigError, suggest
from tactile_sim.schema import Check, Choice, Integer, Text, check_characters, shown

FIELDS = ("found", "force", "torque", "dist", "pos", "normal", "tangent")
"""Fields of a contact in canonical order."""
REDUCTIONS = ("none", "mindist", "maxforce", "netforce")
"""Reductions, indexed by their number in MuJoCo."""
FIRST = ("geom1", "body1", "subtree1", "site")
"""Keys that specify object 1, or the site that contains the contacts; at most one may be set."""
SECOND = ("geom2", "body2", "subtree2")
"""Keys that specify object 2; at most one may be set."""
MOST_SLOTS = 1000


@dataclass(frozen=True)
class Ordered:
    """Check for a list of one or more of ``words``, without repetition and in the order of ``words``."""

    words: tuple[str, ...]

    def __call__(self, value: Any) -> tuple[str, ...]:
        example = f"[{', '.join(self.words[:2])}]"
        listed = isinstance(value, list | tuple) and len(value) > 0
        if not listed or not all(isinstance(entry, str) for entry in value):
            raise ValueError(f"must be a list of words, such as {example}, got {shown(value)}")
        for entry in value:
            if entry not in self.words:
                raise ValueError(f"must not contain {entry!r}{suggest(entry, self.words)}")
        wanted = [word for word in self.words if word in value]
        if list(value) != wanted:
            raise ValueError(
                f"must have each word once and in order, [{', '.join(wanted)}], got [{', '.join(value)}]"
            )
        return tuple(value)


_NAME = Text(filled=True)
CONTACT_SENSOR: dict[str, Check] = {
    **dict.fromkeys((*FIRST, *SECOND), _NAME),
    "data": Ordered(FIELDS),
    "num": Integer(1, MOST_SLOTS),
    "reduce": Choice(REDUCTIONS),
}
"""For each key of a contact sensor, the function that checks its value."""


def check_sensors(sensors: Mapping[str, Any], where: str) -> dict[str, dict[str, Any]]:
    """Check the keys of contact sensors and return them keyed by sensor name.

    Args:
        sensors: For each sensor name, its keys and values, as in a configuration's ``contact_sensors``.
        where: Prefix for error messages.

    Raises:
        ConfigError: A key is unknown or its value is invalid.
    """
    if not isinstance(sensors, Mapping):
        raise ConfigError(f"{where}: contact_sensors: must have keys below it, got {shown(sensors)}")
    checked: dict[str, dict[str, Any]] = {}
    for name, keys in sensors.items():
        place = f"{where}: contact_sensors.{name}"
        if not isinstance(name, str) or not isinstance(keys, Mapping):
            raise ConfigError(f"{place}: must have a name and keys below it, got {shown(keys)}")
        checked[name] = {}
        for key, value in keys.items():
            if key not in CONTACT_SENSOR:
                raise ConfigError(f"{place}: unknown key {key!r}{suggest(str(key), CONTACT_SENSOR)}")
            try:
                check_characters(name)
                checked[name][key] = CONTACT_SENSOR[key](value)
            except ValueError as error:
                raise ConfigError(f"{place}.{key}: {error}") from None
    return checked


def sides(keys: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the keys that specify object 1 (or the site) and object 2, or None where any object matches.

    Raises:
        ValueError: An object is specified by more than one key.
    """
    chosen: list[str | None] = []
    for options in (FIRST, SECOND):
        given = [key for key in options if key in keys]
        if len(given) > 1:
            raise ValueError(f"has both {given[0]} and {given[1]}; name at most one of {', '.join(options)}")
        chosen.append(given[0] if given else None)
    return chosen[0], chosen[1]

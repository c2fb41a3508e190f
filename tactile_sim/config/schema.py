"""From a mapping to checked :class:`Settings`: unknown keys, wrong types, values out of bounds.

Inside, a configuration is flat (``{"skin.scales.left.palm": 0.02}``), as ROS parameters are, so that dots in names mean the same
everywhere. Tables (``skin.scales``, ``gains``, ...) take what follows their name for the user's key.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any

from tactile_sim.config.checks import Check, shown
from tactile_sim.config.settings import Settings
from tactile_sim.errors import ConfigError, suggest

# rcl has no null: a plain `null` reaches a node as this text.
_NULLS = ("null", "Null", "NULL", "~")
# Parameters that every rclpy node has.
_OF_RCLPY = ("use_sim_time", "start_type_description_service")
_OF_RCLPY_BELOW = ("qos_overrides.",)


@dataclass(frozen=True)
class Key:
    """One key of the configuration. ``default`` is None for tables and for a key that has to be given."""

    name: str
    default: Any
    check: Check
    doc: str
    live: bool


def _walk(settings: type, prefix: str) -> Iterator[tuple[str, dataclasses.Field]]:
    for entry in dataclasses.fields(settings):
        group = entry.default_factory
        if dataclasses.is_dataclass(group):
            yield from _walk(group, f"{prefix}{entry.name}.")
        elif entry.metadata:
            yield prefix + entry.name, entry


def _keys(settings: type, prefix: str = "") -> dict[str, Key]:
    return {
        name: Key(name, entry.default, **entry.metadata)
        for name, entry in _walk(settings, prefix)
        if entry.default is not MISSING
    }


KEYS: dict[str, Key] = _keys(Settings)
_TABLES: dict[str, Check] = {
    name: entry.metadata["check"]
    for name, entry in _walk(Settings, "")
    if entry.default is MISSING and "check" in entry.metadata
}
_RECORDS: dict[str, type] = {
    name: entry.metadata["record"] for name, entry in _walk(Settings, "") if "record" in entry.metadata
}
_GROUPS = {name.split(".")[0] for name in [*KEYS, *_TABLES, *_RECORDS] if "." in name}


def from_mapping(mapping: Mapping[str, Any], base: Path | None = None, source: str = "configuration") -> Settings:
    """Checked settings from a mapping: nested, or with dots in its keys; without ROS's two levels.

    Args:
        mapping: keys as in a parameter file below ``ros__parameters``. A value of None (or rcl's ``"null"``) means the default.
        base: folder where relative paths in the mapping start; None: there is no such folder.
        source: how errors call the origin, usually the file.

    Raises:
        ConfigError: names the key, what is there, and the nearest valid name.
    """
    given = {
        name: value
        for name, value in _flatten(mapping, source)
        if not (name in _OF_RCLPY or name.startswith(_OF_RCLPY_BELOW) or value is None or value in _NULLS)
    }
    values: dict[str, Any] = {}
    for name, value in given.items():
        values.update(_checked(name, value, source))
    if "scene" not in values:
        raise ConfigError(f"{source}: the key 'scene' is missing: name an MJCF or URDF file, e.g. 'scene: touch_cube.xml'")
    return dataclasses.replace(_build(Settings, "", values, base=base, source=source))


def nest(flat: Mapping[str, Any]) -> dict[str, Any]:
    """ROS parameters (``{"skin.scales.left.palm": 0.02}``) as the nested mapping of the core, names with dots kept whole."""
    nested: dict[str, Any] = {}
    for name, value in flat.items():
        *path, last = _split(name)
        level = nested
        for part in path:
            level = level.setdefault(part, {})
        level[last] = value
    return nested


def replace(settings: Settings, key: str, value: Any) -> Settings:
    """See :meth:`Settings.replace`."""
    if key not in KEYS:
        raise ConfigError(f"unknown key {key!r}{suggest(key, KEYS)}")
    if not KEYS[key].live:
        live = [name for name in KEYS if KEYS[name].live]
        raise ConfigError(f"{key}: cannot be set while the simulation runs; set it in the file and start again"
                          f" (what can be set: {', '.join(live[:1] + live[-3:])}, ...)")  # fmt: skip
    checked = _checked(key, value, settings.source)[key]
    group, _, leaf = key.rpartition(".")
    if not group:
        return dataclasses.replace(settings, **{leaf: checked})
    return dataclasses.replace(settings, **{group: dataclasses.replace(getattr(settings, group), **{leaf: checked})})


def _split(name: str) -> list[str]:
    for table in _TABLES:
        if name.startswith(table + "."):
            return [*table.split("."), name[len(table) + 1 :]]
    for record in _RECORDS:
        if name.startswith(record + "."):
            user, _, leaf = name[len(record) + 1 :].rpartition(".")
            return [*record.split("."), user, leaf] if user else [*record.split("."), leaf]
    group, _, leaf = name.partition(".")
    return [group, leaf] if group in _GROUPS and leaf else [name]


def _flatten(mapping: Mapping[str, Any], source: str, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(mapping, Mapping):
        raise ConfigError(f"{source}: the configuration has to be a mapping, but is {shown(mapping)}")
    for key, value in mapping.items():
        if not isinstance(key, str):
            raise ConfigError(f"{source}: {prefix}{key}: a key has to be text, but is {shown(key)}; put it in quotes")
        if isinstance(value, Mapping):
            yield from _flatten(value, source, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _checked(name: str, value: Any, source: str) -> dict[str, Any]:
    """The value of a key, checked, by its full name."""
    check = _check_of(name, source)
    try:
        return {name: check(value)}
    except ValueError as error:
        raise ConfigError(f"{source}: {name}: {error}") from None


def _check_of(name: str, source: str) -> Check:
    if name in KEYS:
        return KEYS[name].check
    for table, check in _TABLES.items():
        if name.startswith(table + "."):
            return check
    for record, type_ in _RECORDS.items():
        if name.startswith(record + "."):
            entry, _, leaf = name.rpartition(".")
            keys = _keys(type_, entry + ".")
            if entry != record and name in keys:
                return keys[name].check
            raise ConfigError(f"{source}: unknown key {name!r}{suggest(leaf, [key.rpartition('.')[2] for key in keys])}")
    containers = [*_TABLES, *_RECORDS, *_GROUPS]
    if name in containers:
        raise ConfigError(f"{source}: {name}: needs a mapping of keys below it, but has a plain value")
    group = name.partition(".")[0]
    siblings = [key for key in [*KEYS, *containers] if key.startswith(group + ".")]
    raise ConfigError(f"{source}: unknown key {name!r}{_suggest_key(name, siblings)}")


def _suggest_key(name: str, siblings: list[str]) -> str:
    """The nearest key: among its group's, or a misspelt group's, or one that was left at the wrong level."""
    if siblings:
        return suggest(name, siblings)
    top = [key.partition(".")[0] for key in [*KEYS, *_TABLES, *_RECORDS]]
    near = suggest(name.partition(".")[0], dict.fromkeys(top))
    if "did you mean" in near:
        return near
    leaves = {key.rpartition(".")[2]: key for key in [*KEYS, *_TABLES]}
    misplaced = leaves.get(name) or leaves.get(name.partition(".")[0])
    return f"; did you mean {misplaced!r}?" if misplaced else near


def _build(type_: type, prefix: str, values: Mapping[str, Any], **known: Any) -> Any:
    """The dataclass of a group, from checked values by full name."""
    for entry in dataclasses.fields(type_):
        name = prefix + entry.name
        if dataclasses.is_dataclass(entry.default_factory):
            known[entry.name] = _build(entry.default_factory, name + ".", values)
        elif name in _TABLES:
            known[entry.name] = {key[len(name) + 1 :]: values[key] for key in values if key.startswith(name + ".")}
        elif name in _RECORDS:
            users = {key[len(name) + 1 :].rpartition(".")[0] for key in values if key.startswith(name + ".")}
            known[entry.name] = {user: _build(_RECORDS[name], f"{name}.{user}.", values) for user in sorted(users)}
        elif name in values:
            known[entry.name] = values[name]
    return type_(**known)

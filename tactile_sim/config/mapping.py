"""Convert a mapping to validated :class:`Settings`.

Internally, a configuration is flat (``{"skin.scales.left.palm": 0.02}``), as ROS parameters are. Body names
can contain dots, because everything after the name of a table such as ``skin.scales`` belongs to the body
name.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tactile_sim.common.errors import ConfigError, ErrorList, located
from tactile_sim.common.schema import Check, Key, check_characters, shown
from tactile_sim.config.parameter_file import NODE_LEVEL
from tactile_sim.config.settings import FAULTS, KEYS, RECORDS, TABLES, Settings, engine_keys
from tactile_sim.engines.registry import engine_plugin, has_engine
from tactile_sim.signal_chain.stage import ENABLED

_NULLS = ("null", "Null", "NULL", "~")
"""Strings that mean null. rcl has no null, so it passes a plain ``null`` to the node as a string."""
_PARTS = {"robots", "objects", "ground"}
"""Keys that add elements to a scene."""
_OF_EVERY_NODE = ("use_sim_time", "start_type_description_service")
_OF_EVERY_NODE_BELOW = ("qos_overrides.",)
_NUMBERS_BY_BODY = (
    "skin.scales.",
    "skin.stiffness.",
    "skin.thickness.",
    "skin.poisson_ratio.",
    "skin.sensor_depth.",
)
"""Prefixes of the entries of tables with a number for each body."""
_RENAMED = {"gains": "control"}
"""Current names of keys that were renamed, keyed by their earlier names, to suggest in error messages."""
_KNOWN = [*KEYS, *TABLES, *RECORDS]
_GROUPS = list(dict.fromkeys(name.partition(".")[0] for name in _KNOWN if "." in name))
_FIRST_LEVELS = list(dict.fromkeys(name.partition(".")[0] for name in _KNOWN))
_LEAVES = {name.rpartition(".")[2]: name for name in reversed(_KNOWN)}
"""Full name of the first key with each last level, to suggest for a key at another level."""
Errors = list[tuple[str, ConfigError]]
"""Full key and error of each invalid value."""


def from_mapping(
    mapping: Mapping[str, Any], base: Path | None = None, source: str = "configuration"
) -> Settings:
    """Validate a mapping and convert it to settings."""
    settings, errors = checked_mapping(mapping, base, source)
    ErrorList(error for _, error in errors).check()
    return settings


def checked_mapping(mapping: Mapping[str, Any], base: Path | None, source: str) -> tuple[Settings, Errors]:
    """Convert the valid values of a mapping to settings, and list the errors of the others.

    Instead of invalid values, the settings have the defaults, or infinity in tables with a number for each
    body. An invalid structure or engine raises a ConfigError. The arguments are those of `from_mapping`.
    """
    if not isinstance(base, Path | None):
        raise ConfigError(f"base: must be a pathlib.Path or None, got {base!r}")
    _check_levels(mapping, source)
    pairs = list(_flatten(mapping, source))
    named, _ = _checked([pair for pair in pairs if pair[0] == "engine"], source)
    engine = named.get("engine", KEYS["engine"].default)
    with located(f"{source}: engine"):
        plugin, own = engine_plugin(engine), engine_keys(engine)
    values, errors = _checked(pairs, source, own, engine)

    def refuse(key: str, fault: str) -> None:
        errors.append((key, ConfigError(f"{source}: {key}: {fault}")))

    wrong = {name.partition(".")[0] for name, _ in errors}
    options, engine_scene = None, False
    if engine not in wrong:
        options = _engine_settings(plugin.Settings, engine, values) if plugin.Settings else None
        scene = plugin.scene_name(options)
        if scene is not None and "scene" in values:
            refuse(
                "scene", f"the engine {engine} provides its own; leave the key out, or choose another engine"
            )
        elif scene is not None:
            values["scene"], engine_scene = scene, True
    given = {name.partition(".")[0] for name in values if values[name] is not False} | wrong
    if parts := sorted(given & _PARTS):
        if values.get("scene") is not None and engine_scene:
            refuse(parts[0], f"cannot be added to the scene of the engine {engine}; leave the key out")
        else:
            values.setdefault("scene", "")
    for table, fault_of in FAULTS.items():
        invalid = [name for name, _ in errors if name.startswith(f"{table}.")]
        for name, entry in _records(table, values).items():
            key = f"{table}.{name}"
            if not any(other.startswith(f"{key}.") for other in invalid) and (fault := fault_of(entry)):
                refuse(key, fault)
    for name in sorted(TABLES.keys() & values.keys()):
        if rival := next((key for key in values if key.startswith(f"{name}.")), None):
            refuse(name, f"must be one value or a table, got both: also {rival!r}; remove one")
    keys_of_engines = any(has_engine(name) for name in wrong)
    if "scene" not in values and not (keys_of_engines or wrong & {"scene", "engine"}):
        remedy = "name an MJCF or URDF file, such as 'scene: touch_cube.xml', or add robots or objects"
        errors.append(("scene", ConfigError(f"{source}: the key 'scene' is missing; {remedy}")))
    values |= {name: math.inf for name, _ in errors if name.startswith(_NUMBERS_BY_BODY)}
    return _build(Settings, "", values, base=base, source=source, engine_settings=options), errors


def _engine_settings(type_: Any, engine: str, values: Mapping[str, Any]) -> Any:
    """Build the settings of an engine. Their field ``seed``, if there is one, has the value of the key."""
    has_seed = any(entry.name == "seed" for entry in dataclasses.fields(type_))
    known = {"seed": values.get("seed", KEYS["seed"].default)} if has_seed else {}
    return _build(type_, f"{engine}.", values, **known)


def _check_levels(mapping: Mapping[str, Any], source: str) -> None:
    """Raise ConfigError if a mapping has the two outer levels of a parameter file."""
    if not isinstance(mapping, Mapping):
        raise ConfigError(f"{source}: the configuration must be a mapping, got {shown(mapping)}")
    for key, value in [("", mapping), *mapping.items()]:
        if isinstance(value, Mapping) and NODE_LEVEL in value:
            levels = "".join(f"[{level!r}]" for level in (key, NODE_LEVEL) if level)
            raise ConfigError(
                f"{source}: must be the mapping below '{NODE_LEVEL}', got the levels of a parameter file;"
                f" pass mapping{levels}, or the path of the file"
            )


def _flatten(mapping: Mapping[str, Any], source: str, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in mapping.items():
        if not isinstance(key, str):
            raise ConfigError(
                f"{source}: {prefix}{key}: a key must be text, got {shown(key)}; put it in quotes"
            )
        try:
            check_characters(key)
        except ValueError as error:
            raise ConfigError(f"{source}: {prefix}{key}: a key {error}") from None
        if isinstance(value, Mapping):
            yield from _flatten(value, source, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _checked(
    pairs: Iterable[tuple[str, Any]],
    source: str,
    own: Mapping[str, Key] = MappingProxyType({}),
    engine: str = "",
) -> tuple[dict[str, Any], Errors]:
    """Check keys and values; return the valid values, keyed by full name, and the errors of the others.

    ``own`` contains the keys that the engine adds, keyed by full name.
    """
    values: dict[str, Any] = {}
    errors: Errors = []
    for name, value in pairs:
        if name in _OF_EVERY_NODE or name.startswith(_OF_EVERY_NODE_BELOW):
            continue
        try:
            value = None if isinstance(value, str) and value in _NULLS else value
            check = own[name].check if name in own else _check_of(name, value, own, engine)
            if value is None and name.startswith("skin.sensor.") and name.endswith(f".{ENABLED}"):
                raise ValueError("must be true or false, got null; remove the key")
            if value is not None:
                values[name] = check(value)
            elif name.startswith("skin.scales."):
                values[name] = None
        except ConfigError as error:
            message, *near = error.args
            errors.append((name, ConfigError(f"{source}: {message}", *near)))
        except ValueError as error:
            errors.append((name, ConfigError(f"{source}: {name}: {error}")))
    return values, errors


def _check_of(name: str, value: Any, own: Mapping[str, Key], engine: str) -> Check:
    """Return the check for the value of a key that was not added by the engine, or raise a ConfigError."""
    if name in KEYS:
        return KEYS[name].check
    for table, check in TABLES.items():
        if name.startswith(table + "."):
            return check
    for record, checks in RECORDS.items():
        if name.startswith(record + "."):
            return _check_in(record, checks, name, value)
    if name in [*TABLES, *RECORDS, *_GROUPS] or (own and name == engine):
        raise ConfigError(f"{name}: must have keys below it, got {shown(value)}")
    group = name.partition(".")[0]
    if group not in (name, engine, *_GROUPS) and has_engine(group):
        raise ConfigError(
            f"{name}: belongs to the engine {group!r}, but the engine is {engine!r};"
            f" set 'engine: {group}' or leave the key out"
        )
    if "." in name and (plain := next((key for key in [*KEYS, *own] if name.startswith(key + ".")), None)):
        raise ConfigError(f"{plain}: takes one value, but has keys below it: {name!r}")
    unknown = f"unknown key {name!r}"
    if group in _RENAMED:
        raise ConfigError(f"{unknown}; it is now {_RENAMED[group]!r}")
    if group in _GROUPS or (own and group == engine):
        siblings = [key for key in [*_KNOWN, *own] if key.startswith(group + ".")]
        raise ConfigError(unknown, near=(name, siblings))
    leaves = _LEAVES | {key.rpartition(".")[2]: key for key in own} if own else _LEAVES
    if elsewhere := leaves.get(name) or leaves.get(group):
        raise ConfigError(f"{unknown}; did you mean {elsewhere!r}?")
    raise ConfigError(unknown, near=(group, [*_FIRST_LEVELS, engine] if own else _FIRST_LEVELS))


def _check_in(record: str, checks: Mapping[str, Check], name: str, value: Any) -> Check:
    """Return the check for the value of a key in a table of groups, or raise a ConfigError."""
    entry, key = split_key(name.removeprefix(record + "."), checks)
    if entry and key in checks:
        return checks[key]
    stages: dict[str, list[str]] = {}
    for leaf in checks:
        stage, _, parameter = leaf.partition(".")
        stages.setdefault(stage, []).append(parameter)
    last = name.rpartition(".")[2]
    needs = stages.get(last, []) or (list(stages) if name == f"{record}.{last}" else [])
    if any(needs):
        keys = " and ".join(needs) if len(needs) < 3 else f"keys such as {', '.join(needs)}"
        raise ConfigError(f"{name}: must have {keys} below it, got {shown(value)}")
    stage, _, parameter = key.partition(".") if entry else (last, "", "")
    valid: Collection[str] = stages.get(stage, stages)
    raise ConfigError(f"unknown key {name!r}", near=(parameter if stage in stages else stage, valid))


def split_key(name: str, checks: Mapping[str, Check]) -> tuple[str, str]:
    """Split a key below the name of a table of groups into the user-defined name and the group's key.

    The group's key has one or two levels. The user-defined name may contain dots.
    """
    levels = sorted({key.count(".") + 1 for key in checks}, reverse=True)
    splits = [(level, name.rsplit(".", level)) for level in levels]
    complete = [(parts[0], ".".join(parts[1:])) for level, parts in splits if len(parts) > level]
    groups = {key.partition(".")[0] for key in checks if "." in key}
    known = [entry for entry in complete if entry[1] in checks]
    near = [entry for entry in complete if entry[1].partition(".")[0] in groups]
    return (known or near or complete[::-1] or [("", name)])[0]


def _build(type_: Any, prefix: str, values: Mapping[str, Any], **known: Any) -> Any:
    """Build a settings dataclass, including nested ones, from validated values keyed by full name.

    ``known`` contains the values of fields that are not configuration keys.
    """
    for entry in dataclasses.fields(type_):
        name = prefix + entry.name
        if dataclasses.is_dataclass(entry.default_factory):
            known[entry.name] = _build(entry.default_factory, name + ".", values)
        elif name in RECORDS:
            known[entry.name] = _records(name, values)
        elif name in values:
            known[entry.name] = values[name]
        elif name in TABLES:
            start = len(name) + 1
            below = {key[start:]: value for key, value in values.items() if key.startswith(name + ".")}
            if below or name not in KEYS:
                known[entry.name] = below
    return type_(**known)


def _records(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the groups of a table, such as ``robots``, from validated values keyed by full name."""
    table: dict[str, Any] = {}
    for key, value in values.items():
        if not key.startswith(name + "."):
            continue
        user, leaf = split_key(key.removeprefix(name + "."), RECORDS[name])
        *groups, last = leaf.split(".")
        group = table.setdefault(user, {})
        for part in groups:
            group = group.setdefault(part, {})
        group[last] = value
    return table

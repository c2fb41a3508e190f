"""Convert a mapping to validated :class:`Settings`.

Internally, a configuration is flat (``{"skin.scales.left.palm": 0.02}``), as ROS parameters are. Body names
can contain dots, because everything after the name of a table such as ``skin.scales`` belongs to the body
name.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tactile_sim.config.cameras import fault_of_camera
from tactile_sim.config.engine_keys import engine_keys
from tactile_sim.config.grippers import fault_of_gripper
from tactile_sim.config.keys import Key
from tactile_sim.config.known_keys import check_of, split_key
from tactile_sim.config.parameter_file import NODE_LEVEL
from tactile_sim.config.scene_keys import fault_of_object, fault_of_robot
from tactile_sim.config.settings import KEYS, RECORDS, TABLES, Settings
from tactile_sim.errors import ConfigError, ErrorList, located
from tactile_sim.registry import engine_plugin, has_engine
from tactile_sim.schema import check_characters, shown
from tactile_sim.signal_chain.stage import ENABLED

_NULLS = ("null", "Null", "NULL", "~")
"""Strings that mean null. rcl has no null, so it passes a plain ``null`` to the node as a string."""
_PARTS = {"robots", "objects", "ground"}
"""Keys that add elements to a scene."""
_FAULTS = {
    "robots": fault_of_robot,
    "objects": fault_of_object,
    "grippers": fault_of_gripper,
    "cameras": fault_of_camera,
}
"""For each table, a function that returns an error message if a group is incomplete or inconsistent."""
_OF_EVERY_NODE = ("use_sim_time", "start_type_description_service")
_OF_EVERY_NODE_BELOW = ("qos_overrides.",)
_NUMBERS_BY_BODY = ("skin.scales.", "skin.stiffness.", "skin.thickness.")
"""Prefixes of the entries of tables with a number for each body."""


def from_mapping(
    mapping: Mapping[str, Any], base: Path | None = None, source: str = "configuration"
) -> Settings:
    """Validate a mapping and convert it to settings.

    Args:
        mapping: Content below ``ros__parameters``, nested or with dotted keys. The values None and ``"null"``
            select the default. In ``skin.scales``, they exclude the body.
        base: Folder to which relative paths refer, or None.
        source: Name of the mapping in error messages, usually the file.

    Raises:
        ConfigError: A key or value is invalid. The message contains the key, the value and the nearest valid
            name.
        ConfigErrors: Several keys or values are invalid.
    """
    settings, errors = checked_mapping(mapping, base, source)
    ErrorList(error for _, error in errors).check()
    return settings


def checked_mapping(
    mapping: Mapping[str, Any], base: Path | None = None, source: str = "configuration"
) -> tuple[Settings, list[tuple[str, ConfigError]]]:
    """Convert the valid values of a mapping to settings, and list the errors of the others.

    Args:
        mapping: As in `from_mapping`.
        base: As in `from_mapping`.
        source: As in `from_mapping`.

    Returns:
        The settings and a (full key, error) pair for each error. Instead of invalid values, the settings have
        the defaults, or infinity in ``skin.scales``, ``skin.stiffness`` and ``skin.thickness``.

    Raises:
        ConfigError: The structure of the mapping or the engine is invalid.
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
    wrong = {name.partition(".")[0] for name, _ in errors}
    options, engine_scene = None, False
    if engine not in wrong:
        options = _engine_settings(plugin.Settings, engine, values) if plugin.Settings else None
        scene = plugin.scene_name(options)
        if scene is not None and "scene" in values:
            fault = f"the engine {engine} provides its own; leave the key out, or choose another engine"
            errors.append(("scene", ConfigError(f"{source}: scene: {fault}")))
        elif scene is not None:
            values["scene"], engine_scene = scene, True
    given = {name.partition(".")[0] for name in values if values[name] is not False} | wrong
    parts = sorted(given & _PARTS)
    if parts and values.get("scene") is not None and engine_scene:
        fault = f"cannot be added to the scene of the engine {engine}; leave the key out"
        errors.append((parts[0], ConfigError(f"{source}: {parts[0]}: {fault}")))
    elif parts:
        values.setdefault("scene", "")
    errors += _faults_of_groups(values, source, [name for name, _ in errors])
    for name in sorted(TABLES.keys() & values.keys()):
        rival = next((key for key in values if key.startswith(f"{name}.")), None)
        if rival:
            fault = f"must be one value or a table, got both: also {rival!r}; remove one"
            errors.append((name, ConfigError(f"{source}: {name}: {fault}")))
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


def _faults_of_groups(
    values: Mapping[str, Any], source: str, wrong: Sequence[str]
) -> list[tuple[str, ConfigError]]:
    """Return an error for each group whose keys are individually valid, but incomplete or inconsistent.

    Args:
        values: Valid values, keyed by full name.
        source: Name of the configuration in error messages.
        wrong: Full names of invalid keys. Groups that contain one of them are skipped.

    Returns:
        Pairs of a group's key, such as ``robots.NAME``, and its error.
    """
    errors = []
    for table, fault_of in _FAULTS.items():
        for name, entry in _records(table, values).items():
            key = f"{table}.{name}"
            if not any(other.startswith(f"{key}.") for other in wrong) and (fault := fault_of(entry)):
                errors.append((key, ConfigError(f"{source}: {key}: {fault}")))
    return errors


def _check_levels(mapping: Mapping[str, Any], source: str) -> None:
    """Raise ConfigError if a mapping has the two outer levels of a parameter file."""
    if not isinstance(mapping, Mapping):
        return
    for key, value in [("", mapping), *mapping.items()]:
        if isinstance(value, Mapping) and NODE_LEVEL in value:
            levels = "".join(f"[{level!r}]" for level in (key, NODE_LEVEL) if level)
            raise ConfigError(
                f"{source}: must be the mapping below '{NODE_LEVEL}', got the levels of a parameter file;"
                f" pass mapping{levels}, or the path of the file"
            )


def _checked(
    pairs: Iterable[tuple[str, Any]],
    source: str,
    own: Mapping[str, Key] = MappingProxyType({}),
    engine: str = "",
) -> tuple[dict[str, Any], list[tuple[str, ConfigError]]]:
    """Check keys and their values.

    Args:
        pairs: Full name and value of each key.
        source: Name of the configuration in error messages.
        own: Keys that the engine adds, keyed by full name.
        engine: Name of the engine, for error messages.

    Returns:
        The valid values, keyed by full name, and a list with the full name and the error of each invalid key.
    """
    values: dict[str, Any] = {}
    errors: list[tuple[str, ConfigError]] = []
    for name, value in pairs:
        if name in _OF_EVERY_NODE or name.startswith(_OF_EVERY_NODE_BELOW):
            continue
        try:
            value = None if isinstance(value, str) and value in _NULLS else value
            check = own[name].check if name in own else check_of(name, value, source, own, engine)
            if value is None and name.startswith("skin.sensor.") and name.endswith(f".{ENABLED}"):
                raise ValueError("must be true or false, got null; remove the key")
            if value is not None:
                values[name] = check(value)
            elif name.startswith("skin.scales."):
                values[name] = None
        except ConfigError as error:
            errors.append((name, error))
        except ValueError as error:
            errors.append((name, ConfigError(f"{source}: {name}: {error}")))
    return values, errors


def _flatten(mapping: Mapping[str, Any], source: str, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(mapping, Mapping):
        raise ConfigError(f"{source}: the configuration must be a mapping, got {shown(mapping)}")
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


def _build(type_: Any, prefix: str, values: Mapping[str, Any], **known: Any) -> Any:
    """Build a settings dataclass, including nested ones, from validated values.

    Args:
        type_: Settings dataclass to build.
        prefix: Prefix of the dataclass's keys, such as ``skin.``.
        values: Validated values, keyed by full name.
        **known: Values of fields that are not configuration keys.
    """
    for entry in dataclasses.fields(type_):
        name = prefix + entry.name
        below = {key[len(name) + 1 :]: value for key, value in values.items() if key.startswith(name + ".")}
        if dataclasses.is_dataclass(entry.default_factory):
            known[entry.name] = _build(entry.default_factory, name + ".", values)
        elif name in TABLES and name not in values and (below or name not in KEYS):
            known[entry.name] = below
        elif name in RECORDS:
            known[entry.name] = _records(name, values)
        elif name in values:
            known[entry.name] = values[name]
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

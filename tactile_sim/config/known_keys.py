"""Find the check for a configuration key, and suggest the nearest valid key for an unknown one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tactile_sim.config.keys import Key
from tactile_sim.config.settings import KEYS, RECORDS, TABLES
from tactile_sim.errors import ConfigError
from tactile_sim.registry import has_engine
from tactile_sim.schema import Check, shown

_RENAMED = {"gains": "control"}
"""Current names of keys that were renamed, keyed by their earlier names, to suggest in error messages."""
_GROUPS = list(dict.fromkeys(name.partition(".")[0] for name in [*KEYS, *TABLES, *RECORDS] if "." in name))


def check_of(name: str, value: Any, source: str, own: Mapping[str, Key], engine: str) -> Check:
    """Return the check for the value of a key that was not added by the engine.

    Raises:
        ConfigError: The key is unknown.
    """
    if name in KEYS:
        return KEYS[name].check
    for table, check in TABLES.items():
        if name.startswith(table + "."):
            return check
    for record, checks in RECORDS.items():
        if name.startswith(record + "."):
            return _check_in(record, checks, name, value, source)
    if name in [*TABLES, *RECORDS, *_GROUPS] or (own and name == engine):
        raise ConfigError(f"{source}: {name}: must have keys below it, got {shown(value)}")
    group = name.partition(".")[0]
    if group != name and group != engine and group not in _GROUPS and has_engine(group):
        raise ConfigError(
            f"{source}: {name}: belongs to the engine {group!r}, but the engine is {engine!r};"
            f" set 'engine: {group}' or leave the key out"
        )
    plain = next((key for key in [*KEYS, *own] if name.startswith(key + ".")), None)
    if plain:
        raise ConfigError(f"{source}: {plain}: takes one value, but has keys below it: {name!r}")
    known = [*KEYS, *TABLES, *RECORDS, *own]
    unknown = f"{source}: unknown key {name!r}"
    if group in _RENAMED:
        raise ConfigError(f"{unknown}; it is now {_RENAMED[group]!r}")
    if siblings := [key for key in known if key.startswith(group + ".")]:
        raise ConfigError(unknown, near=(name, siblings))
    if elsewhere := next((key for key in known if key.rpartition(".")[2] in (name, group)), None):
        raise ConfigError(f"{unknown}; did you mean {elsewhere!r}?")
    raise ConfigError(unknown, near=(group, list(dict.fromkeys(key.partition(".")[0] for key in known))))


def _check_in(record: str, checks: Mapping[str, Check], name: str, value: Any, source: str) -> Check:
    """Return the check for the value of a key in a table of groups.

    Args:
        record: Name of the table, such as ``robots``.
        checks: Check for each key of a group, by key name.
        name: Full name of the key, such as ``robots.arm.file``.
        value: Value of the key, for error messages.
        source: Name of the configuration in error messages.

    Raises:
        ConfigError: The key is unknown, or requires keys below it.
    """
    entry, key = split_key(name.removeprefix(record + "."), checks)
    if entry and key in checks:
        return checks[key]
    stages: dict[str, list[str]] = {}
    for leaf in checks:
        stage, _, parameter = leaf.partition(".")
        stages.setdefault(stage, []).append(parameter)
    last = name.rpartition(".")[2]
    needs = stages.get(last, [])
    if not needs and name == f"{record}.{last}":
        needs = list(stages)
    if needs:
        keys = " and ".join(needs) if len(needs) < 3 else f"keys such as {', '.join(needs)}"
        raise ConfigError(f"{source}: {name}: must have {keys} below it, got {shown(value)}")
    stage, _, parameter = key.partition(".") if entry else (last, "", "")
    nearest = (parameter, stages[stage]) if stage in stages else (stage, stages)
    raise ConfigError(f"{source}: unknown key {name!r}", near=nearest)


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

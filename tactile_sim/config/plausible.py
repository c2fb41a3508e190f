"""Warn of values that are valid but implausible."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any

from tactile_sim.config.settings import RECORDS, TABLES, Settings
from tactile_sim.schema import implausible


def implausible_values(settings: Settings) -> Iterator[str]:
    """Yield a line for each value outside of the usual range that the declaration of its key states."""
    for name, check, value in _values(settings):
        if value is not None and (reason := implausible(check, value)):
            yield f"{name}: {reason}"


def _values(settings: Settings) -> Iterator[tuple[str, Any, Any]]:
    """Yield the full name, the check and the value of each key."""
    keys = settings.keys
    for name, value in settings.parameters().items():
        yield name, keys[name].check, value
    for table, check in TABLES.items():
        values = operator.attrgetter(table)(settings)
        if isinstance(values, Mapping):
            yield from ((f"{table}.{name}", check, value) for name, value in values.items())
    for record, checks in RECORDS.items():
        for name, group in operator.attrgetter(record)(settings).items():
            for key, value in _leaves(group):
                yield f"{record}.{name}.{key}", checks[key], value


def _leaves(group: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in group.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{leaf}", inner) for leaf, inner in value.items())
        else:
            yield key, value

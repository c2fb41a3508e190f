"""Declare configuration keys as fields of frozen dataclasses: plain keys, tables and groups of keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tactile_sim.schema import Check


@dataclass(frozen=True)
class Key:
    """Declaration of a plain configuration key, which has a fixed name."""

    name: str
    """Full name, such as ``rates.tactile``."""
    default: Any
    """Default value, or None if there is none."""
    check: Check
    doc: str
    live: bool
    """True if the key can be changed while the simulation runs."""


def key(default: Any, check: Check, doc: str, live: bool = False) -> Any:
    """Create the dataclass field of a plain key.

    Args:
        default: Default value.
        check: Function that checks and converts a value.
        doc: Description that users see, without a final period.
        live: Whether the key can be changed while the simulation runs.
    """
    return dataclasses.field(default=default, metadata={"check": check, "doc": doc, "live": live})


def key_or_table(default: Any, check: Check, doc: str) -> Any:
    """Create the dataclass field of a key that has either one value or a table with user-defined keys."""
    return dataclasses.field(
        default=default, metadata={"check": check, "doc": doc, "live": False, "table": check}
    )


def table(check: Check) -> Any:
    """Create the dataclass field of a table with user-defined keys, each with one value."""
    return dataclasses.field(default_factory=dict, metadata={"table": check})


def records(**checks: Check) -> Any:
    """Create the dataclass field of a table with user-defined keys, each with a group of keys.

    The keys in a group have one level (``kp``) or two (``noise.std``).
    """
    return dataclasses.field(default_factory=dict, metadata={"record": checks})


def fields(settings: type, prefix: str = "") -> Iterator[tuple[str, dataclasses.Field]]:
    """Yield the full names and fields of a settings dataclass, including nested ones."""
    for entry in dataclasses.fields(settings):
        if dataclasses.is_dataclass(entry.default_factory):
            yield from fields(entry.default_factory, f"{prefix}{entry.name}.")
        elif entry.metadata:
            yield prefix + entry.name, entry


def plain_keys(settings: type, prefix: str = "") -> dict[str, Key]:
    """Return the plain keys of a settings dataclass, keyed by full name (prefix and field names)."""
    return {
        name: Key(name, entry.default, *(entry.metadata[part] for part in ("check", "doc", "live")))
        for name, entry in fields(settings, prefix)
        if "check" in entry.metadata
    }

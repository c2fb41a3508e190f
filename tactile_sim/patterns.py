"""Assignment of table keys, which are names or shell patterns, to the elements of a scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from tactile_sim.errors import ConfigError, ErrorList


def match(
    table: Mapping[str, Any],
    names: Sequence[str],
    where: str,
    kind: str,
    candidates: Sequence[str] | None = None,
) -> dict[str, str]:
    """Find the table key that applies to each element, and return the keys by element name.

    Exact names take precedence over patterns, and patterns with more literal characters over patterns with
    fewer. Elements to which no key applies are not in the result.
    """
    errors = ErrorList()
    candidates = names if candidates is None else candidates
    chosen: dict[str, str] = {}
    known = set(names)
    patterns = sorted(
        (entry for entry in table if entry not in known), key=lambda entry: (_literals(entry), entry)
    )
    for pattern in patterns:
        is_pattern = _is_pattern(pattern)
        matches = [name for name in candidates if fnmatchcase(name, pattern)] if is_pattern else []
        if not matches:
            what = f"no {kind} matches the pattern" if is_pattern else f"the scene has no {kind} named"
            errors.add(ConfigError(f"{where}.{pattern}: {what} {pattern!r}", near=(pattern, candidates)))
        for name in matches:
            rival = chosen.get(name, pattern)
            differ = table[rival] != table[pattern] and _literals(rival) == _literals(pattern)
            if differ and name not in table:
                errors.add(
                    ConfigError(
                        f"{where}: the patterns {rival!r} and {pattern!r} have different values for the"
                        f" {kind} {name!r}; add its exact name"
                    )
                )
                break
            chosen[name] = pattern
    errors.check()
    return chosen | {entry: entry for entry in table if entry in known}


def _is_pattern(entry: str) -> bool:
    return any(character in entry for character in "*?[")


def _literals(pattern: str) -> int:
    """Return the number of literal characters in a shell pattern."""
    literals, in_set = 0, False
    for character in pattern:
        in_set = character == "[" or (in_set and character != "]")
        literals += not in_set and character not in "*?]"
    return literals

"""Tables by name or shell pattern, matched against what the scene has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from tactile_sim.errors import ConfigError, suggest


def match(
    table: Mapping[str, Any],
    names: Sequence[str],
    where: str,
    kind: str,
    candidates: Sequence[str] | None = None,
) -> dict[str, str]:
    """Which entry of a table speaks for which thing: the thing's name -> the entry's.

    An exact name wins over patterns; of two patterns, the one with more characters that stand for themselves.

    Args:
        table: entries by name or shell pattern (``finger_*``), case-sensitive.
        names: all things there are.
        where: how errors call the table: file and key.
        kind: what the things are: ``body``, ``joint``.
        candidates: the things that patterns may mean; all of them by default.

    Raises:
        ConfigError: an entry speaks for nothing, or two equally narrow patterns differ about a thing.
    """
    candidates = names if candidates is None else candidates
    chosen: dict[str, str] = {}
    known = set(names)
    patterns = sorted(
        (entry for entry in table if entry not in known), key=lambda entry: (_literals(entry), entry)
    )
    for pattern in patterns:
        matches = [name for name in candidates if fnmatchcase(name, pattern)]
        if not matches:
            what = (
                f"no {kind} matches the pattern" if _is_pattern(pattern) else f"the scene has no {kind} named"
            )
            raise ConfigError(f"{where}.{pattern}: {what} {pattern!r}{suggest(pattern, candidates)}")
        for name in matches:
            rival = chosen.get(name, pattern)
            differ = table[rival] != table[pattern] and _literals(rival) == _literals(pattern)
            if differ and name not in table:
                raise ConfigError(
                    f"{where}: the patterns {rival!r} and {pattern!r} differ about the {kind} {name!r};"
                    " add its exact name"
                )
            chosen[name] = pattern
    return chosen | {entry: entry for entry in table if entry in known}


def _is_pattern(entry: str) -> bool:
    return any(character in entry for character in "*?[")


def _literals(pattern: str) -> int:
    """How many characters of a shell pattern stand for themselves."""
    literals, in_set = 0, False
    for character in pattern:
        in_set = character == "[" or (in_set and character != "]")
        literals += not in_set and character not in "*?]"
    return literals

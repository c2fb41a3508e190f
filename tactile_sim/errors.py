"""All errors a user can meet. One base, so that ``except TactileSimError`` catches them all."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

LONGEST_VALUE = 200
"""Longest name or value that a message repeats [characters]."""
LONGEST_MESSAGE = 1000
"""Longest message [characters]."""
MOST_ERRORS = 20
"""Largest number of errors of a configuration that are listed."""
_LONG_VALUES = re.compile(
    rf"'[^']{{{LONGEST_VALUE - 1},}}'|\"[^\"]{{{LONGEST_VALUE - 1},}}\"|\S{{{LONGEST_VALUE + 1},}}"
)


def readable(text: str) -> str:
    """Return the text as one printable line of limited length.

    Control characters are escaped; long words, long quoted values and long texts are cut in the middle.
    """
    text = text[: 100 * LONGEST_MESSAGE] + text[100 * LONGEST_MESSAGE :][-LONGEST_MESSAGE:]
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return _cut(_LONG_VALUES.sub(lambda found: _cut(found[0], LONGEST_VALUE), text), LONGEST_MESSAGE)


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    tail = longest // 3
    return f"{text[: longest - tail - 3]}...{text[-tail:]}"


class TactileSimError(Exception):
    """Base of all errors of this package.

    The text names the thing, the place and the remedy, in one line. See `readable` for what it repeats of
    names and values.
    """

    def __str__(self) -> str:
        return readable(super().__str__())


class ConfigError(TactileSimError):
    """The configuration cannot be used."""


class ConfigErrors(ConfigError):
    """Several things that are wrong with a configuration, one a line."""

    def __init__(self, errors: Sequence[ConfigError]) -> None:
        super().__init__()
        self.errors = tuple(errors)

    def __str__(self) -> str:
        lines = [str(error) for error in self.errors[:MOST_ERRORS]]
        more = len(self.errors) - len(lines)
        return "\n".join([*lines, f"... and {more} more errors"] if more else lines)


class SceneError(TactileSimError):
    """The scene cannot be loaded, or lacks a thing it was asked for."""


class EngineError(TactileSimError):
    """The physics engine refused or broke."""


class PhysicsError(EngineError):
    """The physics became unstable: positions, velocities or accelerations are not finite."""


class CommandError(TactileSimError):
    """A command or service request cannot be carried out."""


class BagError(TactileSimError):
    """A bag cannot be read or written."""


def suggest(name: object, valid: Iterable[str], limit: int = 8) -> str:
    """Return the end of an error about an unknown name: the nearest valid name, or a list of them.

    Examples are ``"; did you mean 'cube'?"`` and ``"; there are: a, b, c"``.
    """
    names = sorted(valid)
    near = difflib.get_close_matches(str(name), names, n=1) if len(str(name)) <= LONGEST_VALUE else []
    if near:
        return f"; did you mean {near[0]!r}?"
    if not names:
        return "; there are none"
    more = f", ... ({len(names)} in all)" if len(names) > limit else ""
    return f"; there are: {', '.join(names[:limit])}{more}"


@contextmanager
def located(where: str) -> Iterator[None]:
    """Puts the place in front of errors from inside: they know the thing, but not who asked for it."""
    try:
        yield
    except (EngineError, SceneError) as error:
        raise type(error)(f"{where}: {error}") from None

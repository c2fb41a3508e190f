"""Exceptions for users of this package. ``except TactileSimError`` catches all of them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

LONGEST_VALUE = 200
"""Maximum length of a name or value in a message [characters]."""
LONGEST_MESSAGE = 1000
"""Maximum length of a message [characters]."""
MOST_ERRORS = 20
"""Maximum number of errors to list for one configuration."""
_LONG_VALUES = re.compile(
    rf"'[^']{{{LONGEST_VALUE - 1},}}'|\"[^\"]{{{LONGEST_VALUE - 1},}}\"|\S{{{LONGEST_VALUE + 1},}}"
)


def readable(text: str) -> str:
    """Convert text to one printable line of limited length.

    Control characters are escaped. Long words, quoted values and lines are shortened in the middle.
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
    """Base class of all exceptions of this package.

    The message is one line with the key or file, the invalid value and the remedy. Long names and values are
    shortened; see `readable`.
    """

    def __init__(self, message: str = "", near: tuple[object, Collection[str]] | None = None) -> None:
        super().__init__(message, *([near] if near else []))

    def __str__(self) -> str:
        message, *near = self.args
        return readable(f"{message}{''.join(suggest(*each) for each in near)}")


class ConfigError(TactileSimError):
    """The configuration is invalid."""


class ConfigErrors(ConfigError):
    """A configuration has several errors. The message lists one per line."""

    def __init__(self, errors: Sequence[TactileSimError]) -> None:
        super().__init__()
        self.errors = tuple(errors)

    def __str__(self) -> str:
        lines = [str(error) for error in self.errors[:MOST_ERRORS]]
        more = len(self.errors) - len(lines)
        return "\n".join([*lines, f"... and {more} more errors"] if more else lines)


class SceneError(TactileSimError):
    """The scene cannot be loaded or lacks a requested element."""


class EngineError(TactileSimError):
    """The physics engine rejected its input or failed."""


class PhysicsError(EngineError):
    """The physics became unstable: positions, velocities or accelerations are too large or not finite."""


class CommandError(TactileSimError):
    """A command or service request cannot be carried out."""


class BagError(TactileSimError):
    """A bag cannot be read or written."""


def suggest(name: object, valid: Iterable[str], limit: int = 8) -> str:
    """Return the end of an error message about an unknown name, such as ``"; did you mean 'cube'?"``."""
    names = sorted(valid)
    near = difflib.get_close_matches(str(name), names, n=1) if len(str(name)) <= LONGEST_VALUE else []
    if near:
        return f"; did you mean {near[0]!r}?"
    if not names:
        return "; there are none"
    more = f", ... ({len(names)} in total)" if len(names) > limit else ""
    return f"; there are: {', '.join(names[:limit])}{more}"


class ErrorList:
    """The errors of several independent checks, which are reported together."""

    def __init__(self, errors: Iterable[TactileSimError] = ()) -> None:
        self.errors = list(errors)
        self._messages = {error.args[0] for error in self.errors}

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Store a TactileSimError that is raised in the block, and continue after the block."""
        try:
            yield
        except TactileSimError as error:
            self.add(error)

    def add(self, error: TactileSimError) -> None:
        """Store an error, or all errors of a ConfigErrors, except those with the message of another one."""
        for each in error.errors if isinstance(error, ConfigErrors) else [error]:
            if each.args[0] not in self._messages:
                self._messages.add(each.args[0])
                self.errors.append(each)

    def check(self) -> None:
        """Raise the error if there is one, or ConfigErrors if there are several."""
        if self.errors:
            raise self.errors[0] if len(self.errors) == 1 else ConfigErrors(self.errors)


@contextmanager
def located(where: str) -> Iterator[None]:
    """Prepend a location to the messages of SceneErrors and EngineErrors raised in the block."""
    try:
        yield
    except (EngineError, SceneError) as error:
        raise type(error)(f"{where}: {error}") from None

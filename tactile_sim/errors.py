"""All errors a user can meet. One base, so that ``except TactileSimError`` catches them all."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class TactileSimError(Exception):
    """Base of all errors of this package. Its text names the thing, the place and the remedy."""


class ConfigError(TactileSimError):
    """The configuration cannot be used."""


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
    """The end of an error about an unknown name: the nearest valid one, or what there is.

    Returns text such as ``"; did you mean 'cube'?"`` or ``"; there are: a, b, c"``.
    """
    names = sorted(valid)
    near = difflib.get_close_matches(str(name), names, n=1)
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

"""Objects that one thread at a time may use, and quantities of one state of such an object."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from tactile_sim.errors import CommandError, EngineError

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Use:
    """Context in which one thread uses an object. Entering it in another thread at the same time raises."""

    def __init__(self, name: str, forks: bool = True):
        """Create a context.

        Args:
            name: Name of the object, for error messages.
            forks: Whether a fork of this process may use the object.
        """
        lock = threading.RLock()
        self._name, self._process = name, os.getpid()
        self.begin: Callable[[], object] = self._begin if forks else self._begin_unforked
        """Enter the context."""
        self._acquire = partial(lock.acquire, False)
        self.end = lock.release
        """Leave the context."""

    def __enter__(self) -> None:
        self.begin()

    def __exit__(self, *error: object) -> None:
        self.end()

    def _begin(self) -> None:
        if not self._acquire():
            raise EngineError(
                f"{self._name}: is in use by another thread; give each thread its own, or hold a lock during"
                " each call"
            )

    def _begin_unforked(self) -> None:
        if self._process != os.getpid():
            raise EngineError(
                f"{self._name}: cannot be used after a fork, which has none of its threads; create it in this"
                " process"
            )
        self._begin()


class Exclusive(Protocol):
    """An object that one thread at a time may use."""

    use: Use

    @property
    def version(self) -> Any:
        """Value that changes whenever the state changes."""


def exclusive(method: Callable[_P, _T]) -> Callable[_P, _T]:
    """Decorate a method of an `Exclusive` object, so that it raises an error if another thread uses it."""

    @wraps(method)
    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        use = args[0].use  # type: ignore[attr-defined]
        use.begin()
        try:
            return method(*args, **kwargs)
        finally:
            use.end()

    return guarded


class Seen:
    """Base class of quantities of one state of an `Exclusive` object, which are computed on request.

    Methods of subclasses are decorated with `exclusive`, and properties with `computed`. They raise an error
    after the state has changed.
    """

    def __init__(self, owner: Exclusive):
        """Refer to the current state of an object."""
        self._owner, self._version = owner, owner.version
        self.computing = 0
        """Identifier of the thread that is computing a property, or 0."""

    @property
    def use(self) -> Seen:
        """This object as a context in which its thread uses the owner, in the same state as before."""
        return self

    def begin(self) -> None:
        """Enter the context in which this thread uses the owner."""
        owner = self._owner
        owner.use.begin()
        if self._version != owner.version:
            owner.use.end()
            raise CommandError(
                f"{type(self).__name__}: is outdated, because the state has changed; read each quantity"
                " before that, or observe again"
            )

    def end(self) -> None:
        """Leave the context."""
        self._owner.use.end()


class computed(Generic[_T]):  # noqa: N801 - used like cached_property
    """A cached property of a `Seen` object. The first access raises an error if the object is outdated."""

    def __init__(self, function: Callable[[Any], _T]):
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> _T: ...

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Self | _T:
        """Compute the value; later accesses do not call this method."""
        if instance is None:
            return self
        thread = threading.get_ident()
        if instance.computing == thread:  # for another property, which has begun the use
            value = instance.__dict__[self._name] = self.function(instance)
            return value
        instance.begin()
        instance.computing = thread
        try:
            value = instance.__dict__[self._name] = self.function(instance)
            return value
        finally:
            instance.computing = 0
            instance.end()

"""Objects that one thread at a time may use, and quantities of one state of such an object."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import get_ident
from typing import Any, Generic, NoReturn, ParamSpec, Protocol, Self, TypeVar, overload

from tactile_sim import _core
from tactile_sim.common.errors import CommandError, EngineError

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Use(_core.Turn):
    """Context in which one thread uses an object. Entering it in another thread at the same time raises."""

    def __init__(self, name: str, forks: bool = True):
        """Create a context."""
        super().__init__(forks)
        self._name = name

    def refuse(self) -> NoReturn:
        """Raise an error that says why `begin` returned False."""
        if self.forked:
            raise EngineError(
                f"{self._name}: cannot be used after a fork, which has none of its threads; create it in this"
                " process"
            )
        raise EngineError(
            f"{self._name}: is in use by another thread; give each thread its own, or hold a lock during"
            " each call"
        )

    def __enter__(self) -> None:
        if not self.begin():
            self.refuse()

    def __exit__(self, *error: object) -> None:
        self.end()


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
        if not use.begin():
            use.refuse()
        try:
            return method(*args, **kwargs)
        finally:
            use.end()

    return guarded


class Seen:
    """Base class of quantities of one state of an `Exclusive` object, which are computed on request.

    Methods of subclasses are decorated with `exclusive`, and properties with `computed`. They raise an error
    after the state has changed. As a context, it checks that once for all quantities that are read in it.
    """

    def __init__(self, owner: Exclusive):
        """Refer to the current state of an object."""
        self._owner, self._version = owner, owner.version
        self.thread = 0
        """Identifier of the thread that reads this object, or 0."""

    @property
    def use(self) -> Seen:
        """This object as a context in which its thread uses the owner, in the same state as before."""
        return self

    def begin(self) -> bool:
        """Enter the context in which this thread uses the owner."""
        owner = self._owner
        use = owner.use
        if not use.begin():
            use.refuse()
        if self._version != owner.version:
            use.end()
            raise CommandError(
                f"{type(self).__name__}: is outdated, because the state has changed; read each quantity"
                " before that, or observe again"
            )
        self.thread = get_ident()
        return True

    def end(self) -> None:
        """Leave the context."""
        self.thread = 0
        self._owner.use.end()

    def __enter__(self) -> None:
        self.begin()

    def __exit__(self, *error: object) -> None:
        self.end()


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
        if instance.thread == get_ident():  # for another property
            value = self.function(instance)
        else:
            instance.begin()
            try:
                value = self.function(instance)
            finally:
                instance.end()
        instance.__dict__[self._name] = value
        return value

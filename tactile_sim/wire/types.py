"""What a message type is made of: the one tree that encoder and decoder are compiled from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tactile_sim.errors import TactileSimError, readable


class WireError(TactileSimError):
    """A value does not fit its message type, or bytes are not a message of that type."""

    def __init__(self, reason: str, path: str = "", message_type: str = "") -> None:
        super().__init__(reason)
        self.reason, self.path, self.message_type = reason, path, message_type

    def __str__(self) -> str:
        place = ".".join(part for part in (self.message_type, self.path) if part)
        return readable(f"{place}: {self.reason}" if place else self.reason)

    def inside(self, name: str | int) -> WireError:
        """The same error, seen from the struct or sequence around it."""
        step = f"[{name}]" if isinstance(name, int) else name
        glue = "" if not self.path or self.path.startswith("[") else "."
        self.path = step + glue + self.path
        return self


def shown(value: Any) -> str:
    """A value in an error: its type and, in one short line, what it is."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    return f"{type(value).__name__} {' '.join(repr(value).split()):.60}"


class Kind:
    """What the type of a field tells encoder and decoder.

    ``uniform`` is the one primitive that all of it is made of, if it is of fixed size and there is just one
    (as in Point, Wrench, ColorRGBA): a plain row of ``width`` numbers. ``shape`` is ``(width,)``, or ``()``
    for one number.
    """

    uniform: Any = None
    width: int = 0
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Primitive(Kind):
    """A number or a boolean; ``code`` is its letter for the struct module."""

    name: str
    code: str
    dtype: np.dtype = field(init=False)

    def __post_init__(self) -> None:
        vars(self).update(dtype=np.dtype("<" + self.code), uniform=self, width=1)


@dataclass(frozen=True, eq=False)
class String(Kind):
    """UTF-8 text."""


@dataclass(frozen=True, eq=False)
class Array(Kind):
    """A fixed number of primitives."""

    element: Primitive
    length: int

    def __post_init__(self) -> None:
        vars(self).update(uniform=self.element, width=self.length, shape=(self.length,))


@dataclass(frozen=True, eq=False)
class Sequence(Kind):
    """A counted run of equal elements; ``bound`` is the largest count, if there is one."""

    element: Any
    bound: int | None = None


@dataclass(frozen=True, eq=False)
class Struct(Kind):
    """A message: names, types and default values of its fields, in their order on the wire."""

    name: str
    fields: tuple[tuple[str, Any, Any], ...]

    def __post_init__(self) -> None:
        primitives = {kind.uniform for _, kind, _ in self.fields}
        if len(primitives) == 1 and None not in primitives:
            width = sum(kind.width for _, kind, _ in self.fields)
            vars(self).update(uniform=primitives.pop(), width=width, shape=(width,))


PRIMITIVES = {
    name: Primitive(name, code)
    for name, code in {
        "boolean": "?", "octet": "B", "uint8": "B", "int8": "b", "uint16": "H", "int16": "h", "uint32": "I",
        "int32": "i", "uint64": "Q", "int64": "q", "float": "f", "double": "d",
    }.items()
}  # fmt: skip
# What ROS puts into a message without fields.
PLACEHOLDER = (("structure_needs_at_least_one_member", PRIMITIVES["uint8"], 0),)
NANOSECONDS = 1_000_000_000
TIME_TYPES = ("builtin_interfaces/msg/Time", "builtin_interfaces/msg/Duration")

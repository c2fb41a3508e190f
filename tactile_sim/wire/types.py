"""The type tree from which encoders, decoders and message templates are compiled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tactile_sim.common.errors import TactileSimError, readable


class WireError(TactileSimError):
    """Error for values that do not fit their message type, or bytes that are not a message of this type.

    Args:
        reason: Description of the error.
        path: Path of the field in the message.
        message_type: Name of the message type.
    """

    def __init__(self, reason: str, path: str = "", message_type: str = "") -> None:
        super().__init__(reason)
        self.reason, self.path, self.message_type = reason, path, message_type

    def __str__(self) -> str:
        place = ".".join(part for part in (self.message_type, self.path) if part)
        return readable(f"{place}: {self.reason}" if place else self.reason)

    def inside(self, name: str | int) -> WireError:
        """Prepend a field name, or an index in a sequence, to ``path`` and return this error."""
        step = f"[{name}]" if isinstance(name, int) else name
        glue = "" if not self.path or self.path.startswith("[") else "."
        self.path = step + glue + self.path
        return self


def shown(value: Any) -> str:
    """Describe a value's type and content in one short line for an error message."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    return f"{type(value).__name__} {' '.join(repr(value).split()):.60}"


class Kind:
    """The type of a field.

    Attributes:
        uniform: The primitive type of all values in a fixed-size field with a single primitive type, such as
            Point, Wrench or ColorRGBA. Such a field is a row of ``width`` numbers. None for all other fields.
        width: Number of values in a field with a uniform type.
        shape: Shape of such a field as an array: ``(width,)``, or ``()`` for one number.
    """

    uniform: Any = None
    width: int = 0
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Primitive(Kind):
    """A number or a boolean; ``code`` is its format character in the struct module."""

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
    """A sequence of elements of one type. ``bound`` is the maximum number of elements, or None."""

    element: Any
    bound: int | None = None


@dataclass(frozen=True, eq=False)
class Struct(Kind):
    """A message type. ``fields`` contains the name, type and default of each field in wire order."""

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
# The field that ROS adds to messages without fields.
DUMMY_FIELD = (("structure_needs_at_least_one_member", PRIMITIVES["uint8"], 0),)
NANOSECONDS = 1_000_000_000
TIME_TYPES = ("builtin_interfaces/msg/Time", "builtin_interfaces/msg/Duration")

"""What a message type is made of: the one tree that encoder and decoder are compiled from."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from tactile_sim.errors import TactileSimError


class WireError(TactileSimError):
    """A value does not fit its message type, or bytes are not a message of that type."""

    def __init__(self, reason: str, path: str = "", message_type: str = "") -> None:
        super().__init__(reason)
        self.reason, self.path, self.message_type = reason, path, message_type

    def __str__(self) -> str:
        place = ".".join(part for part in (self.message_type, self.path) if part)
        return f"{place}: {self.reason}" if place else self.reason

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


@dataclass(frozen=True)
class Primitive:
    """A number or a boolean; ``code`` is its letter for the struct module."""

    name: str
    code: str
    dtype: np.dtype = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", np.dtype("<" + self.code))


@dataclass(frozen=True)
class String:
    """UTF-8 text; ``bound`` is the largest number of bytes, if there is one."""

    bound: int | None = None


@dataclass(frozen=True)
class Array:
    """A fixed number of primitives."""

    element: Primitive
    length: int


@dataclass(frozen=True)
class Sequence:
    """A counted run of equal elements; ``bound`` is the largest count, if there is one."""

    element: Any
    bound: int | None = None


@dataclass(frozen=True, eq=False)
class Struct:
    """A message: names, types and default values of its fields, in their order on the wire.

    ``uniform`` is the one primitive type that all leaves share and ``width`` their number, if the struct is
    made of nothing else (Point, Wrench, ColorRGBA, ...): such a struct is a plain row of numbers.
    """

    name: str
    fields: tuple[tuple[str, Any, Any], ...]
    uniform: Primitive | None = field(init=False, default=None)
    width: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        kinds = {uniform_of(kind) for _, kind, _ in self.fields}
        if len(kinds) == 1 and None not in kinds:
            object.__setattr__(self, "uniform", kinds.pop())
            object.__setattr__(self, "width", sum(width_of(kind) for _, kind, _ in self.fields))


def uniform_of(kind: Any) -> Any:
    """The :class:`Primitive` that all of ``kind`` is made of, if its size is fixed and there is just one."""
    if isinstance(kind, Primitive):
        return kind
    if isinstance(kind, Array):
        return kind.element
    return kind.uniform if isinstance(kind, Struct) else None


def width_of(kind: Any) -> int:
    """How many primitives a uniform ``kind`` has."""
    if isinstance(kind, Array):
        return kind.length
    return kind.width if isinstance(kind, Struct) else 1


PRIMITIVES = {
    name: Primitive(name, code)
    for name, code in {
        "boolean": "?", "octet": "B", "uint8": "B", "int8": "b", "uint16": "H", "int16": "h", "uint32": "I",
        "int32": "i", "uint64": "Q", "int64": "q", "float": "f", "double": "d",
    }.items()
}  # fmt: skip
# What ROS puts into a message without fields.
_PLACEHOLDER = (("structure_needs_at_least_one_member", PRIMITIVES["uint8"], 0),)
TIME_TYPES = ("builtin_interfaces/msg/Time", "builtin_interfaces/msg/Duration")


@cache
def of_class(message_type: Any) -> Struct:
    """The tree of a generated ROS message class."""
    if not hasattr(message_type, "get_fields_and_field_types"):
        raise WireError(f"{message_type!r} is not a ROS message class")
    package, _, rest = message_type.__module__.partition(".")
    name = f"{package}/{rest.partition('.')[0]}/{message_type.__name__}"
    default = message_type()
    fields = []
    for (field_name, _), slot in zip(
        message_type.get_fields_and_field_types().items(), message_type.SLOT_TYPES, strict=True
    ):
        kind = _of_slot(slot, f"{name}.{field_name}")
        # An empty default stands for itself; that of a nested message is made of its own fields' defaults.
        value = None if isinstance(kind, Struct) else getattr(default, field_name)
        fields.append((field_name, kind, value))
    return Struct(name, tuple(fields) or _PLACEHOLDER)


def _of_slot(slot: Any, place: str) -> Any:
    """The tree of one field as rosidl's generated Python describes it (``rosidl_parser.definition``)."""
    described = type(slot).__name__
    if described == "BasicType" and slot.typename in PRIMITIVES:
        return PRIMITIVES[slot.typename]
    if described in ("UnboundedString", "BoundedString"):
        return String(getattr(slot, "maximum_size", None))
    if described == "NamespacedType":
        return of_class(getattr(importlib.import_module(".".join(slot.namespaces)), slot.name))
    if described in ("UnboundedSequence", "BoundedSequence"):
        return sequence(_of_slot(slot.value_type, place), getattr(slot, "maximum_size", None), place)
    if described == "Array":
        return array(_of_slot(slot.value_type, place), slot.size, place)
    raise WireError(f"the type {getattr(slot, 'typename', described)} is not supported", place)


def array(element: Any, length: int, place: str) -> Array:
    """A fixed array; only numbers and booleans have a place in one here."""
    if not isinstance(element, Primitive):
        raise WireError("fixed arrays of strings or messages are not supported", place)
    return Array(element, length)


def sequence(element: Any, bound: int | None, place: str) -> Sequence:
    """A sequence of numbers, strings or messages."""
    if not isinstance(element, Primitive | String | Struct):
        raise WireError("sequences of sequences are not supported", place)
    return Sequence(element, bound)

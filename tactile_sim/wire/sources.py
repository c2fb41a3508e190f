"""Where the tree of a message type comes from: a generated ROS class, or the definition that a bag carries."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from tactile_sim.wire.types import (
    PLACEHOLDER,
    PRIMITIVES,
    Array,
    Primitive,
    Sequence,
    String,
    Struct,
    WireError,
)


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
    return Struct(name, tuple(fields) or PLACEHOLDER)


def _of_slot(slot: Any, place: str) -> Any:
    """The tree of one field as rosidl's generated Python describes it (``rosidl_parser.definition``)."""
    described = type(slot).__name__
    if described == "BasicType" and slot.typename in PRIMITIVES:
        return PRIMITIVES[slot.typename]
    if described in ("UnboundedString", "BoundedString"):
        return String()
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

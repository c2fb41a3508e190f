"""Where the tree of a message type comes from: a generated ROS class, or the definition in a bag."""

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


@cache
def of_definition(name: str, text: str) -> Struct:
    """The tree of the type ``name`` (``std_msgs/msg/Header``) from its definition in ROS's message language.

    The definitions of the types it uses follow in ``text``, each behind a line of ``=`` and its own name in
    ``MSG: package/Type``. Default values are zero and empty, whatever the definition says.
    """
    from rosbags.typesys import TypesysError, get_types_from_msg  # only where a bag is read

    try:
        types = get_types_from_msg(text, name)
    except TypesysError as error:
        raise WireError(f"its definition cannot be read: {error}", "", name) from None
    return _of_types(name, types)


def _of_types(name: str, types: Any) -> Struct:
    if name not in types:
        raise WireError("its definition is missing", "", name)
    kinds = [(field, _of_node(node, types, f"{name}.{field}")) for field, node in types[name][1]]
    return Struct(name, tuple((field, kind, _zero(kind)) for field, kind in kinds) or PLACEHOLDER)


def _zero(kind: Any) -> Any:
    """The default value of a field whose type is all that is known of it."""
    if isinstance(kind, Primitive):
        return False if kind.name == "boolean" else 0
    if isinstance(kind, Array):
        return [_zero(kind.element)] * kind.length
    return "" if isinstance(kind, String) else ()


def _of_node(node: Any, types: Any, place: str) -> Any:
    """The tree of one field as rosbags parses it: a kind of node and its content."""
    described, content = node[0].name, node[1]
    if described == "NAME":
        return _of_types(content, types)
    if described == "BASE":
        base = _BASE_NAMES.get(content[0], content[0])
        if base == "string":
            return String()
        if base in PRIMITIVES:
            return PRIMITIVES[base]
        raise WireError(f"the type {base} is not supported", place)
    element = _of_node(content[0], types, place)
    if described == "ARRAY":
        return array(element, content[1], place)
    return sequence(element, content[1] or None, place)


# What the message language calls otherwise than the wire does.
_BASE_NAMES = {"bool": "boolean", "byte": "octet", "char": "uint8", "float32": "float", "float64": "double"}


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

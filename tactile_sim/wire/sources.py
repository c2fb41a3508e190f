"""Build the type tree of a message from a generated ROS class or from a definition in a bag."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from tactile_sim.wire.types import (
    DUMMY_FIELD,
    PRIMITIVES,
    Array,
    Primitive,
    Sequence,
    String,
    Struct,
    WireError,
)

MOST_CHARACTERS = 200_000
"""Maximum length of a definition without comments. Rosbags parses about 100,000 characters per second."""
MOST_NUMBERS = 1_000_000
"""Maximum number of fields in a type; each element of a fixed array counts."""
DEEPEST = 50
"""Maximum nesting depth of types."""


@cache
def of_class(message_type: Any) -> Struct:
    """Return the type tree of a generated ROS message class."""
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
        # A nested message has no default of its own: it follows from the defaults of its fields.
        value = None if isinstance(kind, Struct) else getattr(default, field_name)
        fields.append((field_name, kind, value))
    return Struct(name, tuple(fields) or DUMMY_FIELD)


def _of_slot(slot: Any, place: str) -> Any:
    """Return the type tree of a field from its ``rosidl_parser.definition`` object."""
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
    raise WireError(f"type {getattr(slot, 'typename', described)} is not supported", place)


@cache
def of_definition(name: str, text: str) -> Struct:
    """Return the type tree of a message from its definition in the ROS message language."""
    from rosbags.typesys import get_types_from_msg  # needed only to read bags

    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    text = "\n".join(lines)
    if len(text) > MOST_CHARACTERS:
        raise WireError(
            f"definition must have at most {MOST_CHARACTERS} characters, got {len(text)}", "", name
        )
    try:
        types = get_types_from_msg(text, name)
    except Exception as error:  # the parser's errors for invalid text are not documented
        raise WireError(f"definition is invalid: {error}", "", name) from None
    return _Trees(types).of(name)


class _Trees:
    """Builds the type trees of the types in a parsed definition."""

    def __init__(self, types: Any) -> None:
        self._types = types
        self._made: dict[str, Struct] = {}
        self._numbers: dict[str, int] = {}
        """Number of leaf fields in each type; each element of a fixed array counts."""

    def of(self, name: str, outer: tuple[str, ...] = ()) -> Struct:
        """Return the type tree of a type."""
        if name in self._made:
            return self._made[name]
        if name not in self._types:
            raise WireError("definition is missing", "", name)
        if name in outer or len(outer) == DEEPEST:
            what = "contains itself" if name in outer else f"is nested more than {DEEPEST} types deep"
            raise WireError(what, "", name)
        kinds = [
            (field, self._of_node(node, f"{name}.{field}", (*outer, name)))
            for field, node in self._types[name][1]
        ]
        numbers = sum(self._count(kind) for _, kind in kinds)
        if numbers > MOST_NUMBERS:
            raise WireError(
                f"must have at most {MOST_NUMBERS} numbers of fixed size, got {numbers}", "", name
            )
        self._numbers[name] = numbers
        made = Struct(name, tuple((field, kind, _zero(kind)) for field, kind in kinds) or DUMMY_FIELD)
        self._made[name] = made
        return made

    def _count(self, kind: Any) -> int:
        if isinstance(kind, Sequence):
            kind = kind.element
        if isinstance(kind, Struct):
            return self._numbers[kind.name]
        return kind.length if isinstance(kind, Array) else 1

    def _of_node(self, node: Any, place: str, outer: tuple[str, ...]) -> Any:
        """Return the type tree of a field."""
        described, content = node[0].name, node[1]
        if described == "NAME":
            return self.of(content, outer)
        if described == "BASE":
            base = _BASE_NAMES.get(content[0], content[0])
            if base == "string":
                return String()
            if base in PRIMITIVES:
                return PRIMITIVES[base]
            raise WireError(f"type {base} is not supported", place)
        element = self._of_node(content[0], place, outer)
        if described == "ARRAY":
            return array(element, content[1], place)
        return sequence(element, content[1] or None, place)


def _zero(kind: Any) -> Any:
    """Return the zero or empty default value of a field type."""
    if isinstance(kind, Primitive):
        return False if kind.name == "boolean" else 0
    if isinstance(kind, Array):
        return [_zero(kind.element)] * kind.length
    return "" if isinstance(kind, String) else ()


# Names of primitive types in the message language that differ from those in generated Python.
_BASE_NAMES = {"bool": "boolean", "byte": "octet", "char": "uint8", "float32": "float", "float64": "double"}


def array(element: Any, length: int, place: str) -> Array:
    """Return the type of a fixed array of numbers or booleans."""
    if not isinstance(element, Primitive):
        raise WireError("fixed arrays of strings or messages are not supported", place)
    if not 0 < length <= MOST_NUMBERS:
        raise WireError(f"a fixed array must have 1 to {MOST_NUMBERS} elements, got {length}", place)
    return Array(element, length)


def sequence(element: Any, bound: int | None, place: str) -> Sequence:
    """Return the type of a sequence of numbers, strings or messages."""
    if not isinstance(element, Primitive | String | Struct):
        raise WireError("sequences of sequences are not supported", place)
    return Sequence(element, bound)

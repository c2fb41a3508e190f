"""Types of ROS 2 messages, and decoding of their bytes in the CDR wire format, without rclpy.

Messages are decoded into objects whose sequences are numpy arrays, without an object per element:

- Numbers, booleans and strings become Python objects; a ``byte`` becomes ``bytes`` of length 1, as in rclpy.
- Sequences of numbers become read-only arrays, which are views into the message. Fixed arrays of numbers also
  become arrays.
- A struct of numbers of one type (Point, Quaternion, ColorRGBA, ...) becomes a row (k,); a sequence of them
  becomes an array (n, k).
- Other structs become a :class:`Record`, and sequences of them become :class:`Columns`. Both have one
  attribute per field.

CDR (version 1, little endian) aligns each number to its own size, counted from the start of the message.
"""

from __future__ import annotations

import importlib
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import groupby
from types import SimpleNamespace
from typing import Any

import numpy as np

from tactile_sim.common.errors import TactileSimError, readable

ENCAPSULATION = b"\x00\x01\x00\x00"  # CDR version 1, little endian


class WireError(TactileSimError):
    """Error for values that do not fit their message type, or bytes that are not a message of this type."""

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
        return _sequence(_of_slot(slot.value_type, place), getattr(slot, "maximum_size", None), place)
    if described == "Array":
        return _array(_of_slot(slot.value_type, place), slot.size, place)
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
            return _array(element, content[1], place)
        return _sequence(element, content[1] or None, place)


def _zero(kind: Any) -> Any:
    """Return the zero or empty default value of a field type."""
    if isinstance(kind, Primitive):
        return False if kind.name == "boolean" else 0
    if isinstance(kind, Array):
        return [_zero(kind.element)] * kind.length
    return "" if isinstance(kind, String) else ()


# Names of primitive types in the message language that differ from those in generated Python.
_BASE_NAMES = {"bool": "boolean", "byte": "octet", "char": "uint8", "float32": "float", "float64": "double"}


def _array(element: Any, length: int, place: str) -> Array:
    """Return the type of a fixed array of numbers or booleans."""
    if not isinstance(element, Primitive):
        raise WireError("fixed arrays of strings or messages are not supported", place)
    if not 0 < length <= MOST_NUMBERS:
        raise WireError(f"a fixed array must have 1 to {MOST_NUMBERS} elements, got {length}", place)
    return Array(element, length)


def _sequence(element: Any, bound: int | None, place: str) -> Sequence:
    """Return the type of a sequence of numbers, strings or messages."""
    if not isinstance(element, Primitive | String | Struct):
        raise WireError("sequences of sequences are not supported", place)
    return Sequence(element, bound)


def _leaves(kind: Any) -> list[Any]:
    """Return the types of a struct's leaf fields in wire order.

    A leaf is a string, a sequence, a number or a row of numbers of one type (an array or a struct).
    """
    if kind.uniform is None and isinstance(kind, Struct):
        return [leaf for _, inner, _ in kind.fields for leaf in _leaves(inner)]
    return [kind]


class Run:
    """Adjacent leaf fields of fixed size, which are unpacked in one call.

    The padding inside a run depends only on the offset modulo 8 at which it starts. ``packers``, ``sizes``
    and ``dtypes`` have one entry for each of these offsets.
    """

    def __init__(self, leaves: list[Any]) -> None:
        self.leaves = leaves
        self._places = [self._place(start) for start in range(8)]
        self.packers = [self._packer(offsets) for offsets, _ in self._places]
        self.sizes = [size for _, size in self._places]

    @cached_property
    def dtypes(self) -> list[np.dtype]:
        """Structured numpy dtype of the run for each start offset, with one field f0, f1, ... per leaf."""
        return [
            np.dtype(
                {
                    "names": [f"f{i}" for i in range(len(self.leaves))],
                    "formats": [(leaf.uniform.dtype, leaf.shape) for leaf in self.leaves],
                    "offsets": offsets,
                    "itemsize": size,
                }
            )
            for offsets, size in self._places
        ]

    def _place(self, start: int) -> tuple[list[int], int]:
        """Return the offset of each leaf from ``start`` and the total size, both with padding [bytes]."""
        offsets, position = [], start
        for leaf in self.leaves:
            item = leaf.uniform.dtype.itemsize
            position += -position % item
            offsets.append(position - start)
            position += item * leaf.width
        return offsets, position - start

    def _packer(self, offsets: list[int]) -> struct.Struct:
        form, end = "<", 0
        for leaf, offset in zip(self.leaves, offsets, strict=True):
            form += f"{offset - end}x{leaf.width}{leaf.uniform.code}"
            end = offset + leaf.uniform.dtype.itemsize * leaf.width
        return struct.Struct(form)


def _segments(kind: Any) -> list[Run | String | Sequence]:
    """Split a struct, in wire order, into runs of fixed-size leaves and individual strings or sequences."""
    found: list[Any] = []
    for fixed, group in groupby(_leaves(kind), lambda leaf: leaf.uniform is not None):
        leaves = list(group)
        found += [Run(leaves)] if fixed else leaves
    return found


class Record(SimpleNamespace):
    """A decoded struct with one attribute per field."""


class Columns(SimpleNamespace):
    """A sequence of decoded structs, stored as one array, list or Columns per field.

    Accessing a field of all structs, as in ``m.transforms.child_frame_id``, is fast. Indexing and iterating,
    as in ``for transform in m.transforms``, create a :class:`Record` for each struct. Slicing creates
    Columns.
    """

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def __getitem__(self, index: int | slice) -> Any:
        made = Columns if isinstance(index, slice) else Record
        return made(**{name: values[index] for name, values in vars(self).items()})

    def __iter__(self) -> Iterator[Record]:
        return (self[index] for index in range(len(self)))


def is_row(kind: Any) -> bool:
    """Return whether a type is decoded as a row: a flat struct with several numbers of one type."""
    return isinstance(kind, Struct) and kind.uniform is not None and all(
        isinstance(inner, Primitive) for _, inner, _ in kind.fields
    ) and len(kind.fields) > 1  # fmt: skip


def _builder(kind: Any) -> Callable[[Iterator[Any]], Any]:
    """Return a function that builds a decoded value of this type from an iterator over its leaf values."""
    if is_row(kind) or isinstance(kind, Array):
        width, dtype = kind.width, kind.uniform.dtype

        def build_row(flat: Iterator[Any]) -> Any:
            return np.array([next(flat) for _ in range(width)], dtype)

        return build_row
    if isinstance(kind, Struct):
        fields = [(name, _builder(inner)) for name, inner, _ in kind.fields]

        def build_struct(flat: Iterator[Any]) -> Any:
            return Record(**{name: build(flat) for name, build in fields})

        return build_struct
    if isinstance(kind, Primitive) and kind.name == "octet":
        return lambda flat: bytes((next(flat),))
    return next


def _column_builder(kind: Any) -> Callable[[Iterator[Any]], Any]:
    """Return a function that builds Columns of this type from an iterator over the columns of its leaves."""
    if not isinstance(kind, Struct) or is_row(kind):
        return next
    if kind.uniform is not None:
        return lambda columns: _split(kind, next(columns))
    fields = [(name, _column_builder(inner)) for name, inner, _ in kind.fields]
    return lambda columns: Columns(**{name: build(columns) for name, build in fields})


def _split(kind: Struct, block: np.ndarray) -> Columns:
    """Split an array (n, width) with the numbers of n structs into Columns with a view for each field."""
    parts, start = {}, 0
    for name, inner, _ in kind.fields:
        stop = start + inner.width
        part = block[:, start] if isinstance(inner, Primitive) else block[:, start:stop]
        parts[name] = _split(inner, part) if isinstance(inner, Struct) and not is_row(inner) else part
        start = stop
    return Columns(**parts)


_unpack_count = struct.Struct("<I").unpack_from

Read = Callable[[memoryview, int], tuple[Any, int]]  # payload and position -> value and the position after it


class Decoder:
    """Compiled decoder for a struct type."""

    def __init__(self, kind: Struct) -> None:
        self.kind = kind
        self.parts: list[Run | Read] = [
            part if isinstance(part, Run) else _reader(part) for part in _segments(kind)
        ]
        self.build = _builder(kind)
        self.build_columns = _column_builder(kind)

    def decode(self, data: bytes | memoryview) -> Any:
        """Decode a whole message.

        Args:
            data: The message with its encapsulation header.

        Returns:
            The decoded message; see the module docstring for its form.

        Raises:
            WireError: ``data`` is not a little-endian CDR message of this type.
        """
        if data[:2] != ENCAPSULATION[:2]:
            raise WireError(
                f"must begin with {ENCAPSULATION[:2]!r} (little-endian CDR), got {bytes(data[:4])!r}",
                "",
                self.kind.name,
            )
        try:
            return self.read(memoryview(data)[4:], 0)[0]
        except (struct.error, IndexError, ValueError) as error:
            raise WireError(
                f"cannot decode {len(data)} bytes as this type: {error}", "", self.kind.name
            ) from None

    def read(self, data: memoryview, position: int) -> tuple[Any, int]:
        """Read one struct, and return it and the position after it.

        Args:
            data: The message without its encapsulation header.
            position: Offset in ``data`` at which the struct begins [bytes].
        """
        flat: list[Any] = []
        for part in self.parts:
            if isinstance(part, Run):
                flat += part.packers[position & 7].unpack_from(data, position)
                position += part.sizes[position & 7]
            else:
                value, position = part(data, position)
                flat.append(value)
        return self.build(iter(flat)), position

    def read_columns(self, data: memoryview, position: int) -> tuple[Any, int]:
        """Read a sequence of structs, and return Columns and the position after the sequence."""
        count, position = _read_count(data, position)
        if len(self.parts) == 1 and isinstance(self.parts[0], Run):
            columns, position = _read_run_sequence(self.parts[0], data, position, count)
            return self.build_columns(iter(columns)), position
        gathered: list[list[Any]] = [[] for _ in self.parts]
        """For each part, one entry per struct: the start position of a Run, or the value of another part."""
        for _ in range(count):
            for part, found in zip(self.parts, gathered, strict=True):
                if isinstance(part, Run):
                    found.append(position)
                    position += part.sizes[position & 7]
                else:
                    value, position = part(data, position)
                    found.append(value)
        if position > len(data):
            raise ValueError("truncated message")
        columns = []
        for part, found in zip(self.parts, gathered, strict=True):
            if isinstance(part, Run):
                columns += _gather_runs(part, data, np.array(found, np.int64))
            else:
                columns.append(found)
        return self.build_columns(iter(columns)), position


@cache
def decoder(kind: Struct) -> Decoder:
    """Return the compiled decoder for a struct type."""
    return Decoder(kind)


# --- reading ----------------------------------------------------------------------------------------------


def _read_count(data: memoryview, position: int) -> tuple[int, int]:
    position += -position & 3
    return _unpack_count(data, position)[0], position + 4


def _read_string(data: memoryview, position: int) -> tuple[str, int]:
    length, position = _read_count(data, position)
    end = position + length
    if end > len(data):
        raise ValueError("truncated message")
    return str(data[position : end - 1], "utf-8") if length else "", end


def _read_array(data: memoryview, position: int, dtype: np.dtype, count: int) -> tuple[np.ndarray, int]:
    """Read ``count`` aligned elements; return a read-only array and the position after it."""
    if count == 0:
        return np.zeros(0, dtype), position
    position += -position % dtype.itemsize
    return np.frombuffer(data, dtype, count, position), position + count * dtype.itemsize


def _reader(kind: String | Sequence) -> Read:
    if isinstance(kind, String):
        return _read_string
    element = kind.element
    if isinstance(element, String):

        def read(data: memoryview, position: int) -> tuple[Any, int]:
            count, position = _read_count(data, position)
            texts = []
            for _ in range(count):
                text, position = _read_string(data, position)
                texts.append(text)
            return texts, position

    elif isinstance(element, Primitive):
        dtype = element.dtype

        def read(data: memoryview, position: int) -> tuple[Any, int]:
            count, position = _read_count(data, position)
            return _read_array(data, position, dtype, count)

    elif is_row(element):
        dtype, width = element.uniform.dtype, element.width

        def read(data: memoryview, position: int) -> tuple[Any, int]:
            count, position = _read_count(data, position)
            array, position = _read_array(data, position, dtype, count * width)
            return array.reshape(count, width), position

    else:
        return decoder(element).read_columns
    return read


def _read_run_sequence(run: Run, data: memoryview, position: int, count: int) -> tuple[list[Any], int]:
    """Read a sequence of structs that contain only fixed-size fields, without a loop over the structs.

    All structs except the first have the same padding, because they start at the same offset modulo their
    largest alignment.


    Returns:
        One array (count, ...) per leaf of the run, and the position after the last struct.
    """
    if count == 0:
        return _columns_of(np.zeros(0, run.dtypes[0])), position
    first = run.dtypes[position & 7]
    head = np.frombuffer(data, first, 1, position)
    position += first.itemsize
    following = run.dtypes[position & 7]
    tail = np.frombuffer(data, following, count - 1, position)
    position += following.itemsize * (count - 1)
    if first == following:
        return _columns_of(np.frombuffer(data, first, count, position - count * first.itemsize)), position
    columns = zip(_columns_of(head), _columns_of(tail), strict=True)
    return [np.concatenate(pair) for pair in columns], position


def _gather_runs(run: Run, data: memoryview, positions: np.ndarray) -> list[Any]:
    """Read the same run of fields from n structs.

    - ``positions``: Offset in ``data`` at which the run begins in each struct (n,) [bytes].

    Returns:
        One array (n, ...) per leaf of the run.
    """
    every = np.frombuffer(data, np.uint8)
    columns = [np.empty((len(positions), *leaf.shape), leaf.uniform.dtype) for leaf in run.leaves]
    for start in np.unique(positions & 7):
        chosen = (positions & 7) == start
        rows = every[positions[chosen, None] + np.arange(run.sizes[start])]
        for column, values in zip(columns, _columns_of(rows.view(run.dtypes[start])[:, 0]), strict=True):
            column[chosen] = values
    return columns


def _columns_of(array: np.ndarray) -> list[Any]:
    return [array[name] for name in array.dtype.names or ()]


_STAMPED = ("std_msgs/msg/Header", "rosgraph_msgs/msg/Clock")  # both begin with their time
_unpack_time = struct.Struct("<iI").unpack_from


def stamp_of(kind: Struct, data: bytes | memoryview) -> int | None:
    """Return the stamp in the header with which a message begins.

    If the message begins with a sequence, such as a list of transforms, its first element has this header.
    The time in a Clock message counts as a stamp. Other times, such as those of log entries and events, may
    refer to another clock and are ignored.

    Returns:
        The stamp [ns], or None if the message has no stamp.
    """
    counts = counts_before_stamp(kind)
    if counts is None:
        return None
    for level in range(counts):
        if _unpack_count(data, 4 + 4 * level)[0] == 0:
            return None
    return nanoseconds(*_unpack_time(data, 4 + 4 * counts))


def nanoseconds(sec: Any, nanosec: Any) -> Any:
    """Convert the seconds and nanoseconds of ROS times (ints or arrays) to integer nanoseconds."""
    if isinstance(sec, int):
        return sec * NANOSECONDS + nanosec
    # Decoded seconds have 32 bits; 3 s in nanoseconds do not fit into them.
    return np.asarray(sec, np.int64) * NANOSECONDS + np.asarray(nanosec, np.int64)


def _is_time(kind: Any) -> bool:
    """Return whether a type is a struct of int32 seconds and uint32 nanoseconds, like a ROS time."""
    fields = kind.fields if isinstance(kind, Struct) else ()
    return [getattr(inner, "code", "") for _, inner, _ in fields] == ["i", "I"]


@cache
def counts_before_stamp(kind: Any) -> int | None:
    """Return how many element counts of 4 bytes precede the stamp in messages of a type.

    There is one count for each sequence that contains the stamp. A TFMessage, for example, begins with a
    sequence of transforms.
    """
    counts = 0
    while isinstance(kind, Struct | Sequence):
        if isinstance(kind, Sequence):
            counts, kind = counts + 1, kind.element
        elif kind.name in _STAMPED:
            return counts if _is_time(kind.fields[0][1]) else None
        else:
            kind = kind.fields[0][1]
    return None

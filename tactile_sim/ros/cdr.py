"""Convert between ROS messages in CDR, as rclpy sends them, and numpy arrays.

>>> marker = {"header": {"stamp": 1_500_000_000, "frame_id": "world"}, "points": points}  # points (n, 3)
>>> data = cdr.encode(Marker, marker)
>>> publisher.publish(data)
>>> cdr.decode(Marker, data).points  # (n, 3)

Accepted forms of messages and their fields:

- A struct is a mapping or a message; fields that a mapping omits have their ROS defaults.
- A struct of numbers of one type can be a row: Point (3,), Quaternion (4,) as x y z w, Wrench (6,), ...
- A time or duration can be integer nanoseconds.
- A sequence of structs is a list, or an (n, k) array of such rows.
- A sequence of numbers is an array of any shape in C order, bytes, or a list.

Messages that are published repeatedly have a template, in which only some values change and which the native
core fills in:

>>> template = cdr.template(kind, {"header": {"stamp": cdr.STAMP, "frame_id": "world"},
...     "contacts": cdr.Repeat({"body1": cdr.Lookup(0, bodies), "position": cdr.Value(0), ...})})
>>> data = template.fill(stamp, keys, values)  # keys (n, k) int32, values (n, v) float64: one row per element
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from collections.abc import Sequence as List
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from tactile_sim import _core
from tactile_sim._core import WireStep
from tactile_sim.common.errors import suggest
from tactile_sim.wire import (
    ENCAPSULATION,
    NANOSECONDS,
    PRIMITIVES,
    TIME_TYPES,
    Array,
    Columns,
    Primitive,
    Record,
    Sequence,
    String,
    Struct,
    WireError,
    decoder,
    nanoseconds,
    of_class,
    shown,
    stamp_of,
)

__all__ = [
    "STAMP", "Columns", "IntColumn", "Lookup", "MessageTemplate", "Payload", "Record", "Repeat", "RowRange",
    "Value", "WireError", "decode", "encode", "nanoseconds", "stamp", "template",
]  # fmt: skip

_MISSING = object()
"""Marker for an omitted field, which gets its ROS default."""


def encode(message_type: Any, value: Any) -> bytes:
    """Return the CDR bytes of a message, ready for ``Publisher.publish``.

    Padding bytes are zero and no bytes follow the last field. In contrast, rclpy does not initialize padding,
    and it appends a few bytes to messages that have a fixed size or an empty ``float64[]``.

    Args:
        message_type: A ROS message class.
        value: The message; see the module docstring for the accepted forms.

    Returns:
        The message with its encapsulation header.

    Raises:
        WireError: A field does not exist or its value does not fit. The error names the field.
    """
    return encode_struct(of_class(message_type), value)


def decode(message_type: Any, data: bytes) -> Any:
    """Decode a message into objects with numpy arrays; see :mod:`tactile_sim.wire`.

    Args:
        message_type: A ROS message class.
        data: The message with its encapsulation header.

    Returns:
        An object with the fields of the message as attributes.

    Raises:
        WireError: ``data`` is not a message of this type.
    """
    return decoder(of_class(message_type)).decode(data)


def template(message_type: Any, fields: Mapping[str, Any]) -> MessageTemplate:
    """Return a template for a message that is published repeatedly; see `MessageTemplate`."""
    return MessageTemplate(of_class(message_type), fields)


def stamp(message_type: Any, data: bytes) -> int | None:
    """Return the stamp [ns] with which a message, or its first element, begins; None if it has none."""
    return stamp_of(of_class(message_type), data)


def encode_struct(kind: Struct, value: Any) -> bytes:
    """Return the CDR bytes of a message, as `encode` for a type tree."""
    writer = _Writer()
    try:
        writer.write(kind, value)
    except WireError as error:
        error.message_type = kind.name
        raise
    return ENCAPSULATION + b"".join(writer.pieces)


# --- encoding ---------------------------------------------------------------------------------------------


class _Writer:
    """Encodes values as pieces of bytes.

    Attributes:
        pieces: The encoded values, as bytes and arrays.
        position: Offset at which the next value starts, without the encapsulation header [bytes].
    """

    def __init__(self, position: int = 0) -> None:
        self.pieces: list[Any] = []
        self.position = position

    def write(self, kind: Any, value: Any, default: Any = None) -> None:
        """Append a value; ``default`` is used for `_MISSING`."""
        if isinstance(kind, Struct):
            self._struct(kind, value)
            return
        value = default if value is _MISSING else value
        match kind:
            case Primitive():
                self._numbers(kind, [_number(kind, value)])
            case Array(element):
                self._row(kind, element.name, value)
            case String():
                self._string(value)
            case Sequence():
                self._sequence(kind, value)

    def _struct(self, kind: Struct, value: Any) -> None:
        if kind.uniform is not None and isinstance(value, np.ndarray | list | tuple):
            self._row(kind, kind.name, value)
            return
        if kind.name in TIME_TYPES and isinstance(value, int | np.integer):
            value = dict(zip(("sec", "nanosec"), divmod(int(value), NANOSECONDS), strict=True))
        values = [_MISSING] * len(kind.fields) if value is _MISSING else _fields_of(kind, value)
        for (name, inner, default), field in zip(kind.fields, values, strict=True):
            try:
                self.write(inner, field, default)
            except WireError as error:
                raise error.inside(name) from None

    def _row(self, kind: Array | Struct, name: str, value: Any) -> None:
        """Append a row of ``kind.width`` numbers."""
        if isinstance(value, np.ndarray):
            if value.shape != (kind.width,):
                raise WireError(f"expected {name} values of shape ({kind.width},), got {value.shape}")
            value = value.tolist()
        if not hasattr(value, "__len__"):
            raise WireError(f"expected {kind.width} {name} values, got {shown(value)}")
        if len(value) != kind.width:
            raise WireError(f"expected {kind.width} {name} values, got {len(value)}")
        self._numbers(kind.uniform, value)

    def _numbers(self, kind: Primitive, values: List[Any]) -> None:
        self._align(kind.dtype.itemsize)
        try:
            self._append(struct.pack(f"<{len(values)}{kind.code}", *values))
        except (struct.error, OverflowError, TypeError) as error:
            text = ", ".join(map(shown, values))
            raise WireError(f"expected {kind.name}, got {text} ({error})") from None

    def _string(self, text: Any) -> None:
        """Append an aligned length, UTF-8 bytes and a zero byte that counts toward the length."""
        if not isinstance(text, str):
            raise WireError(f"expected a string, got {shown(text)}")
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise WireError(f"must be valid UTF-8: {error}") from None
        self._count(len(data) + 1)
        self._append(data + b"\0")

    def _sequence(self, kind: Sequence, value: Any) -> None:
        element = kind.element
        if kind.bound is not None and hasattr(value, "__len__") and len(value) > kind.bound:
            raise WireError(f"must have at most {kind.bound} elements, got {len(value)}")
        if isinstance(element, Primitive):
            self._array(element, _numbers(element, value), value)
        elif isinstance(element, Struct) and element.uniform and isinstance(value, np.ndarray):
            array = _numbers(element.uniform, value)
            if array.size and (array.ndim != 2 or array.shape[1] != element.width):
                raise WireError(
                    f"expected {element.name} values of shape (n, {element.width}), got {array.shape}"
                )
            self._array(element.uniform, array, value, element.width)
        else:
            is_list = isinstance(value, list | tuple) or (
                isinstance(element, String) and isinstance(value, np.ndarray)
            )
            if not is_list:
                raise WireError(f"expected {_list_of(element)}, got {shown(value)}")
            self._count(len(value))
            for index, inner in enumerate(value):
                try:
                    self.write(element, inner)
                except WireError as error:
                    raise error.inside(index) from None

    def _array(self, kind: Primitive, array: np.ndarray, given: Any, width: int = 1) -> None:
        """Append a sequence of numbers, or of structs of ``width`` numbers."""
        if array.ndim == 0:
            raise WireError(f"expected {kind.name} values, got {shown(given)}")
        self._count(array.size // width)
        if array.size:
            self._align(kind.dtype.itemsize)
            self.pieces.append(np.ascontiguousarray(array))
            self.position += array.nbytes

    def _count(self, count: int) -> None:
        self._align(4)
        self._append(struct.pack("<I", count))

    def _align(self, size: int) -> None:
        if padding := -self.position % size:
            self._append(bytes(padding))

    def _append(self, data: bytes) -> None:
        self.pieces.append(data)
        self.position += len(data)


def _number(kind: Primitive, value: Any) -> Any:
    """Return a value that struct can pack; integers are not accepted for booleans."""
    if kind.name == "boolean" and not isinstance(value, bool | np.bool_):
        raise WireError(f"expected boolean, got {shown(value)}")
    return value[0] if kind.name == "octet" and isinstance(value, bytes) and len(value) == 1 else value


def _list_of(element: Any) -> str:
    if isinstance(element, String):
        return "a list of strings"
    rows = f" or an (n, {element.width}) array" if element.uniform else ""
    return f"{element.name} elements as a list{rows}"


def _numbers(primitive: Primitive, value: Any) -> np.ndarray:
    """Convert a value to an array of the same shape, with the dtype of ``primitive``."""
    if isinstance(value, bytes | bytearray) and primitive.dtype.itemsize == 1:
        value = np.frombuffer(value, primitive.dtype)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise WireError(f"expected {primitive.name} values, got rows of different lengths") from error
    dtype = primitive.dtype
    if array.dtype == dtype:
        return array
    kind, wanted = array.dtype.kind, dtype.kind
    if not array.size or (wanted == "f" and kind in "fiu"):
        return array.astype(dtype)
    if wanted in "iu" and kind in "iu":
        limits = np.iinfo(dtype)
        if int(array.min()) < limits.min or int(array.max()) > limits.max:
            raise WireError(
                f"must be from {limits.min} to {limits.max} ({primitive.name}), got values from {array.min()}"
                f" to {array.max()}"
            )
        return array.astype(dtype)
    if primitive.name == "octet" and kind == "S" and array.dtype.itemsize == 1:
        return array.view(np.uint8)
    raise WireError(f"expected {primitive.name} values, got {_describe(value, array)}")


def _describe(value: Any, array: np.ndarray) -> str:
    """Describe an invalid value in an error message: its type and content, or the dtype of its elements."""
    if array.dtype.kind in "OUS" and not isinstance(value, np.ndarray):
        return shown(value)
    return f"{array.dtype} values"


def _fields_of(kind: Struct, value: Any) -> list[Any]:
    """Return the values of a struct's fields in wire order; _MISSING for fields that a mapping omits."""
    if isinstance(value, Mapping):
        found = [value.get(name, _MISSING) for name, _, _ in kind.fields]
        if sum(field is not _MISSING for field in found) != len(value):
            names = [name for name, _, _ in kind.fields]
            unknown = next(str(name) for name in value if name not in names)
            raise WireError(f"{kind.name} has no field {unknown!r}{suggest(unknown, names)}")
        return found
    if value is None or isinstance(
        value, str | bytes | bool | int | float | list | tuple | np.ndarray | np.generic
    ):
        raise WireError(f"expected {kind.name} as a mapping or message, got {shown(value)}")
    try:
        return [getattr(value, name) for name, _, _ in kind.fields]
    except AttributeError as error:
        raise WireError(
            f"expected {kind.name}, got {type(value).__name__} without all of its fields: {error}"
        ) from error


# --- templates --------------------------------------------------------------------------------------------


class Placeholder:
    """A field of a message template that is filled in for each message.

    A column is an index into the columns of the arrays ``keys`` (n, k) or ``values`` (n, v) that are passed
    to ``MessageTemplate.fill``. Inside a :class:`Repeat`, each element of the sequence uses its own row of
    these arrays. Outside of it, the first row is used.
    """


@dataclass(frozen=True)
class Stamp(Placeholder):
    """The stamp of the message, from the argument ``stamp`` of ``MessageTemplate.fill``."""


STAMP = Stamp()


@dataclass(frozen=True)
class IntColumn(Placeholder):
    """An integer or boolean from a column of ``keys``, truncated to the size of the field."""

    column: int


@dataclass(frozen=True)
class Value(Placeholder):
    """A real number, or an array or struct of real numbers, from consecutive columns of ``values``.

    ``column`` is the first of these columns.
    """

    column: int


@dataclass(frozen=True)
class Lookup(Placeholder):
    """One of several constant values of any type, selected by an index in a column of ``keys``.

    Negative indices count from the end: -1 is the last value.
    """

    column: int
    values: List[Any]


@dataclass(frozen=True)
class RowRange(Placeholder):
    """A sequence of float64, or of structs of float64, copied from consecutive rows of ``points``.

    Attributes:
        begin: Column of ``keys`` that contains the index of the first row.
        count: Column of ``keys`` that contains the number of rows.
    """

    begin: int
    count: int


@dataclass(frozen=True)
class Payload(Placeholder):
    """A sequence of numbers, or of structs of one numeric type, copied from ``fill(data=...)``.

    A payload must not be inside a Repeat.
    """


@dataclass(frozen=True)
class Repeat(Placeholder):
    """A sequence of structs, one for each row of ``keys`` and ``values``.

    A template can have only one Repeat.
    """

    fields: Mapping[str, Any]


_NO_KEYS, _NO_VALUES, _NO_POINTS = np.zeros((1, 0), np.int32), np.zeros((1, 0)), np.zeros((0, 0))


class MessageTemplate:
    """A message type with constant values and placeholders for its fields.

    Omitted fields have their ROS defaults. A list whose elements contain placeholders is a sequence of
    constant length.
    """

    def __init__(self, kind: Struct, fields: Mapping[str, Any]) -> None:
        self._name = kind.name
        try:
            compiled = _Assembler(kind, fields)
        except WireError as error:
            error.message_type = kind.name
            raise
        self._steps, self._paths, self._payloads = compiled.operations, compiled.paths, compiled.payloads
        self._core = _core.WireTemplate(
            np.array(compiled.operations, np.int64),
            bytes(compiled.pieces),
            np.array(compiled.spans, np.int64).reshape(-1, 2),
        )

    def fill(
        self,
        stamp: int = 0,
        keys: np.ndarray = _NO_KEYS,
        values: np.ndarray = _NO_VALUES,
        points: np.ndarray = _NO_POINTS,
        data: np.ndarray | tuple[np.ndarray, ...] = (),
    ) -> bytes:
        """Fill in the placeholders and return the encoded message.

        Arrays must be C-contiguous. Values are not range-checked.

        Args:
            stamp: Stamp of the message [ns].
            keys: Integers (n, k) int32, one row per element of the Repeat, or one row without a Repeat.
            values: Real numbers (n, v) float64, with rows as in ``keys``.
            points: Rows (m, w) float64, from which each RowRange copies a range. Each row can be used only
                once.
            data: Content of the Payload, with the dtype of its field. For several Payloads, a tuple of their
                contents in the order of the fields.
        """
        payloads = data if isinstance(data, tuple) else (data,)
        if len(payloads) != self._payloads:
            raise WireError(
                f"data: must have {self._payloads} arrays in a tuple, got {len(payloads)}", "", self._name
            )
        message = self._core.fill(stamp, keys, values, points, *payloads)
        if isinstance(message, tuple):
            self._raise(*message, keys, values, points)
        return message

    def reserve(self, stamp: int, size: int) -> tuple[bytes, np.ndarray]:
        """Encode a message whose Payload the caller writes, which is faster than copying a large array.

        The message must have one Payload and no other placeholders than the stamp.

        Args:
            stamp: Stamp of the message [ns].
            size: Size of the Payload [bytes].

        Returns:
            The message, and a view (size,) uint8 of its Payload, which the caller must fill before it passes
            the message on. The view starts at a multiple of 4 bytes.
        """
        if self._payloads != 1 or any(self._steps[0][1:]):
            raise WireError("reserve: must have one Payload and otherwise only stamps", "", self._name)
        return self._core.reserve(stamp, size)

    def _raise(
        self, row: int, operation: int, keys: np.ndarray, values: np.ndarray, points: np.ndarray
    ) -> NoReturn:
        """Raise a WireError that explains why an operation failed at a row."""
        code, a, b, c = self._steps[operation]
        if code == WireStep.PIECE:
            reason = f"keys[{row}, {a}] must be from {-c} to {c - 1}, got {keys[row, a]}"
        elif code == WireStep.ROWS:
            reason = (
                f"keys[{row}] requests {keys[row, b]} rows of {c} numbers from row {keys[row, a]} on, got"
                f" points of shape {points.shape}; each row can be used only once"
            )
        else:
            reason = (
                f"requires {a} columns of keys and {b} of values with the same number of rows, at least {c};"
                f" got keys of shape {keys.shape} and values of shape {values.shape}"
            )
        raise WireError(reason, self._paths[operation], self._name)


class _Assembler:
    """Compiles a message template into a list of operations and constant pieces.

    Attributes:
        operations: Code and three operands of each operation, see core/include/tactile/cdr.h.
        paths: Path of the first field that each operation writes, for error messages.
        pieces: Bytes of all constant pieces (encoded constant fields), concatenated.
        spans: Start and end of each span in ``pieces``. A piece has eight spans, one for each start offset
            modulo 8.
        payloads: Number of ``Payload`` placeholders.
    """

    def __init__(self, kind: Struct, fields: Mapping[str, Any]) -> None:
        self.operations: list[list[int]] = []
        self.paths: list[str] = []
        self.pieces = bytearray()
        self.spans: list[tuple[int, int]] = []
        self.payloads = 0
        self._known: dict[bytes, tuple[int, int]] = {}
        self._fixed: list[tuple[str, Any, Any, Any]] = []
        """Paths, types, defaults and values of the constant fields since the last placeholder."""
        self._keys = self._values = 0
        """Minimum number of columns of the arrays ``keys`` and ``values`` in `MessageTemplate.fill`."""
        self._in_repeat = self._has_repeat = False
        self._least_rows = 0

        self._add(WireStep.CHECK, "")
        self._read(kind, fields, "")
        self._close()
        self.operations[0] = [WireStep.CHECK, self._keys, self._values, self._least_rows]

    def _read(self, kind: Struct, fields: Any, path: str) -> None:
        try:
            values = _fields_of(kind, fields)
        except WireError as error:
            raise error.inside(path) from None
        for (name, inner, default), value in zip(kind.fields, values, strict=True):
            self._read_value(inner, default, value, f"{path}.{name}" if path else name)

    def _read_value(self, kind: Any, default: Any, value: Any, path: str) -> None:
        if isinstance(value, Placeholder):
            self._close()
            self._add_placeholder(kind, default, value, path)
        elif isinstance(value, Mapping) and isinstance(kind, Struct):
            self._read(kind, value, path)
        elif isinstance(value, list) and _has_placeholders(value) and isinstance(kind, Sequence):
            self._fixed.append((path, PRIMITIVES["uint32"], 0, len(value)))
            for index, element in enumerate(value):
                self._read_value(kind.element, None, element, f"{path}[{index}]")
        else:
            self._fixed.append((path, kind, default, value))

    def _add_placeholder(self, kind: Any, default: Any, placeholder: Placeholder, path: str) -> None:
        match placeholder:
            case Stamp():
                _require(isinstance(kind, Struct) and kind.name in TIME_TYPES, placeholder, "a time", path)
                self._add(WireStep.STAMP, path)
            case IntColumn(column):
                one = kind.uniform is not None and kind.shape == () and kind.uniform.dtype.kind in "iub"
                _require(one, placeholder, "an integer or boolean", path)
                self._use_keys(path, column)
                size = kind.uniform.dtype.itemsize
                self._add(WireStep.INT, path, column, size)
            case Value(column):
                _require(_is_real(kind), placeholder, "a real number, or an array or struct of these", path)
                self._add_value(kind, column, path)
            case Lookup(column, values):
                self._use_keys(path, column)
                self._add_lookup(kind, column, values, path)
            case RowRange(begin, count):
                element = _element(kind, placeholder, path)
                fits = _is_real(element) and element.uniform.dtype.itemsize == 8
                _require(fits, placeholder, "a sequence of float64 or of structs of float64", path)
                self._use_keys(path, begin, count)
                self._add(WireStep.ROWS, path, begin, count, element.width)
            case Payload():
                element = _element(kind, placeholder, path)
                uniform = element.uniform is not None
                _require(uniform, placeholder, "a sequence of numbers or structs of one type", path)
                if self._in_repeat:
                    raise WireError("a Payload must be outside Repeat", path)
                size = element.uniform.dtype.itemsize
                self._add(WireStep.PAYLOAD, path, size, size * element.width, self.payloads)
                self.payloads += 1
            case Repeat(fields):
                element = _element(kind, placeholder, path)
                _require(isinstance(element, Struct), placeholder, "a sequence of structs", path)
                self._add_repeat(element, fields, path)

    def _add_value(self, kind: Any, column: int, path: str) -> None:
        self._use_columns(path, column)
        self._values = max(self._values, column + kind.width)
        size = kind.uniform.dtype.itemsize
        code = WireStep.DOUBLES if size == 8 else WireStep.SINGLES
        before = self.operations[-1]
        if before[0] == code and before[1] + before[2] == column:
            # This field continues the previous one, both in the message and in the values.
            before[2] += kind.width
        else:
            self._add(code, path, column, kind.width)

    def _add_lookup(self, kind: Any, column: int, values: Any, path: str) -> None:
        first = len(self.spans)
        for index, value in enumerate(values):
            try:
                self._add_piece([(path, kind, None, value)])
            except WireError as error:
                error.reason = f"value {index} of the Lookup: {error.reason}"
                raise
        self._add(WireStep.PIECE, path, column, first, len(values))

    def _add_repeat(self, element: Struct, fields: Mapping[str, Any], path: str) -> None:
        if self._has_repeat:
            raise WireError("a template can have only one Repeat, and a Repeat cannot be nested", path)
        self._has_repeat = True
        self._add(WireStep.REPEAT, path)
        start = len(self.operations)
        self._in_repeat = True
        self._read(element, fields, path)
        self._close()
        self._in_repeat = False
        self._add(WireStep.NEXT, path, start)
        self.operations[start - 1][1] = len(self.operations)

    def _close(self) -> None:
        """Add the constant fields since the last placeholder as one piece."""
        if self._fixed:
            first = len(self.spans)
            self._add_piece(self._fixed)
            self._add(WireStep.PIECE, self._fixed[0][0], -1, first, 1)
            self._fixed = []

    def _add_piece(self, fields: List[tuple[str, Any, Any, Any]]) -> None:
        """Add consecutive fields as a piece, encoded once for each start offset modulo 8."""
        for offset in range(8):
            writer = _Writer(offset)
            for path, kind, default, value in fields:
                try:
                    writer.write(kind, value, default)
                except WireError as error:
                    raise error.inside(path) from None
            piece = b"".join(writer.pieces)
            if piece not in self._known:
                self._known[piece] = (len(self.pieces), len(self.pieces) + len(piece))
                self.pieces += piece
            self.spans.append(self._known[piece])

    def _add(self, code: int, path: str, a: int = 0, b: int = 0, c: int = 0) -> None:
        self.operations.append([code, a, b, c])
        self.paths.append(path)

    def _use_keys(self, path: str, *columns: int) -> None:
        self._use_columns(path, *columns)
        self._keys = max(self._keys, *(column + 1 for column in columns))

    def _use_columns(self, path: str, *columns: int) -> None:
        for column in columns:
            if column < 0:
                raise WireError(f"column must be >= 0, got {column}", path)
        if not self._in_repeat:
            self._least_rows = 1


def _has_placeholders(value: Any) -> bool:
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return isinstance(value, Placeholder) or any(map(_has_placeholders, inside))


def _require(fits: bool, placeholder: Placeholder, wanted: str, path: str) -> None:
    """Check that a field has the type that a placeholder requires."""
    if not fits:
        raise WireError(f"{type(placeholder).__name__} requires {wanted}; this field has another type", path)


def _is_real(kind: Any) -> bool:
    return kind.uniform is not None and kind.uniform.dtype.kind == "f"


def _element(kind: Any, placeholder: Placeholder, path: str) -> Any:
    """Return the element type of an unbounded sequence."""
    _require(isinstance(kind, Sequence), placeholder, "a sequence", path)
    if kind.bound is not None:
        name = type(placeholder).__name__
        raise WireError(f"{name} requires an unbounded sequence, got one of at most {kind.bound}", path)
    return kind.element

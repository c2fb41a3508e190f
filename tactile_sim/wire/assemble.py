"""Compile a message type, with constants and placeholders for its fields, into an encoding program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tactile_sim._core import WireStep
from tactile_sim.wire.encode import Encoder
from tactile_sim.wire.placeholders import (
    IntColumn,
    Lookup,
    Payload,
    Placeholder,
    Repeat,
    RowRange,
    Stamp,
    Value,
)
from tactile_sim.wire.types import PRIMITIVES, TIME_TYPES, Sequence, Struct, WireError
from tactile_sim.wire.values import fields_of


class Assembler:
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
        self._fixed: list[tuple[str, Encoder, Any]] = []
        """Paths, encoders and values of the constant fields since the last placeholder."""
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
            values = fields_of(kind, fields)
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
            self._fixed.append((path, Encoder(PRIMITIVES["uint32"], 0), len(value)))
            for index, element in enumerate(value):
                self._read_value(kind.element, None, element, f"{path}[{index}]")
        else:
            self._fixed.append((path, Encoder(kind, default), value))

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
                self._add_lookup(Encoder(kind, default), column, values, path)
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

    def _add_lookup(self, encoder: Encoder, column: int, values: Any, path: str) -> None:
        first = len(self.spans)
        for index, value in enumerate(values):
            try:
                self._add_piece([(path, encoder, value)])
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

    def _add_piece(self, fields: list[tuple[str, Encoder, Any]]) -> None:
        """Add consecutive fields as a piece, encoded once for each start offset modulo 8."""
        for offset in range(8):
            parts: list[Any] = []
            position = offset
            for path, encoder, value in fields:
                try:
                    position = encoder.write(parts, position, value)
                except WireError as error:
                    raise error.inside(path) from None
            piece = b"".join(parts)
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
    """Check that a field has the type that a placeholder requires.

    Raises:
        WireError: The field has another type.
    """
    if not fits:
        raise WireError(f"{type(placeholder).__name__} requires {wanted}; this field has another type", path)


def _is_real(kind: Any) -> bool:
    return kind.uniform is not None and kind.uniform.dtype.kind == "f"


def _element(kind: Any, placeholder: Placeholder, path: str) -> Any:
    """Return the element type of an unbounded sequence.

    Raises:
        WireError: The field is not an unbounded sequence.
    """
    _require(isinstance(kind, Sequence), placeholder, "a sequence", path)
    if kind.bound is not None:
        name = type(placeholder).__name__
        raise WireError(f"{name} requires an unbounded sequence, got one of at most {kind.bound}", path)
    return kind.element

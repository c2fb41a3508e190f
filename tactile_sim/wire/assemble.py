"""From a message type with blanks to the program that fills it in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tactile_sim.wire.blanks import Blank, Each, Key, Pick, Slice, Stamp, Value, Whole
from tactile_sim.wire.encode import Encoder
from tactile_sim.wire.program import DOUBLES, EACH, KEY, NEEDS, NEXT, PIECE, SINGLES, SLICE, STAMP, WHOLE
from tactile_sim.wire.types import PRIMITIVES, TIME_TYPES, Sequence, Struct, WireError
from tactile_sim.wire.values import fields_of


class Assembler:
    """What a form is made of.

    operations: rows of four numbers as :mod:`tactile_sim.wire.program` has them, with the ``paths`` of their
    fields. pieces: bytes; spans: pairs of places in them. room, row_room: the most bytes that a message takes
    without what is given as points and data, and what each row adds to it.
    """

    def __init__(self, kind: Struct, fields: Mapping[str, Any]) -> None:
        self.operations: list[list[int]] = []
        self.paths: list[str] = []
        self.pieces = bytearray()
        self.spans: list[tuple[int, int]] = []
        self.room = self.row_room = 0
        self.has_whole = False
        self._known: dict[bytes, tuple[int, int]] = {}
        self._fixed: list[tuple[str, Encoder, Any]] = []
        """Paths, encoders and values of the fields since the last blank."""
        self._keys = self._values = 0
        """How many columns are in use."""
        self._in_each = self._has_each = False
        self._least_rows = 0

        self._add(NEEDS, "")
        self._read(kind, fields, "")
        self._close()
        self.operations[0] = [NEEDS, self._keys, self._values, self._least_rows]

    def _read(self, kind: Struct, fields: Any, path: str) -> None:
        try:
            values = fields_of(kind, fields)
        except WireError as error:
            raise error.inside(path) from None
        for (name, inner, default), value in zip(kind.fields, values, strict=True):
            self._read_value(inner, default, value, f"{path}.{name}" if path else name)

    def _read_value(self, kind: Any, default: Any, value: Any, path: str) -> None:
        if isinstance(value, Blank):
            self._close()
            self._leave(kind, default, value, path)
        elif isinstance(value, Mapping) and isinstance(kind, Struct):
            self._read(kind, value, path)
        elif isinstance(value, list) and _has_blanks(value) and isinstance(kind, Sequence):
            self._fixed.append((path, Encoder(PRIMITIVES["uint32"], 0), len(value)))
            for index, element in enumerate(value):
                self._read_value(kind.element, None, element, f"{path}[{index}]")
        else:
            self._fixed.append((path, Encoder(kind, default), value))

    def _leave(self, kind: Any, default: Any, blank: Blank, path: str) -> None:
        match blank:
            case Stamp():
                _require(isinstance(kind, Struct) and kind.name in TIME_TYPES, blank, "a time", path)
                self._add(STAMP, path, most=11)
            case Key(column):
                one = kind.uniform is not None and kind.shape == () and kind.uniform.dtype.kind in "iub"
                _require(one, blank, "an integer or boolean", path)
                self._use_keys(path, column)
                size = kind.uniform.dtype.itemsize
                self._add(KEY, path, column, size, most=2 * size)
            case Value(column):
                _require(_is_real(kind), blank, "a real number, an array or a struct of such", path)
                self._leave_value(kind, column, path)
            case Pick(column, things):
                self._use_keys(path, column)
                self._leave_pick(Encoder(kind, default), column, things, path)
            case Slice(begin, count):
                element = _element(kind, blank, path)
                fits = _is_real(element) and element.uniform.dtype.itemsize == 8
                _require(fits, blank, "a sequence of float64 or of structs of such", path)
                self._use_keys(path, begin, count)
                self._add(SLICE, path, begin, count, element.width, most=11)
            case Whole():
                element = _element(kind, blank, path)
                _require(element.uniform is not None, blank, "a sequence of (structs of) equal numbers", path)
                if self.has_whole or self._in_each:
                    raise WireError("a Whole stands outside an Each, and there is one in a form", path)
                self.has_whole = True
                size = element.uniform.dtype.itemsize
                self._add(WHOLE, path, size, size * element.width, most=18)
            case Each(fields):
                element = _element(kind, blank, path)
                _require(isinstance(element, Struct), blank, "a sequence of structs", path)
                self._leave_each(element, fields, path)

    def _leave_value(self, kind: Any, column: int, path: str) -> None:
        self._use_columns(path, column)
        self._values = max(self._values, column + kind.width)
        size = kind.uniform.dtype.itemsize
        code = DOUBLES if size == 8 else SINGLES
        before = self.operations[-1]
        if before[0] == code and before[1] + before[2] == column:
            # Goes on where the field before it ends, in the message and in the values.
            before[2] += kind.width
            self._take_room(size * kind.width)
        else:
            self._add(code, path, column, kind.width, most=size * (kind.width + 1))

    def _leave_pick(self, encoder: Encoder, column: int, things: Any, path: str) -> None:
        first, most = len(self.spans), 0
        for index, thing in enumerate(things):
            try:
                most = max(most, self._add_piece([(path, encoder, thing)]))
            except WireError as error:
                error.reason = f"thing {index} of its Pick: {error.reason}"
                raise
        self._add(PIECE, path, column, first, len(things), most=most)

    def _leave_each(self, element: Struct, fields: Mapping[str, Any], path: str) -> None:
        if self._has_each:
            raise WireError("there is one Each in a form, and none inside another", path)
        self._has_each = True
        self._add(EACH, path, most=7)
        start = len(self.operations)
        self._in_each = True
        self._read(element, fields, path)
        self._close()
        self._in_each = False
        self._add(NEXT, path, start)
        self.operations[start - 1][1] = len(self.operations)

    def _close(self) -> None:
        """Puts the fixed fields since the last blank into the program, as one piece."""
        if self._fixed:
            first = len(self.spans)
            most = self._add_piece(self._fixed)
            self._add(PIECE, self._fixed[0][0], -1, first, 1, most=most)
            self._fixed = []

    def _add_piece(self, fields: list[tuple[str, Encoder, Any]]) -> int:
        """Adds fields that follow each other, as they are at each offset; returns the most bytes of them."""
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
        return max(end - start for start, end in self.spans[-8:])

    def _add(self, code: int, path: str, a: int = 0, b: int = 0, c: int = 0, *, most: int = 0) -> None:
        self.operations.append([code, a, b, c])
        self.paths.append(path)
        self._take_room(most)

    def _take_room(self, size: int) -> None:
        if self._in_each:
            self.row_room += size
        else:
            self.room += size

    def _use_keys(self, path: str, *columns: int) -> None:
        self._use_columns(path, *columns)
        self._keys = max(self._keys, *(column + 1 for column in columns))

    def _use_columns(self, path: str, *columns: int) -> None:
        for column in columns:
            if column < 0:
                raise WireError(f"columns count from 0, got {column}", path)
        if not self._in_each:
            self._least_rows = 1


def _has_blanks(value: Any) -> bool:
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return isinstance(value, Blank) or any(map(_has_blanks, inside))


def _require(fits: bool, blank: Blank, wanted: str, path: str) -> None:
    """``wanted``: the type that a field must have for such a blank."""
    if not fits:
        raise WireError(f"{type(blank).__name__} is for {wanted}, which this field is not", path)


def _is_real(kind: Any) -> bool:
    return kind.uniform is not None and kind.uniform.dtype.kind == "f"


def _element(kind: Any, blank: Blank, path: str) -> Any:
    """The type of the elements of a field that must be a sequence."""
    _require(isinstance(kind, Sequence), blank, "a sequence", path)
    if kind.bound is not None:
        raise WireError(f"holds {kind.bound} elements at most, and a {type(blank).__name__} any number", path)
    return kind.element

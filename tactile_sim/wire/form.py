"""Messages of which all is known beforehand but some numbers: a form, made once and filled in by a kernel.

>>> form = Form(kind, {"header": {"stamp": STAMP, "frame_id": "world"},
...                    "contacts": Each({"body1": Pick(0, bodies), "position": Value(0), ...})})
>>> data = form.fill(stamp, keys, values)  # keys (n, k) int32, values (n, v) float64: a row an element

A form says nothing wrong and checks nothing while it is filled in: its maker answers for shapes and types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tactile_sim.wire.columns import MISSING, NANOSECONDS, fields_of
from tactile_sim.wire.encode import ENCAPSULATION, Encoder
from tactile_sim.wire.program import EACH, FIXED, KEY, PICK, SINGLES, SLICE, STAMPED, VALUES, WHOLE, run
from tactile_sim.wire.types import Struct

_NO_KEYS, _NO_VALUES = np.zeros((1, 0), np.int32), np.zeros((1, 0))
_NO_POINTS, _NO_DATA = np.zeros((0, 3)), np.zeros(0, np.uint8)


class Blank:
    """A place in a form that is left to be filled in."""


@dataclass(frozen=True)
class Stamp(Blank):
    """The time of the message."""


STAMP = Stamp()


@dataclass(frozen=True)
class Key(Blank):
    """An integer or boolean from this column of the keys."""

    column: int


@dataclass(frozen=True)
class Value(Blank):
    """A number or a row of numbers from this column of the values on."""

    column: int


@dataclass(frozen=True)
class Pick(Blank):
    """One of these things, by the number in this column of the keys; -1 is the last."""

    column: int
    things: Sequence[Any]


@dataclass(frozen=True)
class Slice(Blank):
    """A sequence of rows of float64 out of ``points``: where it begins and how many, from two columns."""

    begin: int
    count: int


@dataclass(frozen=True)
class Whole(Blank):
    """A sequence of numbers: ``data`` as it is. One a form."""


@dataclass(frozen=True)
class Each(Blank):
    """A sequence of structs, one for each row of keys and values. One a form, and not inside another."""

    fields: Mapping[str, Any]


class Form:
    """A message type with the values of its fields, blanks among them; what is left out has its default."""

    def __init__(self, kind: Struct, fields: Mapping[str, Any]) -> None:
        self._ops: list[list[int]] = []
        self._blobs: list[bytes] = []
        self._fixed: list[tuple[Any, Any, Any]] = []
        """Kinds, defaults and values of the fields since the last blank."""
        self._rows_from = self._rows_to = 0
        self._item = 1
        self._read(kind, fields)
        self._close()
        lengths = list(map(len, self._blobs))
        self._program = np.array(self._ops, np.int64).reshape(-1, 4)
        self._bytes = np.frombuffer(b"".join(self._blobs), np.uint8)
        self._starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        sizes = [self._most(*op) for op in self._ops]
        self._row_size = sum(sizes[self._rows_from : self._rows_to])
        self._rest_size = sum(sizes) - self._row_size
        self._out = np.empty(0)

    def fill(
        self,
        stamp: int = 0,
        keys: np.ndarray = _NO_KEYS,
        values: np.ndarray = _NO_VALUES,
        points: np.ndarray = _NO_POINTS,
        data: np.ndarray = _NO_DATA,
    ) -> bytes:
        """The message.

        stamp: [ns]. keys (n, k) int32, values (n, v) float64: a row for each element, one row where the form
        has no sequence. points (m, w) float64. data: an array of the type on the wire. All in C order.
        """
        size = len(keys) * self._row_size + self._rest_size + points.nbytes
        if size > self._out.nbytes:
            self._out = np.empty(size // 4)
        seconds, nanoseconds = divmod(stamp, NANOSECONDS)
        split, end = run(
            self._program, self._rows_from, self._rows_to, self._bytes, self._starts, seconds, nanoseconds,
            keys, values, points, data.nbytes, self._item, self._out,
        )  # fmt: skip
        made = memoryview(self._out).cast("B")
        if data is _NO_DATA:
            return b"".join((ENCAPSULATION, made[:end]))
        return b"".join((ENCAPSULATION, made[:split], data.data, made[split:end]))

    # -- making the program ----------------------------------------------------------------------------------

    def _read(self, kind: Struct, fields: Any) -> None:
        for (_, inner, default), value in zip(kind.fields, fields_of(kind, fields), strict=True):
            if isinstance(value, Blank):
                self._close()
                self._leave(inner, default, value)
            elif isinstance(value, Mapping) and isinstance(inner, Struct):
                self._read(inner, value)
            else:
                self._fixed.append((inner, default, value))

    def _leave(self, kind: Any, default: Any, blank: Blank) -> None:
        match blank:
            case Stamp():
                self._ops.append([STAMPED, 0, 0, 0])
            case Key(column):
                self._ops.append([KEY, column, kind.uniform.dtype.itemsize, 0])
            case Value(column):
                self._leave_value(column, kind)
            case Pick(column, things):
                size = kind.uniform.dtype.itemsize if kind.uniform else 4
                self._ops.append([PICK, column, self._blob_index(), size + 16 * len(things)])
                self._blobs += [_encoded([(kind, default, thing)], 0) for thing in things]
                # Where the last thing ends.
                self._blobs.append(b"")
            case Slice(begin, count):
                self._ops.append([SLICE, begin, count, 0])
            case Whole():
                self._item = kind.element.uniform.dtype.itemsize
                self._ops.append([WHOLE, 0, 0, 0])
            case Each(fields):
                self._ops.append([EACH, 0, 0, 0])
                self._rows_from = len(self._ops)
                self._read(kind.element, fields)
                self._close()
                self._rows_to = len(self._ops)

    def _leave_value(self, column: int, kind: Any) -> None:
        code = VALUES if kind.uniform.dtype.itemsize == 8 else SINGLES
        before = self._ops[-1] if len(self._ops) > self._rows_from else [FIXED, 0, 0, 0]
        if before[0] == code and before[1] + before[2] == column:
            before[2] += kind.width
        else:
            self._ops.append([code, column, kind.width, 0])

    def _close(self) -> None:
        """Puts the fixed fields since the last blank into the program: made for every offset modulo 8."""
        if self._fixed:
            self._ops.append([FIXED, self._blob_index(), 0, 0])
            self._blobs += [_encoded(self._fixed, offset) for offset in range(8)]
            self._blobs.append(b"")
            self._fixed = []

    def _blob_index(self) -> int:
        return len(self._blobs)

    def _most(self, code: int, a: int, b: int, c: int) -> int:
        """The most bytes that an operation writes, with the padding before it."""
        if code == FIXED:
            return max(map(len, self._blobs[a : a + 8]))
        if code == PICK:
            return max(map(len, self._blobs[b : b + c // 16]), default=0) + 7
        if code == SINGLES:
            return 4 * b + 7
        return 8 * max(b, 2) + 7


def _encoded(fields: Sequence[tuple[Any, Any, Any]], offset: int) -> bytes:
    """Fields one after another as they are behind an offset, with the padding before them."""
    kind = Struct("", tuple((f"f{k}", inner, default) for k, (inner, default, _) in enumerate(fields)))
    value = {f"f{k}": given for k, (*_, given) in enumerate(fields) if given is not MISSING}
    parts: list[Any] = []
    Encoder(kind).write(parts, offset, value)
    return b"".join(parts)

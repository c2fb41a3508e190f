"""CDR bytes to objects whose sequences are numpy arrays: no object per element.

- numbers, booleans and texts are Python's own; a ``byte`` is ``bytes`` of length one, as in rclpy;
- sequences and fixed arrays of numbers are read-only arrays, views into the message where it is aligned;
- a struct of equal numbers (Point, Quaternion, ColorRGBA, ...) is a row (k,), a sequence of them (n, k);
- other structs are :class:`Record`, sequences of them :class:`Columns`, with a field per attribute.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from tactile_sim.wire.encode import ENCAPSULATION
from tactile_sim.wire.layout import Run, segments
from tactile_sim.wire.types import Array, Primitive, Sequence, String, Struct, WireError

_unpack_count = struct.Struct("<I").unpack_from

Read = Callable[
    [memoryview, int], tuple[Any, int]
]  # payload and position -> value and the position behind it


class Record(SimpleNamespace):
    """One decoded struct: a field per attribute."""


class Columns(SimpleNamespace):
    """A sequence of decoded structs: an array, list or Columns per field, as long as the sequence.

    Fields are fast: ``m.transforms.child_frame_id``. Indices and iteration make a :class:`Record` for each
    struct, a slice makes Columns: ``for transform in m.transforms``.
    """

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def __getitem__(self, index: int | slice) -> Any:
        made = Columns if isinstance(index, slice) else Record
        return made(**{name: values[index] for name, values in vars(self).items()})

    def __iter__(self) -> Iterator[Record]:
        return (self[index] for index in range(len(self)))


class Decoder:
    """Reads values of one struct type."""

    def __init__(self, kind: Struct) -> None:
        self.kind = kind
        self.parts: list[Run | Read] = [
            part if isinstance(part, Run) else _reader(part.kind) for part in segments(kind)
        ]
        self.build = _builder(kind)
        self.build_columns = _column_builder(kind)

    def decode(self, data: bytes | memoryview) -> Any:
        """The value that ``data``, a whole message, holds."""
        if data[:2] != ENCAPSULATION[:2]:
            raise WireError(
                f"not a little-endian CDR message: begins with {bytes(data[:4])!r}", "", self.kind.name
            )
        try:
            return self.read(memoryview(data)[4:], 0)[0]
        except (struct.error, IndexError, ValueError) as error:
            raise WireError(
                f"{len(data)} bytes are not a message of this type: {error}", "", self.kind.name
            ) from None

    def read(self, data: memoryview, position: int) -> tuple[Any, int]:
        """One struct at ``position`` and the position behind it."""
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
        """A count and as many structs: an array or list per field."""
        count, position = _read_count(data, position)
        if len(self.parts) == 1 and isinstance(self.parts[0], Run):
            columns, position = _read_run_sequence(self.parts[0], data, position, count)
            return self.build_columns(iter(columns)), position
        gathered: list[list[Any]] = [[] for _ in self.parts]
        """Of each part where it begins, if it is a run, else its values."""
        for _ in range(count):
            for part, found in zip(self.parts, gathered, strict=True):
                if isinstance(part, Run):
                    found.append(position)
                    position += part.sizes[position & 7]
                else:
                    value, position = part(data, position)
                    found.append(value)
        if position > len(data):
            raise ValueError("it ends early")
        columns = []
        for part, found in zip(self.parts, gathered, strict=True):
            columns += _pick_runs(part, data, np.array(found, np.int64)) if isinstance(part, Run) else [found]
        return self.build_columns(iter(columns)), position


@cache
def decoder(kind: Struct) -> Decoder:
    """The compiled decoder of a struct type."""
    return Decoder(kind)


# --- reading ----------------------------------------------------------------------------------------------


def _read_count(data: memoryview, position: int) -> tuple[int, int]:
    position += -position & 3
    return _unpack_count(data, position)[0], position + 4


def _read_string(data: memoryview, position: int) -> tuple[str, int]:
    length, position = _read_count(data, position)
    end = position + length
    if end > len(data):
        raise ValueError("it ends early")
    return str(data[position : end - 1], "utf-8") if length else "", end


def _read_array(data: memoryview, position: int, dtype: np.dtype, count: int) -> tuple[np.ndarray, int]:
    """``count`` elements, aligned to their size, as a read-only array."""
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
    """Fixed structs behind each other: from the second on, all begin at the same offset modulo 8."""
    if count == 0:
        return _columns_of(np.zeros(0, run.dtypes[0])), position
    first = run.dtypes[position & 7]
    head = np.frombuffer(data, first, 1, position)
    position += first.itemsize
    behind = run.dtypes[position & 7]
    tail = np.frombuffer(data, behind, count - 1, position)
    position += behind.itemsize * (count - 1)
    if first == behind:
        return _columns_of(np.frombuffer(data, first, count, position - count * first.itemsize)), position
    columns = zip(_columns_of(head), _columns_of(tail), strict=True)
    return [np.concatenate(pair) for pair in columns], position


def _pick_runs(run: Run, data: memoryview, positions: np.ndarray) -> list[Any]:
    """The runs that begin at ``positions``, as one column per block."""
    every = np.frombuffer(data, np.uint8)
    columns = [np.empty((len(positions), *block.shape), block.primitive.dtype) for block in run.blocks]
    for start in np.unique(positions & 7):
        chosen = (positions & 7) == start
        rows = every[positions[chosen, None] + np.arange(run.sizes[start])]
        for column, values in zip(columns, _columns_of(rows.view(run.dtypes[start])[:, 0]), strict=True):
            column[chosen] = values
    return columns


def _columns_of(array: np.ndarray) -> list[Any]:
    return [array[name] for name in array.dtype.names or ()]


# --- building ---------------------------------------------------------------------------------------------


def is_row(kind: Any) -> bool:
    """Whether a struct is decoded as a row of numbers: equal primitives and nothing nested."""
    return isinstance(kind, Struct) and kind.uniform is not None and all(
        isinstance(inner, Primitive) for _, inner, _ in kind.fields
    ) and len(kind.fields) > 1  # fmt: skip


def _builder(kind: Any) -> Callable[[Iterator[Any]], Any]:
    """A function that takes the leaves of one value off an iterator and makes the value."""
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
    """The same for columns; inside a uniform struct the one column of numbers is shared out to the fields."""
    if not isinstance(kind, Struct) or is_row(kind):
        return next
    if kind.uniform is not None:
        return lambda columns: _share(kind, next(columns))
    fields = [(name, _column_builder(inner)) for name, inner, _ in kind.fields]
    return lambda columns: Columns(**{name: build(columns) for name, build in fields})


def _share(kind: Struct, block: np.ndarray) -> Columns:
    """The columns (n, width) of a uniform struct as its fields: views."""
    shared, start = {}, 0
    for name, inner, _ in kind.fields:
        stop = start + inner.width
        part = block[:, start] if isinstance(inner, Primitive) else block[:, start:stop]
        shared[name] = _share(inner, part) if isinstance(inner, Struct) and not is_row(inner) else part
        start = stop
    return Columns(**shared)

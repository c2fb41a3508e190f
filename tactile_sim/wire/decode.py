"""Decode CDR bytes into objects whose sequences are numpy arrays, without an object per element.

- Numbers, booleans and strings become Python objects; a ``byte`` becomes ``bytes`` of length 1, as in rclpy.
- Sequences of numbers become read-only arrays, which are views into the message. Fixed arrays of numbers also
  become arrays.
- A struct of numbers of one type (Point, Quaternion, ColorRGBA, ...) becomes a row (k,); a sequence of them
  becomes an array (n, k).
- Other structs become a :class:`Record`, and sequences of them become :class:`Columns`. Both have one
  attribute per field.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tactile_sim.wire.encode import ENCAPSULATION
from tactile_sim.wire.layout import Run, segments
from tactile_sim.wire.records import builder, column_builder, is_row
from tactile_sim.wire.types import Primitive, Sequence, String, Struct, WireError

_unpack_count = struct.Struct("<I").unpack_from

Read = Callable[[memoryview, int], tuple[Any, int]]  # payload and position -> value and the position after it


class Decoder:
    """Compiled decoder for a struct type."""

    def __init__(self, kind: Struct) -> None:
        self.kind = kind
        self.parts: list[Run | Read] = [
            part if isinstance(part, Run) else _reader(part.kind) for part in segments(kind)
        ]
        self.build = builder(kind)
        self.build_columns = column_builder(kind)

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
        """Read a sequence of structs, and return Columns and the position after the sequence.

        Args:
            data: The message without its encapsulation header.
            position: Offset in ``data`` at which the sequence begins [bytes].
        """
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

    Args:
        run: All fields of the struct.
        data: The message without its encapsulation header.
        position: Offset in ``data`` of the first struct, before its padding [bytes].
        count: Number of structs.

    Returns:
        One array (count, ...) per block of the run, and the position after the last struct.
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

    Args:
        run: The fields to read.
        data: The message without its encapsulation header.
        positions: Offset in ``data`` at which the run begins in each struct (n,) [bytes].

    Returns:
        One array (n, ...) per block of the run.
    """
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

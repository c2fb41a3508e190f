"""Messages to CDR bytes, straight from arrays. Compiled once per type; no ROS object per element."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

import numpy as np

from tactile_sim.wire.columns import Columns, gather, row_count
from tactile_sim.wire.elements import Rows, steps_of, write_variable
from tactile_sim.wire.flatten import putter
from tactile_sim.wire.layout import Run, Segment, leaves, segments
from tactile_sim.wire.pieces import Parts, Write, number_writer, write_count, write_string_sequence
from tactile_sim.wire.types import Primitive, Sequence, String, Struct, WireError, shown

ENCAPSULATION = b"\x00\x01\x00\x00"  # CDR version 1, little endian


class Encoder:
    """Writes values of one struct type."""

    def __init__(self, kind: Struct) -> None:
        self.kind = kind
        self.leaves = leaves(kind)
        self.paths = [leaf.path for leaf in self.leaves]
        self.put = putter(kind, None)
        self.parts: list[tuple[Segment, Write | None]] = [
            (segment, _sequence_writer(segment.sequence) if segment.sequence else None)
            for segment in segments(self.leaves)
        ]

    def encode(self, value: Any) -> bytes:
        """The whole message, with its encapsulation header."""
        parts: Parts = [ENCAPSULATION]
        self.write(parts, 0, value)
        return b"".join(parts)

    def write(self, parts: Parts, position: int, value: Any) -> int:
        """Append one struct behind ``position``; return the position behind it."""
        flat: list[Any] = []
        self.put(value, flat)
        for segment, write in self.parts:
            if segment.run is not None:
                start = position & 7
                try:
                    parts.append(segment.run.packers[start].pack(*flat[segment.start : segment.stop]))
                except (struct.error, OverflowError, TypeError):
                    _explain(segment.run, flat[segment.start : segment.stop])
                    raise
                position += segment.run.sizes[start]
            else:
                position = write_variable(parts, position, segment, write, flat[segment.start : segment.stop])
        return position

    def write_columns(self, parts: Parts, position: int, value: Columns) -> int:
        """Append a count and the elements that ``value`` holds as columns."""
        columns: list[Any] = []
        gather(self.kind, value, columns)
        count = row_count(columns, self.paths)
        position = write_count(parts, position, count)
        if count == 0:
            return position
        steps = steps_of(self.parts, columns, count)
        if len(steps) == 1 and isinstance(steps[0], Rows):
            return steps[0].write_all(parts, position)
        for index in range(count):
            for step in steps:
                position = step.write(parts, position, index)
        return position


@cache
def encoder(kind: Struct) -> Encoder:
    """The compiled encoder of a struct type."""
    return Encoder(kind)


def _explain(run: Run, values: list[Any]) -> None:
    """Raise the error that names the one of ``values`` that cannot be packed, and why."""
    index = 0
    for block in run.blocks:
        for value in values[index : index + block.width]:
            try:
                struct.pack("<" + block.primitive.code, value)
            except (struct.error, OverflowError, TypeError) as error:
                reason = f"expected {block.primitive.name}, got {shown(value)} ({error})"
                raise WireError(reason, block.path) from None
        index += block.width


def _sequence_writer(kind: Sequence) -> Write:
    write: Write
    if isinstance(kind.element, String):
        write = write_string_sequence
    elif isinstance(kind.element, Primitive):
        write = number_writer(kind.element, None)
    else:
        write = _struct_sequence_writer(kind.element)
    if kind.bound is None:
        return write
    limit = kind.bound

    def write_bounded(parts: Parts, position: int, value: Any) -> int:
        if hasattr(value, "__len__") and len(value) > limit:
            raise WireError(f"at most {limit} elements, got {len(value)}")
        return write(parts, position, value)

    return write_bounded


def _struct_sequence_writer(kind: Struct) -> Write:
    inner = encoder(kind)
    write_rows = number_writer(kind.uniform, kind) if kind.uniform else None

    def write(parts: Parts, position: int, value: Any) -> int:
        if isinstance(value, Columns):
            if write_rows is None:
                return inner.write_columns(parts, position, value)
            columns: list[Any] = []
            gather(kind, value, columns)
            row_count(columns, [""])
            return write_rows(parts, position, columns[0])
        if isinstance(value, np.ndarray) and write_rows is not None:
            return write_rows(parts, position, value)
        if not isinstance(value, list | tuple):
            given = shown(value)
            raise WireError(f"expected {kind.name} elements as a list, Columns or array, got {given}")
        position = write_count(parts, position, len(value))
        for index, element in enumerate(value):
            try:
                position = inner.write(parts, position, element)
            except WireError as error:
                raise error.inside(index) from None
        return position

    return write

"""Encode messages as CDR bytes directly from arrays, with encoders compiled once per type."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

import numpy as np

from tactile_sim.wire.flatten import putter
from tactile_sim.wire.layout import Run, segments
from tactile_sim.wire.pieces import (
    Parts,
    Write,
    number_writer,
    write_count,
    write_string,
    write_string_sequence,
)
from tactile_sim.wire.types import Primitive, Sequence, String, Struct, WireError, shown

ENCAPSULATION = b"\x00\x01\x00\x00"  # CDR version 1, little endian


class Encoder:
    """Compiled encoder for a struct type, or for one field and its default value."""

    def __init__(self, kind: Any, default: Any = None) -> None:
        self.put = putter(kind, default)
        self.parts: list[Run | tuple[str, Write]] = [
            part if isinstance(part, Run) else (part.path, _writer(part.kind)) for part in segments(kind)
        ]

    def encode(self, value: Any) -> bytes:
        """Encode a whole message with its encapsulation header.

        Args:
            value: A message, or a mapping of field names to values. A struct with fields of one numeric type,
                such as a Point, can also be given as an array or list of its numbers.

        Returns:
            The CDR bytes.

        Raises:
            WireError: A field does not exist or its value does not fit. The error names the field.
        """
        parts: Parts = [ENCAPSULATION]
        self.write(parts, 0, value)
        return b"".join(parts)

    def write(self, parts: Parts, position: int, value: Any) -> int:
        """Append the encoded value to ``parts`` and return the position after it.

        Args:
            parts: Encoded bytes of the message so far, as a list of pieces.
            position: Offset at which the value starts, without the encapsulation header [bytes].
            value: The value to encode.
        """
        flat: list[Any] = []
        self.put(value, flat)
        index = 0
        for part in self.parts:
            if isinstance(part, Run):
                values = flat[index : index + part.values]
                try:
                    parts.append(part.packers[position & 7].pack(*values))
                except (struct.error, OverflowError, TypeError):
                    _explain(part, values)
                    raise
                position += part.sizes[position & 7]
                index += part.values
            else:
                path, write = part
                try:
                    position = write(parts, position, flat[index])
                except WireError as error:
                    raise error.inside(path) from None
                index += 1
        return position


@cache
def encoder(kind: Struct) -> Encoder:
    """Return the compiled encoder for a struct type."""
    return Encoder(kind)


def _explain(run: Run, values: list[Any]) -> None:
    """Raise a WireError that names the first of ``values`` that cannot be packed, and the reason."""
    index = 0
    for block in run.blocks:
        for value in values[index : index + block.width]:
            try:
                struct.pack("<" + block.primitive.code, value)
            except (struct.error, OverflowError, TypeError) as error:
                reason = f"expected {block.primitive.name}, got {shown(value)} ({error})"
                raise WireError(reason, block.path) from None
        index += block.width


def _writer(kind: String | Sequence) -> Write:
    write: Write
    if isinstance(kind, String):
        return write_string
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
            raise WireError(f"must have at most {limit} elements, got {len(value)}")
        return write(parts, position, value)

    return write_bounded


def _struct_sequence_writer(kind: Struct) -> Write:
    inner = encoder(kind)
    write_rows = number_writer(kind.uniform, kind) if kind.uniform else None

    def write(parts: Parts, position: int, value: Any) -> int:
        if isinstance(value, np.ndarray) and write_rows is not None:
            return write_rows(parts, position, value)
        if not isinstance(value, list | tuple):
            wanted = f"a list or an (n, {kind.width}) array" if write_rows else "a list"
            raise WireError(f"expected {kind.name} elements as {wanted}, got {shown(value)}")
        position = write_count(parts, position, len(value))
        for index, element in enumerate(value):
            try:
                position = inner.write(parts, position, element)
            except WireError as error:
                raise error.inside(index) from None
        return position

    return write

"""Write the element counts, strings and numbers in a CDR message."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from tactile_sim.wire.types import Primitive, Struct, WireError, shown
from tactile_sim.wire.values import numbers

Parts = list[Any]  # bytes and arrays, joined at the end
Write = Callable[[Parts, int, Any], int]  # parts, position and value -> the position after the value

_PADDING = [bytes(n) for n in range(8)]
_pack_count = struct.Struct("<I").pack


def write_count(parts: Parts, position: int, count: int) -> int:
    """Append the element count of a sequence and return the position after it.

    Args:
        parts: Encoded bytes of the message so far, as a list of pieces.
        position: Current offset without the encapsulation header [bytes].
        count: Number of elements.
    """
    padding = -position & 3
    parts.append(_PADDING[padding] + _pack_count(count))
    return position + padding + 4


def write_string(parts: Parts, position: int, text: Any) -> int:
    """Append a string and return the position after it.

    A string is encoded as an aligned length, UTF-8 bytes and a zero byte that counts towards the length.

    Args:
        parts: Encoded bytes of the message so far, as a list of pieces.
        position: Current offset without the encapsulation header [bytes].
        text: The string.
    """
    if not isinstance(text, str):
        raise WireError(f"expected a string, got {shown(text)}")
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise WireError(f"must be valid UTF-8: {error}") from None
    position = write_count(parts, position, len(data) + 1)
    parts.append(data + b"\0")
    return position + len(data) + 1


def write_string_sequence(parts: Parts, position: int, value: Any) -> int:
    """Append a sequence of strings and return the position after it.

    Args:
        parts: Encoded bytes of the message so far, as a list of pieces.
        position: Current offset without the encapsulation header [bytes].
        value: List, tuple or array of strings.
    """
    if isinstance(value, str) or not isinstance(value, list | tuple | np.ndarray):
        raise WireError(f"expected a list of strings, got {shown(value)}")
    position = write_count(parts, position, len(value))
    for index, text in enumerate(value):
        try:
            position = write_string(parts, position, text)
        except WireError as error:
            raise error.inside(index) from None
    return position


def number_writer(primitive: Primitive, rows: Struct | None) -> Write:
    """Return a function that writes a sequence of numbers, or of structs with a single numeric type.

    Args:
        primitive: Type of the numbers.
        rows: Type of the structs, or None for numbers. n structs are given as an array (n, width). Numbers
            are given as an array of any shape, which is written in C order.
    """
    item = primitive.dtype.itemsize

    def write(parts: Parts, position: int, value: Any) -> int:
        array = numbers(primitive, value)
        if array.ndim == 0:
            raise WireError(f"expected {primitive.name} values, got {shown(value)}")
        array = np.ascontiguousarray(array)
        if rows is None:
            count = array.size
        else:
            if array.size and (array.ndim != 2 or array.shape[1] != rows.width):
                raise WireError(f"expected {rows.name} values of shape (n, {rows.width}), got {array.shape}")
            count = array.shape[0] if array.size else 0
        position = write_count(parts, position, count)
        if count:
            padding = -position & (item - 1)
            if padding:
                parts.append(_PADDING[padding])
            parts.append(array)
            position += padding + array.nbytes
        return position

    return write

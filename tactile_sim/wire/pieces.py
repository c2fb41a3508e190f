"""The pieces of a CDR message: counts, strings and runs of numbers, appended to a list of parts."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from tactile_sim.wire.columns import numbers
from tactile_sim.wire.types import Primitive, Struct, WireError, shown

Parts = list[Any]  # bytes and arrays, joined at the end
Write = Callable[[Parts, int, Any], int]  # parts, position and value -> the position behind it

_PADDING = [bytes(n) for n in range(8)]
_CACHED_CHARACTERS = 512  # longer texts are rarely met twice, and would only fill the cache
_pack_count = struct.Struct("<I").pack


def write_count(parts: Parts, position: int, count: int) -> int:
    """Append the number of elements of a sequence."""
    padding = -position & 3
    parts.append(_PADDING[padding] + _pack_count(count))
    return position + padding + 4


def _join_strings(texts: tuple[str, ...], offset: int) -> bytes:
    """Neighbouring strings behind ``offset`` (mod 4): an aligned length, UTF-8, a zero that counts."""
    made = bytearray()
    for text in texts:
        data = text.encode()
        made += _PADDING[-(offset + len(made)) & 3] + _pack_count(len(data) + 1) + data + b"\0"
    return bytes(made)


_cached_strings = lru_cache(maxsize=16384)(_join_strings)


def joiner(longest: int) -> Callable[[tuple[str, ...], int], bytes]:
    """How to join neighbouring strings of up to ``longest`` characters in all: short ones are remembered."""
    return _cached_strings if longest <= _CACHED_CHARACTERS else _join_strings


def write_strings(parts: Parts, position: int, texts: tuple[str, ...], paths: tuple[str, ...] = ()) -> int:
    """Append neighbouring strings; ``paths`` names them in an error."""
    try:
        data = joiner(sum(map(len, texts)))(texts, position & 3)
    except (AttributeError, TypeError, UnicodeEncodeError):
        check_strings(texts, paths)
        raise
    parts.append(data)
    return position + len(data)


def check_strings(texts: tuple[Any, ...], paths: tuple[str, ...]) -> None:
    """Raise the error that names the first one that is not a text."""
    for index, text in enumerate(texts):
        place = paths[index] if paths else f"[{index}]"
        if not isinstance(text, str):
            raise WireError(f"expected a string, got {shown(text)}", place)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise WireError(f"not a text that UTF-8 can hold: {error}", place) from None


def write_string_sequence(parts: Parts, position: int, value: Any) -> int:
    """Append a count and as many strings."""
    if isinstance(value, str) or not isinstance(value, list | tuple | np.ndarray):
        raise WireError(f"expected a list of strings, got {shown(value)}")
    position = write_count(parts, position, len(value))
    return write_strings(parts, position, tuple(value)) if len(value) else position


def number_writer(primitive: Primitive, rows: Struct | None) -> Write:
    """For a sequence of primitives of any shape in C order, or of uniform structs as an (n, width) array."""
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

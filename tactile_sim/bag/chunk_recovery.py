"""Find chunks in a damaged MCAP file by their headers."""

from __future__ import annotations

import struct
from typing import BinaryIO

from mcap.opcode import Opcode

_FIELDS = struct.Struct("<BQQQQII")
"""Header of a chunk record: opcode, length, first and last log time, uncompressed size, checksum, and length
of the compression's name."""
_SIZE = struct.Struct("<Q")
_COMPRESSIONS = (b"", b"lz4", b"zstd")
CHUNK_HEAD = _FIELDS.size + max(map(len, _COMPRESSIONS)) + _SIZE.size
"""Largest size of a chunk's header [bytes]."""
_WINDOW = 1 << 20
"""Number of bytes that are searched at a time."""


def chunk_size(head: bytes) -> int:
    """Return the size of a chunk including its header [bytes], or 0 if the header is inconsistent."""
    if len(head) < _FIELDS.size:
        return 0
    _, length, start, end, unpacked, _, letters = _FIELDS.unpack_from(head)
    name = head[_FIELDS.size : _FIELDS.size + letters] if letters <= 4 else None
    if name not in _COMPRESSIONS or len(head) < _FIELDS.size + letters + _SIZE.size:
        return 0
    [packed] = _SIZE.unpack_from(head, _FIELDS.size + letters)
    whole = _FIELDS.size + letters + _SIZE.size + packed
    agree = whole == 9 + length and start <= end and packed > 0 and (name or packed == unpacked)
    return int(whole) if agree else 0


def next_chunk(file: BinaryIO, place: int, size: int) -> int:
    """Return the offset of the next complete chunk, or ``size`` if there is none.

    Args:
        file: MCAP file, open for reading.
        place: Offset at which the search starts [bytes].
        size: Offset at which the search ends, such as the size of the file [bytes].
    """
    mark = bytes([Opcode.CHUNK])
    while place < size:
        file.seek(place)
        window = file.read(_WINDOW + CHUNK_HEAD)
        found = window.find(mark, 0, _WINDOW)
        while found >= 0:
            chunk = chunk_size(window[found : found + CHUNK_HEAD])
            if 0 < chunk <= size - place - found:
                return place + found
            found = window.find(mark, found + 1, _WINDOW)
        place += _WINDOW
    return size


def last_place(file: BinaryIO, mark: bytes, size: int) -> int:
    """Return the offset of the last occurrence of ``mark`` in a file, or ``size`` if there is none.

    Args:
        file: File to search, open for reading.
        mark: Bytes to find.
        size: Size of the file [bytes].
    """
    place = size
    while place > 0:
        place = max(0, place - _WINDOW)
        file.seek(place)
        found = file.read(_WINDOW + len(mark) - 1).rfind(mark)
        if found >= 0:
            return place + found
    return size

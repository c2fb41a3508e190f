"""Parts of an MCAP file found by how they begin, where the records before them cannot be followed."""

from __future__ import annotations

import struct
from typing import BinaryIO

from mcap.opcode import Opcode

_FIELDS = struct.Struct("<BQQQQII")
"""What it is and how long, first and last log time, size unpacked, checksum, letters of its compression."""
_SIZE = struct.Struct("<Q")
_COMPRESSIONS = (b"", b"lz4", b"zstd")
CHUNK_HEAD = _FIELDS.size + max(map(len, _COMPRESSIONS)) + _SIZE.size
"""No head is longer [bytes]."""
_WINDOW = 1 << 20
"""So much is looked through at a time [bytes]."""


def chunk_size(head: bytes) -> int:
    """The size of the chunk that begins with these bytes, all of it; 0 where they contradict each other.

    The opcode is not looked at.
    """
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
    """Where the next chunk begins that is all within the file; ``size``, that of the file, if none does."""
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
    """Where some bytes are for the last time; ``size``, that of the file, if nowhere."""
    place = size
    while place > 0:
        place = max(0, place - _WINDOW)
        file.seek(place)
        found = file.read(_WINDOW + len(mark) - 1).rfind(mark)
        if found >= 0:
            return place + found
    return size

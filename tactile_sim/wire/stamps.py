"""Read the stamp of an encoded message without decoding the rest."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

import numpy as np

from tactile_sim.wire.types import NANOSECONDS, Sequence, Struct

_STAMPED = ("std_msgs/msg/Header", "rosgraph_msgs/msg/Clock")  # both begin with their time
_unpack_count = struct.Struct("<I").unpack_from
_unpack_time = struct.Struct("<iI").unpack_from


def stamp_of(kind: Struct, data: bytes | memoryview) -> int | None:
    """Return the stamp in the header with which a message begins.

    If the message begins with a sequence, such as a list of transforms, its first element has this header.
    The time in a Clock message counts as a stamp. Other times, such as those of log entries and events, may
    refer to another clock and are ignored.

    Returns:
        The stamp [ns], or None if the message has no stamp.
    """
    counts = counts_before_stamp(kind)
    if counts is None:
        return None
    for level in range(counts):
        if _unpack_count(data, 4 + 4 * level)[0] == 0:
            return None
    return nanoseconds(*_unpack_time(data, 4 + 4 * counts))


def nanoseconds(sec: Any, nanosec: Any) -> Any:
    """Convert the seconds and nanoseconds of ROS times (ints or arrays) to integer nanoseconds."""
    if isinstance(sec, int):
        return sec * NANOSECONDS + nanosec
    # Decoded seconds have 32 bits; 3 s in nanoseconds do not fit into them.
    return np.asarray(sec, np.int64) * NANOSECONDS + np.asarray(nanosec, np.int64)


def _is_time(kind: Any) -> bool:
    """Return whether a type is a struct of int32 seconds and uint32 nanoseconds, like a ROS time."""
    fields = kind.fields if isinstance(kind, Struct) else ()
    return [getattr(inner, "code", "") for _, inner, _ in fields] == ["i", "I"]


@cache
def counts_before_stamp(kind: Any) -> int | None:
    """Return how many element counts of 4 bytes precede the stamp in messages of a type.

    There is one count for each sequence that contains the stamp. A TFMessage, for example, begins with a
    sequence of transforms.
    """
    counts = 0
    while isinstance(kind, Struct | Sequence):
        if isinstance(kind, Sequence):
            counts, kind = counts + 1, kind.element
        elif kind.name in _STAMPED:
            return counts if _is_time(kind.fields[0][1]) else None
        else:
            kind = kind.fields[0][1]
    return None

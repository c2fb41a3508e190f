"""The time in a message, found in its bytes without decoding the rest."""

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
    """The time [ns] in the header that a message begins with, its own or its first element's; else None.

    A clock's time counts too; other times (of a log entry, of an event) may be of another clock and do not.
    """
    counts = counts_before_stamp(kind)
    if counts is None:
        return None
    for level in range(counts):
        if _unpack_count(data, 4 + 4 * level)[0] == 0:
            return None
    return nanoseconds(*_unpack_time(data, 4 + 4 * counts))


def nanoseconds(sec: Any, nanosec: Any) -> Any:
    """Seconds and nanoseconds of a ROS time, numbers or arrays, as integer nanoseconds."""
    if isinstance(sec, int):
        return sec * NANOSECONDS + nanosec
    # Decoded seconds have 32 bits, which three seconds in nanoseconds do not fit into.
    return np.asarray(sec, np.int64) * NANOSECONDS + np.asarray(nanosec, np.int64)


def _is_time(kind: Any) -> bool:
    """Return whether a type is a ROS time. A bag may define any other type under the names of ours."""
    fields = kind.fields if isinstance(kind, Struct) else ()
    return [getattr(inner, "code", "") for _, inner, _ in fields] == ["i", "I"]


@cache
def counts_before_stamp(kind: Any) -> int | None:
    """How many sequence counts lie before the stamp with which a message of this type begins, if it does."""
    counts = 0
    while isinstance(kind, Struct | Sequence):
        if isinstance(kind, Sequence):
            counts, kind = counts + 1, kind.element
        elif kind.name in _STAMPED:
            return counts if _is_time(kind.fields[0][1]) else None
        else:
            kind = kind.fields[0][1]
    return None

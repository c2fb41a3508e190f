"""The time in a message, found in its bytes without decoding the rest."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

from tactile_sim.wire.columns import NANOSECONDS
from tactile_sim.wire.types import Sequence, Struct

_unpack_count = struct.Struct("<I").unpack_from
_unpack_time = struct.Struct("<iI").unpack_from


def stamp_of(kind: Struct, data: bytes | memoryview) -> int | None:
    """The time [ns] that a message begins with: its header's, its own, or its first element's; else None."""
    counts = _counts_before_stamp(kind)
    if counts is None:
        return None
    for level in range(counts):
        if _unpack_count(data, 4 + 4 * level)[0] == 0:
            return None
    return nanoseconds(*_unpack_time(data, 4 + 4 * counts))


def nanoseconds(sec: Any, nanosec: Any) -> Any:
    """Seconds and nanoseconds of a ROS time, numbers or arrays, as integer nanoseconds."""
    return sec * NANOSECONDS + nanosec


@cache
def _counts_before_stamp(kind: Any) -> int | None:
    """How many sequence counts lie before the time with which a message of this type begins, if it does."""
    counts = 0
    while isinstance(kind, Struct | Sequence):
        if isinstance(kind, Sequence):
            counts, kind = counts + 1, kind.element
        elif kind.name == "builtin_interfaces/msg/Time":
            return counts
        else:
            kind = kind.fields[0][1]
    return None

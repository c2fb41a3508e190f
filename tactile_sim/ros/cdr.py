"""ROS messages as CDR bytes, from and to numpy arrays: byte for byte what rclpy makes, at array speed.

>>> marker = {"header": {"stamp": 1_500_000_000, "frame_id": "world"}, "points": points}  # points (n, 3)
>>> data = cdr.encode(Marker, marker)
>>> publisher.publish(data)
>>> cdr.decode(Marker, data).points  # (n, 3)

- A struct is a mapping or a message; what a mapping leaves out has its ROS default.
- A struct made of equal numbers may be a row: Point (3,), Quaternion (4,) as x y z w, Wrench (6,), ...
- A time or duration may be integer nanoseconds.
- A sequence of structs is an (n, k) array if they are such rows, :class:`Columns`, or a list.
- A sequence of numbers is an array of any shape in C order, bytes, or a list.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

from tactile_sim.wire.columns import NANOSECONDS, Columns
from tactile_sim.wire.decode import Record, decoder
from tactile_sim.wire.encode import encoder
from tactile_sim.wire.sources import of_class
from tactile_sim.wire.types import Sequence, Struct, WireError

__all__ = ["Columns", "Record", "WireError", "decode", "encode", "nanoseconds", "stamp"]

_unpack_count = struct.Struct("<I").unpack_from
_unpack_time = struct.Struct("<iI").unpack_from


def encode(message_type: Any, value: Any) -> bytes:
    """The bytes that ``Publisher.publish`` sends as they are; :class:`WireError` names a field that is wrong.

    Padding is zero, where rclpy leaves whatever was in memory; and nothing follows the last field, where
    rclpy leaves a few such bytes behind a message of fixed size or with an empty ``float64[]``.
    """
    try:
        return encoder(of_class(message_type)).encode(value)
    except WireError as error:
        error.message_type = of_class(message_type).name
        raise


def decode(message_type: Any, data: bytes) -> Any:
    """The message with numpy arrays in it (see :mod:`tactile_sim.wire.decode`); raises :class:`WireError`."""
    return decoder(of_class(message_type)).decode(data)


def stamp(message_type: Any, data: bytes) -> int | None:
    """The time [ns] that a message begins with: its header's, its own, or its first element's; else None."""
    counts = _counts_before_stamp(message_type)
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
def _counts_before_stamp(message_type: Any) -> int | None:
    """How many sequence counts lie before the time with which a message of this type begins, if it does."""
    kind: Any = of_class(message_type)
    counts = 0
    while isinstance(kind, Struct | Sequence):
        if isinstance(kind, Sequence):
            counts, kind = counts + 1, kind.element
        elif kind.name == "builtin_interfaces/msg/Time":
            return counts
        else:
            kind = kind.fields[0][1]
    return None

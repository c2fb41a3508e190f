"""ROS messages as CDR bytes, from and to numpy arrays: byte for byte what rclpy makes, at array speed.

>>> marker = {"header": {"stamp": 1_500_000_000, "frame_id": "world"}, "points": points}  # points (n, 3)
>>> data = cdr.encode(Marker, marker)
>>> publisher.publish(data)
>>> cdr.decode(Marker, data).points  # (n, 3)

- A struct is a mapping or a message; what a mapping leaves out has its ROS default.
- A struct made of equal numbers may be a row: Point (3,), Quaternion (4,) as x y z w, Wrench (6,), ...
- A time or duration may be integer nanoseconds.
- A sequence of structs is a list, or an (n, k) array if they are such rows.
- A sequence of numbers is an array of any shape in C order, bytes, or a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tactile_sim.wire.blanks import STAMP, Each, Key, Pick, Slice, Value, Whole
from tactile_sim.wire.decode import Columns, Record, decoder
from tactile_sim.wire.encode import encoder
from tactile_sim.wire.form import Form
from tactile_sim.wire.sources import of_class
from tactile_sim.wire.stamps import nanoseconds, stamp_of
from tactile_sim.wire.types import WireError

__all__ = [
    "STAMP", "Columns", "Each", "Form", "Key", "Pick", "Record", "Slice", "Value", "Whole", "WireError",
    "decode", "encode", "form", "nanoseconds", "stamp",
]  # fmt: skip


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


def form(message_type: Any, fields: Mapping[str, Any]) -> Form:
    """For a message sent over and over: all that stays the same, and blanks (:mod:`tactile_sim.wire.form`).

    :class:`WireError` names a field or blank that does not fit.
    """
    return Form(of_class(message_type), fields)


def decode(message_type: Any, data: bytes) -> Any:
    """The message with numpy arrays in it (see :mod:`tactile_sim.wire.decode`); raises :class:`WireError`."""
    return decoder(of_class(message_type)).decode(data)


def stamp(message_type: Any, data: bytes) -> int | None:
    """The stamp [ns] that a message or its first element begins with, or a clock's time; else None."""
    return stamp_of(of_class(message_type), data)

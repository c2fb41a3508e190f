"""Convert between ROS messages in CDR, as rclpy sends them, and numpy arrays.

>>> marker = {"header": {"stamp": 1_500_000_000, "frame_id": "world"}, "points": points}  # points (n, 3)
>>> data = cdr.encode(Marker, marker)
>>> publisher.publish(data)
>>> cdr.decode(Marker, data).points  # (n, 3)

Accepted forms of messages and their fields:

- A struct is a mapping or a message; fields that a mapping omits have their ROS defaults.
- A struct of numbers of one type can be a row: Point (3,), Quaternion (4,) as x y z w, Wrench (6,), ...
- A time or duration can be integer nanoseconds.
- A sequence of structs is a list, or an (n, k) array of such rows.
- A sequence of numbers is an array of any shape in C order, bytes, or a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tactile_sim.wire.decode import decoder
from tactile_sim.wire.encode import encoder
from tactile_sim.wire.placeholders import STAMP, IntColumn, Lookup, Payload, Repeat, RowRange, Value
from tactile_sim.wire.records import Columns, Record
from tactile_sim.wire.sources import of_class
from tactile_sim.wire.stamps import nanoseconds, stamp_of
from tactile_sim.wire.template import MessageTemplate
from tactile_sim.wire.types import WireError

__all__ = [
    "STAMP", "Columns", "IntColumn", "Lookup", "MessageTemplate", "Payload", "Record", "Repeat", "RowRange",
    "Value", "WireError", "decode", "encode", "nanoseconds", "stamp", "template",
]  # fmt: skip


def encode(message_type: Any, value: Any) -> bytes:
    """Return the CDR bytes of a message, ready for ``Publisher.publish``.

    Padding bytes are zero and no bytes follow the last field. In contrast, rclpy does not initialize padding,
    and it appends a few bytes to messages that have a fixed size or an empty ``float64[]``.

    Args:
        message_type: A ROS message class.
        value: The message; see the module docstring for the accepted forms.

    Returns:
        The message with its encapsulation header.

    Raises:
        WireError: A field does not exist or its value does not fit. The error names the field.
    """
    try:
        return encoder(of_class(message_type)).encode(value)
    except WireError as error:
        error.message_type = of_class(message_type).name
        raise


def template(message_type: Any, fields: Mapping[str, Any]) -> MessageTemplate:
    """Return a template for a message that is published repeatedly; see :mod:`tactile_sim.wire.template`.

    Args:
        message_type: A ROS message class.
        fields: Constant values and placeholders by field name.

    Returns:
        The template.

    Raises:
        WireError: A value or placeholder does not fit its field. The error names the field.
    """
    return MessageTemplate(of_class(message_type), fields)


def decode(message_type: Any, data: bytes) -> Any:
    """Decode a message into objects with numpy arrays; see :mod:`tactile_sim.wire.decode`.

    Args:
        message_type: A ROS message class.
        data: The message with its encapsulation header.

    Returns:
        An object with the fields of the message as attributes.

    Raises:
        WireError: ``data`` is not a message of this type.
    """
    return decoder(of_class(message_type)).decode(data)


def stamp(message_type: Any, data: bytes) -> int | None:
    """Return the stamp [ns] with which a message, or its first element, begins; see `wire.stamps.stamp_of`.

    Returns:
        The stamp [ns], or None if the message has no stamp.
    """
    return stamp_of(of_class(message_type), data)

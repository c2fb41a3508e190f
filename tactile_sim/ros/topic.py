"""Declare the topics that the node publishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tactile_sim.ros import cdr
from tactile_sim.simulation import Snapshot

ONCE = "once"
"""Stream of the latched topics, which are published once at startup."""


class Topic(NamedTuple):
    """A topic that the node publishes."""

    stream: str
    """Key of ``rates``, the stream of a pad with its own rate, or `ONCE`."""
    type: type
    """ROS message class."""
    name: str
    """Name in ROS, relative to the namespace of the node unless it starts with a slash."""
    make: Callable[[Any], bytes]
    """Encodes the message for a `Snapshot`, or for another object with the required attributes."""
    again_after: str = ""
    """Name of another topic. When that topic gets a new subscriber, this latched topic is published again."""
    camera: str = ""
    """Name of the camera whose `CameraImage` the message contains; `make` then encodes it, not a snapshot."""
    frames: tuple[str, ...] = ()
    """Frames of the vectors in a message. ``/tf`` contains them at the stamp of each message."""


def header(frame: Any, stamp: Any = cdr.STAMP) -> dict[str, Any]:
    """Return the fields of a message header."""
    return {"stamp": stamp, "frame_id": frame}


def filled(
    stream: str,
    message_type: type,
    name: str,
    fields: Mapping[str, Any],
    parts: Callable[[Snapshot], Mapping[str, Any]],
) -> Topic:
    """Declare a topic whose messages share a template, in which only some values change."""
    template = cdr.template(message_type, fields)
    frame = fields.get("header", {}).get("frame_id", "")
    return Topic(
        stream,
        message_type,
        name,
        lambda snapshot: template.fill(snapshot.stamp, **parts(snapshot)),
        frames=(frame,) if frame else (),
    )


def latched(
    message_type: type, name: str, fields: Callable[[int], Mapping[str, Any]], again_after: str = ""
) -> Topic:
    """Declare a latched topic, which is published once at startup."""
    return Topic(
        ONCE,
        message_type,
        name,
        lambda snapshot: cdr.encode(message_type, fields(snapshot.stamp)),
        again_after,
    )

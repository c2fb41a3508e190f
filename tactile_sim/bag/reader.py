"""Read a bag into one array per field of each topic, or summarize its topics."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tactile_sim.bag.mcap_file import NO_SCHEMA, McapScan, Progress
from tactile_sim.bag.messages import (
    ROWS,
    LiveView,
    Messages,
    Selection,
    decoder_of,
    is_view_topic,
    require_rows,
)
from tactile_sim.bag.metadata import files_of
from tactile_sim.common.errors import BagError, suggest
from tactile_sim.wire import Columns, Record

_OWN = ("message_type", "stamps", "log_times")
"""Attributes of `Topic` that are not message fields.

A message field with one of these names gets a trailing underscore.
"""


class Topic(SimpleNamespace):
    """The n messages of a topic, with one attribute per field of the message type.

    Additional attributes:

    - ``message_type``: name of the type, such as ``sensor_msgs/msg/JointState``;
    - ``stamps`` (n,): header stamps [ns], or log times for messages without a stamp;
    - ``log_times`` (n,): log times [ns].

    Values have the form that :func:`tactile_sim.ros.cdr.decode` returns, with a leading axis for the
    messages: numbers become arrays (n,), arrays become (n, ...), nested messages become :class:`Columns`, and
    strings become lists. A field whose length differs between messages is a list with one entry per message.
    ``data`` of tactile messages has the shape (n, taxels, channels).
    """

    def __len__(self) -> int:
        return len(self.log_times)

    def __repr__(self) -> str:
        fields = ", ".join(name for name in vars(self) if name != "message_type")
        return f"<Topic, {len(self)} {self.message_type}: {fields}>"


class Bag(dict[str, Topic]):
    """The topics in a bag, keyed by name with or without the leading slash."""

    damage: str | None = None
    """Description of the bag's damage, or None."""

    def __repr__(self) -> str:
        topics = [f"  {name}: {len(topic)} {topic.message_type}" for name, topic in self.items()]
        damage = f", damaged: {self.damage}" if self.damage else ""
        return "\n".join([f"<Bag, topics: {len(topics)}{damage}>", *topics])

    def __missing__(self, name: str) -> Topic:
        if isinstance(name, str) and f"/{name}" in self:
            return self[f"/{name}"]
        raise BagError(f"the bag has no topic {name!r}{suggest(name, self)}")


class _Collected:
    def __init__(self, type_name: str) -> None:
        self.type_name = type_name
        self.values: list[Any] = []
        self.log_times: list[int] = []
        self.stamps: list[int] = []


def read(path: str | Path, topics: Collection[str] | None = None, progress: Progress | None = None) -> Bag:
    """Read the messages of a rosbag2 bag (MCAP). All intact chunks of a damaged bag are read.

    Args:
        path: The bag's folder or MCAP file.
        topics: Topics to read, with or without the leading slash; all by default.
        progress: Called with the number of bytes read and the size of the file.

    Returns:
        Topics, keyed by name. For a damaged bag, ``damage`` is set and a UserWarning is issued.

    Raises:
        BagError: ``path`` is not an MCAP bag or lacks a requested topic, or a message does not match the
            definition of its type in the bag.
    """
    if not isinstance(path, str | os.PathLike):
        raise BagError(f"path: must be a folder or a file, got {path!r}")
    wanted = Selection(topics)
    collected: dict[str, _Collected] = {}
    try:
        messages = Messages(Path(path), wanted.__contains__, progress)
        for message in messages:
            into = collected.get(message.topic)
            if into is None:
                into = collected[message.topic] = _Collected(message.type_name)
            require_rows(message)
            into.values.append(message.value)
            into.log_times.append(message.log_time)
            into.stamps.append(message.stamp)
    except OSError as error:
        raise BagError(f"{path}: cannot be read: {error.strerror}") from None
    if messages.damage:
        warnings.warn(
            f"{path}: {messages.damage} ({messages.lost} bytes lost); the rest was read;"
            f" repair it with: tactile_sim bag repair {path}",
            stacklevel=2,
        )
    bag = Bag()
    bag.damage = messages.damage
    for name in sorted(collected):
        bag[name] = _topic(collected.pop(name))
    if (missing := wanted.missing(bag)) is not None:
        raise BagError(
            f"{path}: the bag has no topic {missing!r}{suggest(missing, messages.others.union(bag))}"
        )
    return bag


def _topic(collected: _Collected) -> Topic:
    fields = vars(_stacked(collected.values))
    for name, row in ROWS.get(collected.type_name, {}).items():
        widths = {row} if isinstance(row, int) else set(fields[row].tolist())
        if name in fields and len(widths) == 1 and (width := widths.pop()):
            fields[name] = _in_rows(fields[name], width)
    fields = {f"{name}_" if name in _OWN else name: values for name, values in fields.items()}
    return Topic(
        message_type=collected.type_name,
        stamps=np.array(collected.stamps, np.int64),
        log_times=np.array(collected.log_times, np.int64),
        **fields,
    )


def rows_of(type_name: str, values: Any) -> dict[str, Any]:
    """Return the row length of each field that has several numbers per taxel or triangle."""
    rows = ROWS.get(type_name, {})
    return {
        name: row if isinstance(row, int) else getattr(values, row)
        for name, row in rows.items()
        if hasattr(values, name)
    }


def _in_rows(values: Any, width: int) -> Any:
    """Reshape an array (n, rows * width) to (n, rows, width), or each array of a list to (rows, width)."""
    if isinstance(values, list):
        return [value.reshape(-1, width) for value in values]
    return (
        values.reshape(len(values), -1, width)
        if values.size
        else np.zeros((len(values), 0, width), values.dtype)
    )


def _stacked(values: list[Any]) -> Any:
    """Combine the values of a field from all n messages.

    Numbers become an array (n,), and arrays of equal shape become one array (n, ...). Structs become Columns.
    All other values remain a list.
    """
    first = values[0]
    if isinstance(first, np.ndarray):
        return np.stack(values) if len({value.shape for value in values}) == 1 else values
    if isinstance(first, Record) or (
        isinstance(first, Columns) and len({len(value) for value in values}) == 1
    ):
        return Columns(**{name: _stacked([getattr(value, name) for value in values]) for name in vars(first)})
    return np.array(values) if isinstance(first, int | float) else values


_LAYOUT = "tactile_sim/msg/TactileLayout"
LOGS = ("rcl_interfaces/msg/Log", "rcl_interfaces/msg/ParameterEvent")
"""Message types that may be logged with wall-clock times in a bag with simulation time."""


@dataclass
class TopicContents:
    """Message count of a topic, total message size [bytes], and smallest and largest log time [ns]."""

    type_name: str
    count: int = 0
    size: int = 0
    start: int = 0
    stop: int = 0

    @property
    def rate(self) -> float | None:
        """Mean number of messages per second of log time [Hz]; None if all log times are equal."""
        return (self.count - 1) / ((self.stop - self.start) / 1e9) if self.stop > self.start else None


@dataclass
class Contents:
    """Summary of the topics in a bag.

    ``start`` and ``stop`` are the smallest and largest log time [ns]. Topics with a type in `LOGS` count only
    if no other topic has messages.
    """

    topics: dict[str, TopicContents] = field(default_factory=dict)
    file_size: int = 0
    damage: str | None = None
    skins: dict[str, int] = field(default_factory=dict)
    """Number of taxels on each pad, keyed by the pad's layout topic."""
    feelers: dict[str, int] = field(default_factory=dict)
    """Number of feelers on each body, keyed by the body's layout topic."""
    views: dict[str, LiveView] = field(default_factory=dict)
    """Last live view of each robot that has one, keyed by topic."""

    @property
    def count(self) -> int:
        return sum(topic.count for topic in self.topics.values())

    @property
    def start(self) -> int:
        return min((topic.start for topic in self._timed()), default=0)

    @property
    def stop(self) -> int:
        return max((topic.stop for topic in self._timed()), default=0)

    def _timed(self) -> list[TopicContents]:
        """Return the topics that have messages, except log topics (see `LOGS`) if others have messages."""
        filled = [topic for topic in self.topics.values() if topic.count]
        return [topic for topic in filled if topic.type_name not in LOGS] or filled


def contents(path: Path, progress: Progress | None = None) -> Contents:
    """Summarize the topics, messages and damage of a bag."""
    found = Contents()
    for file in files_of(path):
        scan = McapScan(file, progress)
        for message in scan:
            name = message.channel.topic
            topic = found.topics.get(name)
            if topic is None:
                topic = found.topics[name] = TopicContents(message.schema.name)
            if not topic.count:
                topic.start = topic.stop = message.log_time
            topic.start, topic.stop = min(topic.start, message.log_time), max(topic.stop, message.log_time)
            topic.count += 1
            topic.size += len(message.data)
            if message.schema.name == _LAYOUT:
                layout = decoder_of(message).decode(message, message.data)
                if len(layout.lengths):
                    found.feelers[name] = len(layout.lengths)
                else:
                    found.skins[name] = len(layout.areas)
            if is_view_topic(name, message.schema.name):
                text = decoder_of(message).decode(message, message.data).data
                if view := LiveView.parse(text):
                    found.views[name] = view
        for channel in scan.channels.values():
            schema = scan.schemas.get(channel.schema_id, NO_SCHEMA)
            found.topics.setdefault(channel.topic, TopicContents(schema.name))
        found.file_size += scan.size
        found.damage = found.damage or (scan.damage and f"{file.name}: {scan.damage}")
    return found

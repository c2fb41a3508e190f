"""From a bag's messages to one array per field of a topic."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tactile_sim.bag.known_types import ROWS
from tactile_sim.bag.mcap_file import Progress
from tactile_sim.bag.messages import Messages, Selection, require_rows
from tactile_sim.errors import BagError, suggest
from tactile_sim.wire.decode import Columns, Record

_OWN = ("message_type", "stamps", "log_times")
"""Attributes of a topic that are no fields; fields of these names get an underscore at the end."""


class Topic(SimpleNamespace):
    """The n messages of a topic: an attribute per field of the message, and

    - ``message_type``: such as ``sensor_msgs/msg/JointState``;
    - ``stamps`` (n,): the messages' own times [ns], their log times where they have none;
    - ``log_times`` (n,): the times of the bag [ns].

    A field has the face of :func:`tactile_sim.ros.cdr.decode` with the messages as one more leading axis:
    numbers (n,), arrays (n, ...), nested messages :class:`Columns`, texts a list. Where lengths differ from
    message to message it is a list with an entry per message. ``data`` of tactile messages is (n, taxels,
    channels).
    """

    def __len__(self) -> int:
        return len(self.log_times)

    def __repr__(self) -> str:
        fields = ", ".join(name for name in vars(self) if name != "message_type")
        return f"<Topic, {len(self)} {self.message_type}: {fields}>"


class Bag(dict[str, Topic]):
    """Topics by name; the leading slash may be left out. ``damage`` says what is wrong with it, if so."""

    damage: str | None = None

    def __repr__(self) -> str:
        topics = [f"  {name}: {len(topic)} {topic.message_type}" for name, topic in self.items()]
        damage = f", damaged: {self.damage}" if self.damage else ""
        return "\n".join([f"<Bag, topics: {len(topics)}{damage}>", *topics])

    def __missing__(self, name: str) -> Topic:
        if f"/{name}" in self:
            return self[f"/{name}"]
        raise BagError(f"the bag has no topic {name!r}{suggest(name, self)}")


class _Collected:
    def __init__(self, type_name: str) -> None:
        self.type_name = type_name
        self.values: list[Any] = []
        self.log_times: list[int] = []
        self.stamps: list[int] = []


def read(path: str | Path, topics: Collection[str] | None = None, progress: Progress | None = None) -> Bag:
    """All messages of a rosbag2 (MCAP) folder or file; of ``topics`` alone if given.

    Of a damaged bag all is read that is whole; a UserWarning and ``damage`` then say so.
    ``progress`` is told how many bytes of how many of a file are read.

    Raises:
        BagError: it is no bag, or of another storage; a topic asked for is not in it, or a message does not
            fit the definition that the bag has of its type.
    """
    wanted = Selection(topics)
    collected: dict[str, _Collected] = {}
    messages = Messages(Path(path), wanted.__contains__, progress)
    for message in messages:
        into = collected.get(message.topic)
        if into is None:
            into = collected[message.topic] = _Collected(message.type_name)
        require_rows(message)
        into.values.append(message.value)
        into.log_times.append(message.log_time)
        into.stamps.append(message.stamp)
    if messages.damage:
        warnings.warn(
            f"{path}: {messages.damage} ({messages.lost} bytes lost); all else is read;"
            f" to mend it: tactile_sim bag repair {path}",
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
        if len(widths) == 1 and (width := widths.pop()):
            fields[name] = _in_rows(fields[name], width)
    fields = {f"{name}_" if name in _OWN else name: values for name, values in fields.items()}
    return Topic(
        message_type=collected.type_name,
        stamps=np.array(collected.stamps, np.int64),
        log_times=np.array(collected.log_times, np.int64),
        **fields,
    )


def rows_of(type_name: str, values: Any) -> dict[str, Any]:
    """How many numbers make a row, for those fields of a message type that hold rows one after the other."""
    rows = ROWS.get(type_name, {})
    return {name: row if isinstance(row, int) else getattr(values, row) for name, row in rows.items()}


def _in_rows(values: Any, width: int) -> Any:
    """Arrays (n, rows x width), or a list of such, as (n, rows, width)."""
    if isinstance(values, list):
        return [value.reshape(-1, width) for value in values]
    return (
        values.reshape(len(values), -1, width)
        if values.size
        else np.zeros((len(values), 0, width), values.dtype)
    )


def _stacked(values: list[Any]) -> Any:
    """One array for values of equal shape, one Columns for messages; else the values as they are."""
    first = values[0]
    if isinstance(first, np.ndarray):
        return np.stack(values) if len({value.shape for value in values}) == 1 else values
    if isinstance(first, Record) or (
        isinstance(first, Columns) and len({len(value) for value in values}) == 1
    ):
        return Columns(**{name: _stacked([getattr(value, name) for value in values]) for name in vars(first)})
    return np.array(values) if isinstance(first, int | float) else values

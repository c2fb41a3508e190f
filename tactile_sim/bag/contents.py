"""Summarize a bag by reading its messages, which also works for damaged bags."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tactile_sim.bag.live_view import LiveView, is_topic
from tactile_sim.bag.mcap_file import NO_SCHEMA, McapScan, Progress
from tactile_sim.bag.messages import decoder_of
from tactile_sim.bag.metadata import files_of

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
            if is_topic(name, message.schema.name):
                text = decoder_of(message).decode(message, message.data).data
                if view := LiveView.parse(text):
                    found.views[name] = view
        for channel in scan.channels.values():
            schema = scan.schemas.get(channel.schema_id, NO_SCHEMA)
            found.topics.setdefault(channel.topic, TopicContents(schema.name))
        found.file_size += scan.size
        found.damage = found.damage or (scan.damage and f"{file.name}: {scan.damage}")
    return found

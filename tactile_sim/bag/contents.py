"""What is in a bag, counted from its messages: so it holds for a damaged bag too."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tactile_sim.bag.mcap_file import NO_SCHEMA, McapScan, Progress
from tactile_sim.bag.messages import decoder_of
from tactile_sim.bag.metadata import files_of

_LAYOUT = "tactile_sim/msg/TactileLayout"
LOGS = ("rcl_interfaces/msg/Log", "rcl_interfaces/msg/ParameterEvent")
"""Types of what nodes tell at any time, also before that of the simulation runs."""


@dataclass
class TopicContents:
    """Number and bytes of a topic's messages, and the log times [ns] of the first and the last."""

    type_name: str
    count: int = 0
    size: int = 0
    start: int = 0
    stop: int = 0

    @property
    def rate(self) -> float | None:
        """Messages per second of log time; None for fewer than two."""
        return (self.count - 1) / ((self.stop - self.start) / 1e9) if self.stop > self.start else None


@dataclass
class Contents:
    """All topics of a bag; ``start`` and ``stop`` are log times [ns]."""

    topics: dict[str, TopicContents] = field(default_factory=dict)
    file_size: int = 0
    damage: str | None = None
    skins: dict[str, int] = field(default_factory=dict)
    """Taxels of each body, by the topic of its last layout."""
    feelers: dict[str, int] = field(default_factory=dict)
    """The same of feelers."""

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
        """Those whose times are the bag's: logs may bear the machine's where the others are simulated."""
        filled = [topic for topic in self.topics.values() if topic.count]
        return [topic for topic in filled if topic.type_name not in LOGS] or filled


def contents(path: Path, progress: Progress | None = None) -> Contents:
    """Go through a bag; raises BagError if it is none."""
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
        for channel in scan.channels.values():
            schema = scan.schemas.get(channel.schema_id, NO_SCHEMA)
            found.topics.setdefault(channel.topic, TopicContents(schema.name))
        found.file_size += scan.size
        found.damage = found.damage or (scan.damage and f"{file.name}: {scan.damage}")
    return found

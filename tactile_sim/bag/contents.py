"""What is in a bag, counted from its messages: so it holds for a damaged bag too."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tactile_sim.bag.mcap_file import McapScan, Progress
from tactile_sim.bag.metadata import files_of


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

    @property
    def count(self) -> int:
        return sum(topic.count for topic in self.topics.values())

    @property
    def start(self) -> int:
        return min((topic.start for topic in self.topics.values() if topic.count), default=0)

    @property
    def stop(self) -> int:
        return max((topic.stop for topic in self.topics.values() if topic.count), default=0)


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
        for channel in scan.channels.values():
            found.topics.setdefault(channel.topic, TopicContents(scan.schemas[channel.schema_id].name))
        found.file_size += scan.size
        found.damage = found.damage or (scan.damage and f"{file.name}: {scan.damage}")
    return found

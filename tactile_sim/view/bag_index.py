"""What a bag holds and where, found in one go through it: then any instant of it is read without the rest."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tactile_sim.analysis.poses import Poses
from tactile_sim.analysis.tactile_frames import readings_of
from tactile_sim.bag.mcap_file import McapScan, Progress
from tactile_sim.bag.mcap_file import Message as Stored
from tactile_sim.bag.messages import Message, TopicDecoder, decoder_of
from tactile_sim.bag.metadata import files_of

LOOK_BACK = 1_000_000_000
"""An instant is put together from the messages of so long before it [ns]."""
INTERVAL = 100_000_000
"""Readings are looked at so often to find a fitting scale [ns]."""
INSTANTS = {
    "tactile_sim/msg/TactileFrame": 0,
    "tactile_sim/msg/TactileArray": 1,
    "sensor_msgs/msg/PointCloud2": 2,
    "tactile_sim/msg/ContactWrenchArray": 3,
    "tf2_msgs/msg/TFMessage": 4,
}
"""Types whose messages are the bag's instants, the best first."""
_STAY = {"tactile_sim/msg/TactileLayout"}
_SHOWN = {*INSTANTS, *_STAY, "sensor_msgs/msg/Image", "visualization_msgs/msg/MarkerArray"}
"""Types of what is shown. Others, such as logs, may bear times of another clock than the simulation's."""
_STAYING_TOPICS = ("/tf_static", "/scene_markers")


class Place(NamedTuple):
    """Where in the files something begins."""

    log_time: int
    file: int
    offset: int


class BagIndex:
    """Attributes: ``types`` of topics by name; ``first`` message of each that is shown; ``staying``: those
    that hold from their time on, such as layouts; ``peaks``: the largest readings of each tactile topic now
    and then, and its unit; ``instants`` (n,) log times [ns] of the messages to step by; ``start`` and
    ``stop``, log times [ns] of what is shown; ``damage``: what is wrong with the bag, or None.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        """Raises BagError where there is no bag."""
        self.path = path
        self.types: dict[str, str] = {}
        self.first: dict[str, Message] = {}
        self.staying: list[Message] = []
        self.peaks: dict[str, list[float]] = {}
        self.damage: str | None = None
        self._decoders: dict[str, TopicDecoder] = {}
        self._due: dict[str, int] = {}
        self._places: list[Place] = []
        self._times: dict[str, array[int]] = {}
        self._scans = [McapScan(file, progress) for file in files_of(path)]
        self.start, self.stop = 1 << 63, 0
        for file, scan in enumerate(self._scans):
            for message in scan:
                self._note(file, scan.kept, message)
            self.damage = self.damage or (scan.damage and f"{scan.path.name}: {scan.damage}")
        self.start = min(self.start, self.stop)
        self._reached = np.maximum.accumulate([place.log_time for place in self._places] or [0])
        self.instants = self._choose_instants()

    def _note(self, file: int, offset: int, message: Stored) -> None:
        topic, time, kind = message.channel.topic, message.log_time, message.schema.name
        if topic not in self.types:
            self.types[topic] = kind
            if kind in _SHOWN:
                self.first[topic] = self._keep(message)
            if kind in INSTANTS:
                self._times[topic] = array("q")
        if kind not in _SHOWN:
            return
        self.start, self.stop = min(self.start, time), max(self.stop, time)
        if not self._places or self._places[-1][1:] != (file, offset):
            self._places.append(Place(time, file, offset))
        if kind in _STAY or topic.endswith(_STAYING_TOPICS):
            self.staying.append(self._keep(message))
        if topic in self._times:
            self._times[topic].append(time)
            if INSTANTS[kind] < 2:
                self._sample(topic, message)

    def _sample(self, topic: str, message: Stored) -> None:
        """Keeps the largest reading, where the last one kept is long ago."""
        if message.log_time < self._due.get(topic, 0):
            return
        self._due[topic] = message.log_time + INTERVAL
        readings = readings_of(self.decode(message).value)
        if len(readings):
            self.peaks.setdefault(topic, []).append(float(np.linalg.norm(readings, axis=1).max()))

    def _choose_instants(self) -> np.ndarray:
        best = min(self._times, key=lambda topic: INSTANTS[self.types[topic]], default=None)
        return np.unique(np.array(self._times[best], np.int64)) if best else np.zeros(0, np.int64)

    def decode(self, message: Stored) -> Message:
        """A message as it is found in the bag, with its value."""
        topic = message.channel.topic
        if topic not in self._decoders:
            self._decoders[topic] = decoder_of(message)
        value = self._decoders[topic].decode(message, message.data)
        return Message(topic, message.schema.name, message.log_time, message.log_time, value)

    def _keep(self, message: Stored) -> Message:
        """Decoded from a copy: arrays within the message would hold all that was read with it."""
        copied = replace(message, data=memoryview(bytes(message.data)))
        return self.decode(copied)

    def messages(self, time: int) -> Iterator[Stored]:
        """The messages of what is shown from a log time [ns] on, and a few before it."""
        if not self._places:
            return
        place = self._places[max(0, bisect_right(self._reached, time) - 1)]
        for file in range(place.file, len(self._scans)):
            scan = self._scans[file]
            messages = scan.after(place.offset) if file == place.file else iter(scan)
            yield from (message for message in messages if message.schema.name in _SHOWN)

    def poses(self) -> Poses:
        """The frames that never move."""
        poses = Poses()
        for message in self.staying:
            if message.topic.endswith("/tf_static"):
                poses.add(message)
        return poses

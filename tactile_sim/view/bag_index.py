"""Index a bag in one pass, so that a frame at any time can be read without reading the entire bag."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tactile_sim.bag.mcap_file import McapScan, Progress
from tactile_sim.bag.mcap_file import Message as Stored
from tactile_sim.bag.messages import LiveView, Message, TopicDecoder, decoder_of, is_view_topic
from tactile_sim.bag.metadata import files_of
from tactile_sim.figures.messages import Poses, by_pad, finite

LIMIT = 512
"""Largest number of samples of each topic."""
MIN_INTERVAL = 20_000_000
"""Smallest time between two samples [ns]."""
FORCE, PEAK = slice(0, 3), 3
"""Columns of the samples."""


class TopicSamples:
    """Samples of the forces in the messages on a topic, evenly spaced in time.

    The time between two samples is initially `MIN_INTERVAL`. It doubles whenever there are `LIMIT` samples,
    and every second sample is discarded. Thus, memory is bounded, and few messages of a long bag are decoded.
    """

    def __init__(self) -> None:
        self._times: list[int] = []
        self._rows: list[np.ndarray] = []
        self._columns: dict[str, int] = {}
        self._interval = float(MIN_INTERVAL)
        self._due = -math.inf

    def is_due(self, time: int) -> bool:
        """Return whether the message with this log time [ns] must be sampled."""
        return time >= self._due

    def add(self, time: int, value: Any) -> None:
        """Sample a message.

        Args:
            time: Log time of the message [ns].
            value: A decoded TactileFrame, TactileArray or ContactWrenchArray.
        """
        found = _of_contacts(value.contacts) if hasattr(value, "contacts") else _of_pads(value)
        for name in found:
            self._columns.setdefault(name, len(self._columns))
        row = np.zeros((len(self._columns), 4), np.float32)
        for name, entry in found.items():
            row[self._columns[name]] = entry
        self._times.append(time)
        self._rows.append(row)
        if len(self._times) == LIMIT:
            self._interval = (time - self._times[0]) / (LIMIT // 2)
            del self._times[1::2], self._rows[1::2]
        self._due = self._times[-1] + self._interval

    @property
    def times(self) -> np.ndarray:
        """Log times of the samples (n,) [ns]."""
        return np.array(self._times, np.int64)

    @property
    def names(self) -> Collection[str]:
        """Names of the pads or bodies in the samples."""
        return self._columns.keys()

    @property
    def peaks(self) -> np.ndarray:
        """Largest reading in each sample (n,)."""
        return np.array([row[:, PEAK].max(initial=0.0) for row in self._rows])

    def at(self, name: str, times: np.ndarray) -> np.ndarray:
        """Return the samples of a pad or body (n, 4), interpolated at log times (n,) [ns].

        The columns are `FORCE`, the sum of a pad's force vectors or the net contact force on a body [N], and
        `PEAK`, the largest reading of a pad. Both are zero if they are unknown. The sum of a pad is in the
        frame of its vectors.
        """
        column = self._columns[name]
        values = np.array([row[column] if column < len(row) else np.zeros(4) for row in self._rows])
        return np.stack([np.interp(times, self.times, each) for each in values.T], axis=1)


def _of_pads(value: Any) -> dict[str, np.ndarray]:
    """Return the sum of the force vectors and the largest reading (4,) of each pad."""
    result = {}
    for pad, part in by_pad(value).items():
        readings = finite(part.readings)
        result[pad] = entry = np.zeros(4)
        entry[PEAK] = math.sqrt(np.einsum("ij,ij->i", readings, readings).max(initial=0.0))
        if part.quantity in ("force_vector", "force_vector_global"):
            entry[FORCE] = readings.sum(axis=0)
    return result


def _of_contacts(contacts: Any) -> dict[str, np.ndarray]:
    """Return the net contact force and 0 (4,) of each body in contact."""
    forces = np.asarray(contacts.wrench.force, float).reshape(-1, 3)
    names = [*contacts.body1, *contacts.body2]
    bodies, indices = np.unique(np.array(names, object), return_inverse=True)
    entries = np.zeros((len(bodies), 4))
    np.add.at(entries[:, FORCE], indices, finite(np.concatenate([-forces, forces])))
    return dict(zip(bodies.tolist(), entries, strict=True))


LOOK_BACK = 1_000_000_000
"""Length of the period before a frame from which messages are read after a jump in time [ns]."""
STEP_TYPES = {
    "tactile_sim/msg/TactileFrame": 0,
    "tactile_sim/msg/TactileArray": 1,
    "sensor_msgs/msg/PointCloud2": 2,
    "tactile_sim/msg/ContactWrenchArray": 3,
    "tf2_msgs/msg/TFMessage": 4,
}
"""Message types that the *previous* and *next* buttons can step through, with their ranks.

The buttons use a topic whose type has the lowest rank in the bag.
"""
_SAMPLED_TYPES = {
    "tactile_sim/msg/TactileFrame",
    "tactile_sim/msg/TactileArray",
    "tactile_sim/msg/ContactWrenchArray",
}
_LATCHED_TYPES = {"tactile_sim/msg/TactileLayout"}
_LATCHED_TOPICS = ("/tf_static", "/scene_markers")
_SHOWN_TYPES = {
    *STEP_TYPES,
    *_LATCHED_TYPES,
    "sensor_msgs/msg/Image",
    "visualization_msgs/msg/MarkerArray",
}
"""Types of displayed messages. Others, such as logs, are ignored because they may use a different clock."""


class FilePosition(NamedTuple):
    """Position of a chunk: its first log time [ns], the index of its file and its offset in the file."""

    log_time: int
    file: int
    offset: int


class BagIndex:
    """The topics, times and chunk positions of a bag.

    Attributes:
        types: Message types, keyed by topic.
        first: First message on each displayed topic, keyed by topic.
        latched: Messages on latched topics, such as layouts.
        samples: Samples of the forces and largest readings, keyed by topic.
        views: Last valid live view on each topic that carries them, or None if all are invalid, keyed by
            topic.
        step_times: Log times (n,) that users can step through [ns].
        start: First log time of the displayed messages [ns].
        stop: Last log time of the displayed messages [ns].
        damage: Description of the bag's damage, or None if it is intact.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        """Read a bag and build its index.

        Raises:
            BagError: The path is not a bag.
        """
        self.path = path
        self.types: dict[str, str] = {}
        self.first: dict[str, Message] = {}
        self.latched: list[Message] = []
        self.samples: dict[str, TopicSamples] = {}
        self.views: dict[str, LiveView | None] = {}
        self.damage: str | None = None
        self._decoders: dict[str, TopicDecoder] = {}
        self._positions: list[FilePosition] = []
        self._times: dict[str, array[int]] = {}
        self._scans = [McapScan(file, progress) for file in files_of(path)]
        self.start, self.stop = 1 << 63, 0
        for file, scan in enumerate(self._scans):
            for message in scan:
                self._add(file, scan.kept, message)
            self.damage = self.damage or (scan.damage and f"{scan.path.name}: {scan.damage}")
        self.start = min(self.start, self.stop)
        self._latest_times = np.maximum.accumulate([place.log_time for place in self._positions] or [0])
        self.step_times = self._find_step_times()

    def _add(self, file: int, offset: int, message: Stored) -> None:
        topic, time, kind = message.channel.topic, message.log_time, message.schema.name
        if topic not in self.types:
            self.types[topic] = kind
            if kind in _SHOWN_TYPES:
                self.first[topic] = self._copy(message)
            if kind in STEP_TYPES:
                self._times[topic] = array("q")
        if is_view_topic(topic, kind):
            view = LiveView.parse(self._copy(message).value.data)
            self.views[topic] = view or self.views.get(topic)
        if kind not in _SHOWN_TYPES:
            return
        self.start, self.stop = min(self.start, time), max(self.stop, time)
        if not self._positions or self._positions[-1][1:] != (file, offset):
            self._positions.append(FilePosition(time, file, offset))
        if kind in _LATCHED_TYPES or topic.endswith(_LATCHED_TOPICS):
            self.latched.append(self._copy(message))
        if topic in self._times:
            self._times[topic].append(time)
        if kind in _SAMPLED_TYPES:
            samples = self.samples.setdefault(topic, TopicSamples())
            if samples.is_due(time):
                samples.add(time, self.decode(message).value)

    def _find_step_times(self) -> np.ndarray:
        best = min(self._times, key=lambda topic: STEP_TYPES[self.types[topic]], default=None)
        return np.unique(np.array(self._times[best], np.int64)) if best else np.zeros(0, np.int64)

    def decode(self, message: Stored) -> Message:
        """Decode a stored message. The result's value has the fields of the ROS message as attributes."""
        topic = message.channel.topic
        if topic not in self._decoders:
            self._decoders[topic] = decoder_of(message)
        value = self._decoders[topic].decode(message, message.data)
        return Message(topic, message.schema.name, message.log_time, message.log_time, value)

    def _copy(self, message: Stored) -> Message:
        """Decode a copy of a message. Views into the original would keep its entire chunk in memory."""
        copied = replace(message, data=memoryview(bytes(message.data)))
        return self.decode(copied)

    def messages(self, time: int) -> Iterator[Stored]:
        """Yield the displayed messages from a log time [ns] to the end of the bag, in file order.

        Reading starts at the beginning of the chunk that contains this time, so earlier messages may come
        first.
        """
        if not self._positions:
            return
        place = self._positions[max(0, bisect_right(self._latest_times, time) - 1)]
        for file in range(place.file, len(self._scans)):
            scan = self._scans[file]
            messages = scan.after(place.offset) if file == place.file else iter(scan)
            yield from (message for message in messages if message.schema.name in _SHOWN_TYPES)

    def static_poses(self) -> Poses:
        """Return new poses that contain only the transforms published on ``/tf_static``."""
        poses = Poses()
        for message in self.latched:
            if message.topic.endswith("/tf_static"):
                poses.add(message)
        return poses

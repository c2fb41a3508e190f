"""Record the messages of current and future topics to a bag."""

from __future__ import annotations

import importlib
import math
import os
import sys
import time
from collections.abc import Collection
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import rclpy
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from rclpy.context import Context
from rclpy.exceptions import InvalidTopicNameException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo
from rclpy.validate_topic_name import validate_topic_name

from tactile_sim.bag.reader import LOGS
from tactile_sim.bag.writer import BagWriter
from tactile_sim.common.errors import BagError, CommandError
from tactile_sim.common.signals import StopRequest
from tactile_sim.common.text import counted
from tactile_sim.ros.internals import publisher_count, take_raw
from tactile_sim.ros.recorder_process import node_name
from tactile_sim.ros.transport import clear_dead_ports
from tactile_sim.wire import Sequence, Struct, counts_before_stamp, of_class, stamp_of

_SEPARATOR = "\n" + "=" * 80 + "\n"


def message_class(type_name: str) -> Any:
    """Import a message class by the name of its type."""
    package, _, name = type_name.partition("/msg/")
    try:
        return getattr(importlib.import_module(f"{package}.msg"), name)
    except (ImportError, AttributeError):
        raise BagError(f"the type {type_name} is not installed") from None


@cache
def definition(type_name: str) -> str:
    """Return the ``ros2msg`` definition of a type and its nested types from installed ``.msg`` files."""
    names = [type_name]
    _collect(of_class(message_class(type_name)), names)
    first, *others = names
    return _SEPARATOR.join(
        [_text(first), *(f"MSG: {name.replace('/msg/', '/')}\n{_text(name)}" for name in others)]
    )


def _collect(kind: Struct, names: list[str]) -> None:
    """Append the names of the types nested in ``kind`` to ``names``, without duplicates."""
    for _, inner, _ in kind.fields:
        element = inner.element if isinstance(inner, Sequence) else inner
        if isinstance(element, Struct) and element.name not in names:
            names.append(element.name)
            _collect(element, names)


def _text(type_name: str) -> str:
    package, _, name = type_name.partition("/msg/")
    try:
        return (Path(get_package_share_directory(package)) / "msg" / f"{name}.msg").read_text(
            encoding="utf-8"
        )
    except (PackageNotFoundError, OSError):
        raise BagError(f"the definition of {type_name} is not installed ({package}/msg/{name}.msg)") from None


LOOK_EVERY = 0.1  # time between two queries for new topics [s]
REST = 0.004  # time to sleep if there was no message [s]
HOLD = 1.0  # time for which messages wait for a first stamp if no topic has stamps [s]
ROOM = 64 << 20  # maximum size of the messages that wait for a first stamp [bytes]


def record(folder: Path, topics: Collection[str] = ()) -> int:
    """Record topics to a new bag until a signal ends the recording.

    Messages are taken from the subscriptions as bytes, because rclpy's executor would spend more time on each
    message than all other work requires. The log time of a message is its stamp. A message without a stamp
    gets the latest stamp received before it, or the first stamp of the recording if there is none. If no
    topic has stamps, log times are the times at which messages were sent.
    """
    for name in topics:
        try:
            validate_topic_name(name)
        except InvalidTopicNameException as error:
            raise CommandError(" ".join(str(error).split())) from None
    with StopRequest() as stop, ExitStack() as stack:
        context = Context()
        try:
            clear_dead_ports()
            rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.NO)
            stack.callback(rclpy.shutdown, context=context)
            node = Node(
                node_name(os.getpid()),
                context=context,
                start_parameter_services=False,
                enable_rosout=False,
            )
        except RuntimeError as error:
            raise CommandError(f"ROS cannot be started: {' '.join(str(error).split())}") from None
        stack.callback(node.destroy_node)
        stop.check()
        recorder = _fill(folder, node, topics, stop)
    print(recorder.summary(), flush=True)
    if loss := recorder.loss():
        raise BagError(loss)
    return 0


def _fill(folder: Path, node: Node, topics: Collection[str], stop: StopRequest) -> Recorder:
    """Create the bag, record until a signal arrives and return the recorder."""
    bag = BagWriter(folder)
    try:
        recorder = Recorder(node, bag, topics)
        recorder.look()
        print(f"recording {', '.join(topics) or 'all topics'} into {folder}; Ctrl-C ends it", flush=True)
        due = 0.0
        while not stop.requested:
            now = time.monotonic()
            if now >= due:
                recorder.look()
                due = now + LOOK_EVERY
            if not recorder.take():
                time.sleep(REST)
            bag.tick()
        recorder.take()
        recorder.release()
    finally:
        _close(bag)
    return recorder


def _close(bag: BagWriter) -> None:
    """Close the bag. Errors are ignored while another exception is being handled."""
    try:
        bag.close()
    except BagError:
        if sys.exc_info()[0] is None:
            raise


class _Topic:
    """A recorded topic, which counts written and missed messages."""

    def __init__(self, subscription: Subscription, message_type: Any, channel: int, lasting: bool) -> None:
        self.subscription, self.message_type, self.channel = subscription, message_type, channel
        self.lasting = lasting
        self.kind = of_class(message_type)
        self.count = self.missed = self.last = 0
        self.numbered = True  # single publisher, so that gaps in the sequence numbers are losses

    def take(self) -> list[tuple[int, _Topic, bytes]]:
        """Take all waiting messages and return them as tuples (time of sending [ns], this topic, bytes)."""
        taken = []
        while (found := take_raw(self.subscription, self.message_type)) is not None:
            data, details = found
            number = details["publication_sequence_number"]
            if self.numbered and self.last and number is not None and number > self.last + 1:
                self.missed += number - self.last - 1
            self.last = number or 0
            taken.append((details["source_timestamp"], self, data))
        return taken


class Recorder:
    """Discovers topics, subscribes to them and writes their messages to a bag."""

    def __init__(self, node: Node, bag: BagWriter, topics: Collection[str]) -> None:
        self._node, self._bag = node, bag
        self._wanted = {node.resolve_topic_name(name) for name in topics}
        self._topics: dict[str, _Topic] = {}
        self._refused: set[str] = set()
        self._latest = 0
        self._stamped = False  # whether any message had a stamp
        self._held: list[tuple[int, _Topic, bytes]] = []  # arrived before the first stamp
        self._held_size = 0
        self._due = math.inf  # time of their release [s of `time.monotonic`] if no topic has stamps

    def look(self) -> None:
        """Subscribe to topics that have appeared since the last call."""
        for topic in self._topics.values():
            topic.numbered &= publisher_count(topic.subscription) <= 1
        for name, types in self._node.get_topic_names_and_types():
            if name in self._topics or name in self._refused or (self._wanted and name not in self._wanted):
                continue
            publishers = self._node.get_publishers_info_by_topic(name)
            if not publishers or (not self._wanted and name.startswith("/_")):
                continue
            try:
                if len(types) > 1:
                    raise BagError(f"it has several types: {', '.join(types)}")
                self._subscribe(name, types[0], publishers)
            except BagError as error:
                self._refused.add(name)
                print(f"tactile_sim: warning: {name} is not recorded: {error}", file=sys.stderr, flush=True)

    def _subscribe(self, name: str, type_name: str, publishers: list[TopicEndpointInfo]) -> None:
        message_type = message_class(type_name)
        profiles = [publisher.qos_profile for publisher in publishers]
        reliable = all(p.reliability == ReliabilityPolicy.RELIABLE for p in profiles)
        lasting = all(p.durability == DurabilityPolicy.TRANSIENT_LOCAL for p in profiles)
        channel = self._bag.add_topic(
            name,
            type_name,
            definition(type_name),
            [qos_fields(profile) for profile in profiles],
            str(publishers[0].topic_type_hash),
        )
        profile = QoSProfile(
            history=HistoryPolicy.KEEP_ALL,
            reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if lasting else DurabilityPolicy.VOLATILE,
        )
        subscription = self._node.create_subscription(message_type, name, lambda _: None, profile, raw=True)
        self._topics[name] = _Topic(subscription, message_type, channel, lasting)

    def take(self) -> int:
        """Take all waiting messages, write them in the order of sending and return their number."""
        taken = [message for topic in self._topics.values() for message in topic.take()]
        taken.sort(key=lambda message: message[0])
        for message in taken:
            _, topic, data = message
            stamp = stamp_of(topic.kind, data)
            if stamp == 0 and topic.lasting:
                stamp = None  # timeless, such as scene_markers
            if stamp is not None:
                self._stamped = True
                self._latest = max(self._latest, stamp)
                self.release()
            elif not self._stamped:
                self._hold(message)
                continue
            self._bag.write(topic.channel, self._latest if stamp is None else stamp, data)
            topic.count += 1
        if self._held_size > ROOM or (time.monotonic() > self._due and not self._stamps_to_come()):
            self.release()
        return len(taken)

    def _hold(self, message: tuple[int, _Topic, bytes]) -> None:
        """Keep a message until the first stamp is known.

        Messages that a node publishes at startup can arrive long before its first stamped message. Messages
        that are kept are also written to a draft on disk, so that none is lost if the recorder is killed.
        """
        _, topic, data = message
        self._held.append(message)
        self._bag.draft(self._waiting)
        self._held_size += len(data)
        if not topic.lasting and topic.kind.name not in LOGS:
            self._due = min(self._due, time.monotonic() + HOLD)

    def _stamps_to_come(self) -> bool:
        return any(counts_before_stamp(topic.kind) is not None for topic in self._topics.values())

    def release(self) -> None:
        """Write the messages that `_hold` has kept."""
        timed, held, self._held = self._waiting(), self._held, []
        self._held_size, self._due = 0, math.inf
        for message, (_, topic, _) in zip(timed, held, strict=True):
            self._bag.write(*message)
            topic.count += 1

    def _waiting(self) -> list[tuple[int, int, bytes]]:
        """Return channel, log time [ns] and bytes of the kept messages, as `release` would write them now."""
        stamped = self._stamps_to_come()
        return [(topic.channel, self._latest if stamped else sent, data) for sent, topic, data in self._held]

    def summary(self) -> str:
        """Return a summary of the recording, with a warning about missing topics."""
        count = sum(topic.count for topic in self._topics.values())
        size = self._bag.bytes_written / 1e6
        text = (
            f"recorded {counted(count, 'message')} of {counted(len(self._topics), 'topic')}, {size:.1f} MB, "
            f"into {self._bag.folder}"
        )
        absent = sorted(self._wanted - self._topics.keys())
        if absent:
            text += f"\nwarning: never published: {', '.join(absent)}"
        return text

    def loss(self) -> str:
        """Return how many messages were lost; empty if none was."""
        missed = {name: topic.missed for name, topic in self._topics.items() if topic.missed}
        if not missed:
            return ""
        worst = max(missed, key=missed.__getitem__)
        count = counted(sum(missed.values()), "message")
        return (
            f"{self._bag.folder}: {count} lost, most of {worst}, because the recorder was stopped or too"
            " slow; use a smaller real_time_factor or fewer topics"
        )


def qos_fields(profile: QoSProfile) -> dict[str, Any]:
    """Return a publisher's QoS in rosbag2's format.

    DDS does not report the history, so the history of this package's publishers is assumed.
    """
    return {
        "history": "keep_last",
        "depth": max(profile.depth, 10) if profile.durability != DurabilityPolicy.TRANSIENT_LOCAL else 1,
        "reliability": profile.reliability.name.lower(),
        "durability": profile.durability.name.lower(),
        "deadline": _time(profile.deadline),
        "lifespan": _time(profile.lifespan),
        "liveliness": profile.liveliness.name.lower(),
        "liveliness_lease_duration": _time(profile.liveliness_lease_duration),
        "avoid_ros_namespace_conventions": profile.avoid_ros_namespace_conventions,
    }


def _time(duration: Any) -> dict[str, int]:
    seconds, nanoseconds = divmod(duration.nanoseconds, 10**9)
    return {"sec": seconds, "nsec": nanoseconds}

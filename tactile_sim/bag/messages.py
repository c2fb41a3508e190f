"""Decode the messages of a bag one at a time, without loading the bag into memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from tactile_sim.bag.known_types import check_definition, check_rows
from tactile_sim.bag.mcap_file import McapScan, Progress
from tactile_sim.bag.mcap_file import Message as Stored
from tactile_sim.bag.metadata import files_of
from tactile_sim.bag.optional_deps import require
from tactile_sim.common.errors import BagError
from tactile_sim.wire.decode import decoder
from tactile_sim.wire.records import Record, is_row
from tactile_sim.wire.sources import of_definition
from tactile_sim.wire.stamps import stamp_of
from tactile_sim.wire.types import Struct, WireError


class Message(NamedTuple):
    """A decoded message.

    ``log_time`` is in ns. ``stamp`` is the stamp in the message [ns], or the log time if the message has
    no stamp.
    """

    topic: str
    type_name: str
    log_time: int
    stamp: int
    value: Any


class Messages:
    """Iterates over the decoded messages of selected topics, in the order of the bag.

    After the iteration, ``damage`` describes the damage of the bag or is None, ``lost`` is the number of
    bytes that could not be read, and ``others`` contains the names of the topics that were not selected.

    Args:
        path: The bag's folder or MCAP file.
        wanted: Returns whether to decode a topic. By default all topics are decoded.
        progress: Called with the number of bytes read and the size of the file.

    Raises:
        BagError: ``path`` is not an MCAP bag, a topic's messages are not ROS 2 messages, or a message does
            not match the definition of its type in the bag.
    """

    def __init__(
        self,
        path: Path,
        wanted: Callable[[str], bool] = lambda topic: True,
        progress: Progress | None = None,
    ) -> None:
        self.files = files_of(path)
        self.wanted = wanted
        self.progress = progress
        self.damage: str | None = None
        self.lost = 0
        self.others: set[str] = set()
        self._decoders: dict[str, TopicDecoder] = {}

    def __iter__(self) -> Iterator[Message]:
        self.damage, self.lost = None, 0
        for file in self.files:
            scan = McapScan(file, self.progress)
            for message in scan:
                topic = message.channel.topic
                if not self.wanted(topic):
                    self.others.add(topic)
                    continue
                if topic not in self._decoders:
                    self._decoders[topic] = decoder_of(message)
                kind = self._decoders[topic].kind
                value = self._decoders[topic].decode(message, bytes(message.data))
                stamp = stamp_of(kind, message.data)
                yield Message(
                    topic,
                    message.schema.name,
                    message.log_time,
                    message.log_time if stamp is None else stamp,
                    value,
                )
            if scan.damage:
                self.damage = self.damage or f"{file.name}: {scan.damage}"
                self.lost += scan.lost


class Selection:
    """A set of topics, selected by name with or without the leading slash. None selects all topics."""

    def __init__(self, names: Collection[str] | None) -> None:
        if names is not None and (
            isinstance(names, str | bytes)
            or not isinstance(names, Collection)
            or getattr(names, "ndim", 1) != 1
            or not all(isinstance(name, str) for name in names)
        ):
            raise BagError(f"topics: must be a list of names, got {names!r}")
        self.names = None if names is None else list(names)
        own = self.names or []
        self._both = {*own, *("/" + name.lstrip("/") for name in own)}

    def __contains__(self, topic: str) -> bool:
        return self.names is None or topic in self._both

    def missing(self, found: Collection[str]) -> str | None:
        """Return the first selected name that is not in ``found`` (with a leading slash added), or None."""
        for name in self.names or ():
            full = "/" + name.lstrip("/")
            if name not in found and full not in found:
                return full
        return None


def unique_names(topics: Iterable[str], name_of: Callable[[str], str]) -> dict[str, str]:
    """Map topics to unique names. Numbers are appended to duplicates.

    Args:
        topics: Names of the topics.
        name_of: Returns the preferred name of a topic.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for topic in sorted(topics):
        name = name_of(topic)
        numbered = (f"{name}_{number}" for number in count(2))
        names[topic] = name if name not in taken else next(other for other in numbered if other not in taken)
        taken.add(names[topic])
    return names


class TopicDecoder:
    """Decodes messages of one type."""

    def __init__(self, kind: Struct) -> None:
        self.kind = kind
        self._decoder = decoder(kind)

    def decode(self, message: Stored, data: bytes | memoryview) -> Any:
        """Decode a message.

        Args:
            message: The stored message, whose topic and log time are used in errors.
            data: The serialized message. Arrays in the result are views of it.

        Raises:
            BagError: The data is not a message of the topic's type.
        """
        try:
            value = self._decoder.decode(data)
        except WireError as error:
            raise _invalid(message.channel.topic, message.log_time, error) from None
        if is_row(self.kind):  # a struct of equal numbers, such as a Point, which decodes to an array
            names = (name for name, _, _ in self.kind.fields)
            return Record(**dict(zip(names, value.tolist(), strict=True)))
        return value


def require_rows(message: Message) -> None:
    """Check the array lengths in a decoded message of a known type.

    Raises:
        BagError: An array has an invalid length. The error names the topic and log time.
    """
    try:
        check_rows(message.type_name, message.value)
    except WireError as error:
        raise _invalid(message.topic, message.log_time, error) from None


def _invalid(topic: str, log_time: int, error: WireError) -> BagError:
    return BagError(f"{topic}: invalid message at {log_time / 1e9:.3f} s: {error}")


def decoder_of(message: Stored) -> TopicDecoder:
    """Create the decoder for the messages of a topic.

    Args:
        message: Any message of the topic.

    Raises:
        BagError: The messages are not ROS 2 messages, the bag's definition of their type is invalid, or
            rosbags is not installed.
    """
    require("reading a bag", "rosbags.typesys", "rosbags", "rosbags")
    channel, schema = message.channel, message.schema
    if (channel.message_encoding, schema.encoding) != ("cdr", "ros2msg"):
        raise BagError(
            f"{channel.topic}: must be encoded as 'cdr' with types in 'ros2msg', got "
            f"{channel.message_encoding!r} with types in {schema.encoding!r}; select other topics"
        )
    try:
        struct = of_definition(schema.name, schema.data.decode())
        check_definition(struct)
        return TopicDecoder(struct)
    except (WireError, UnicodeDecodeError) as error:
        raise BagError(f"{channel.topic} cannot be read: {' '.join(str(error).split())}") from None

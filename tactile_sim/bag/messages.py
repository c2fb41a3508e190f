"""The messages of a bag one after the other, decoded: whatever the bag's size, one is held at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tactile_sim.bag.extra import require
from tactile_sim.bag.mcap_file import McapScan, Progress
from tactile_sim.bag.mcap_file import Message as Stored
from tactile_sim.bag.metadata import files_of
from tactile_sim.errors import BagError
from tactile_sim.wire.decode import Decoder, decoder
from tactile_sim.wire.sources import of_definition
from tactile_sim.wire.stamps import stamp_of
from tactile_sim.wire.types import WireError


class Message(NamedTuple):
    """A message: ``log_time`` and ``stamp``, its own time or the log time where it has none, in ns."""

    topic: str
    type_name: str
    log_time: int
    stamp: int
    value: Any


class Messages:
    """Iterates over the messages of those topics for which ``wanted`` is true, in the order of the bag.

    After the iteration ``damage`` says what is wrong with the bag, if so, ``lost`` how many bytes that cost,
    and ``others`` holds the names of the topics that were not wanted.

    Raises:
        BagError: it is no bag, or of another storage; or a topic's messages are not of ROS 2.
        WireError: a message does not fit the definition that the bag gives of its type.
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
        self._decoders: dict[str, Decoder] = {}

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
                decode = self._decoders[topic]
                stamp = stamp_of(decode.kind, message.data)
                yield Message(
                    topic,
                    message.schema.name,
                    message.log_time,
                    message.log_time if stamp is None else stamp,
                    decode.decode(bytes(message.data)),  # a copy: who keeps an array keeps no chunk
                )
            if scan.damage:
                self.damage = self.damage or f"{file.name}: {scan.damage}"
                self.lost += scan.lost


def decoder_of(message: Stored) -> Decoder:
    """Return the decoder of a topic's messages.

    Raises:
        BagError: they are not ROS 2 messages, or rosbags is not installed.
    """
    require("reading a bag", "rosbags.typesys", "rosbags", "rosbags")
    channel, schema = message.channel, message.schema
    if (channel.message_encoding, schema.encoding) != ("cdr", "ros2msg"):
        kind = f"{channel.message_encoding or 'unknown'} with types in {schema.encoding or 'no language'}"
        raise BagError(
            f"{channel.topic} is {kind}; only cdr with types in ros2msg is read: name the topics you need"
        )
    try:
        return decoder(of_definition(schema.name, schema.data.decode()))
    except (WireError, UnicodeDecodeError) as error:
        raise BagError(f"{channel.topic} cannot be read: {' '.join(str(error).split())}") from None

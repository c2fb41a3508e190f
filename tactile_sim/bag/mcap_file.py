"""An MCAP file read from front to back: as far as it goes, and past what is damaged.

The records are the ``mcap`` library's. https://mcap.dev/spec
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, Metadata, Schema
from mcap.stream_reader import get_chunk_data_stream

from tactile_sim.bag.chunk_recovery import CHUNK_HEAD, chunk_size, last_place, next_chunk
from tactile_sim.errors import BagError

MAGIC = b"\x89MCAP0\r\n"
HEAD = struct.Struct("<BQ")
"""Of a record: what it is and how long."""
MESSAGE = struct.Struct("<BQHIQQ")
"""The same, and channel, sequence, log time, publish time."""
SEARCHED = 256 << 20
"""Bytes that are searched for a first chunk if a file does not begin like an MCAP file."""
LAST_TIME = (1 << 63) - 1
"""Last log time [ns]: rosbag2 and numpy count it in signed integers."""
MESSAGE_FIELDS = MESSAGE.size - HEAD.size
DATA_END = HEAD.pack(Opcode.DATA_END, 4)
"""How the record begins behind which the summary is."""
_INDEX = struct.Struct("<HI")
"""Of the messages of a chunk: channel, and how many bytes follow."""
_BROKEN = (
    McapError,
    ValueError,
    struct.error,
    zstandard.ZstdError,
    RuntimeError,
    OverflowError,
    MemoryError,  # a broken chunk may claim any size
)
"""What comes of reading what is none."""

Progress = Callable[[int, int], None]
"""Told how many bytes of a file are done, and its size."""


@dataclass(frozen=True)
class Message:
    """A message as it lies in a file."""

    channel: Channel
    schema: Schema
    log_time: int
    publish_time: int
    data: memoryview


NO_SCHEMA = Schema(id=0, data=b"", encoding="", name="")
"""Of channels that name none."""


class McapScan:
    """The messages of a file from front to back, without its index: so a file that just stops can be read.

    Where something is damaged, it goes on with the next whole chunk: what its checksum confirms is given,
    and nothing else. After the iteration ``damage`` says what is wrong with the file, and ``metadata`` holds
    its metadata records by name. ``kept`` is where the record begins whose messages come. ``progress`` is
    called after each record.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path = path
        self.progress = progress
        self.channels: dict[int, Channel] = {}
        self.schemas: dict[int, Schema] = {NO_SCHEMA.id: NO_SCHEMA}
        self.metadata: dict[str, dict[str, str]] = {}
        self.size = self.kept = 0
        self._faults: dict[int, tuple[str, int]] = {}  # by place: what, and how many bytes it cost

    @property
    def damage(self) -> str | None:
        """What is wrong in one line, or None."""
        if not self._faults:
            return None
        what, _ = self._faults[min(self._faults)]
        more = len(self._faults) - 1
        return what + (f", and {more} more such place{'s' * (more > 1)}" if more else "")

    @property
    def lost(self) -> int:
        """The number of bytes that could not be read."""
        return sum(cost for _, cost in self._faults.values())

    def __iter__(self) -> Iterator[Message]:
        with open(self.path, "rb") as file:
            self.size = os.fstat(file.fileno()).st_size
            if file.read(len(MAGIC)) != MAGIC:
                end = min(self.size, SEARCHED)
                if self.size < len(MAGIC) or next_chunk(file, len(MAGIC), end) == end:
                    raise BagError(f"{self.path} is not an MCAP file, or an empty one")
                self._fault(0, "its first bytes are not those of an MCAP file", 0)
            yield from self._records(file, len(MAGIC))

    def after(self, offset: int) -> Iterator[Message]:
        """The messages of a record and of all behind it, once an iteration has been through.

        offset: what ``kept`` was as one of the record's messages came.
        """
        with open(self.path, "rb") as file:
            yield from self._records(file, offset)

    def _records(self, file: BinaryIO, place: int) -> Iterator[Message]:
        settled = place  # no chunk before it is still to be read
        while place < self.size:
            self.kept = place
            file.seek(place)
            head = file.read(CHUNK_HEAD)
            chunk = chunk_size(head)
            fits = 0 < chunk <= self.size - place
            try:
                if head[0] == Opcode.FOOTER and not fits:
                    self._end(file, place)
                    return
                length = chunk if fits else self._length(head, self.size - place)
                file.seek(place + HEAD.size)
                # A head that is a chunk's is one, whatever it is called.
                opcode = Opcode.CHUNK if fits else head[0]
                yield from self._record(opcode, file.read(length - HEAD.size))
                if opcode != head[0]:
                    self._fault(place, f"broken at byte {place}: a chunk is marked as another record", 0)
                place += length
                if opcode in (Opcode.CHUNK, Opcode.MESSAGE):
                    settled = place
            except _BROKEN as error:
                self._learn(file)
                if fits:  # what is in a chunk may look like one, unless the chunk has lost its end
                    settled = place + (chunk if self._begins(file, place + chunk) else 1)
                found = next_chunk(file, settled, self.size)
                reason = " ".join(str(error).split()) or type(error).__name__
                self._fault(place, f"broken at byte {place}: {reason}", max(0, found - place))
                place = settled = found
            if self.progress:
                self.progress(place, self.size)
        if not self._faults:
            self._fault(self.size, "it ends without a summary: its writer was stopped", 0)

    def _fault(self, place: int, what: str, cost: int) -> None:
        self._faults[place] = what, cost

    def _end(self, file: BinaryIO, place: int) -> None:
        """Raise a ValueError where the footer is not the end of the file."""
        file.seek(place)
        rest = file.read(1 << 10)
        if rest[HEAD.size + HEAD.unpack_from(rest)[1] :] != MAGIC:
            raise ValueError("its end is not that of an MCAP file")

    def _length(self, head: bytes, left: int) -> int:
        """Of a record that is not a chunk, with its head; raises a ValueError where it cannot be one."""
        if len(head) < HEAD.size:
            raise ValueError(f"it stops within a record: {left} bytes of {HEAD.size}")
        opcode, length = HEAD.unpack_from(head)
        if length > left - HEAD.size:
            raise ValueError(f"it stops within a record: {left - HEAD.size} bytes of {length}")
        if opcode == Opcode.CHUNK:
            raise ValueError("the lengths of a chunk contradict each other")
        if opcode == Opcode.MESSAGE_INDEX and length - _INDEX.size != _INDEX.unpack_from(head, HEAD.size)[1]:
            raise ValueError("the lengths of an index contradict each other")
        if not 0 < opcode <= max(Opcode) and opcode < 0x80:  # from there on are those of applications
            raise ValueError(f"there is no record {opcode}")
        return int(HEAD.size + length)

    def _begins(self, file: BinaryIO, place: int) -> bool:
        """Whether a record begins at a place."""
        file.seek(place)
        head = file.read(CHUNK_HEAD)
        try:
            return chunk_size(head) > 0 or self._length(head, self.size - place) > 0
        except _BROKEN:
            return False

    def _learn(self, file: BinaryIO) -> None:
        """Take topics and types from the summary: those that were in what is broken are there as well."""
        place = last_place(file, DATA_END, self.size)
        with suppress(*_BROKEN):
            while place < self.size:
                file.seek(place)
                opcode, length = HEAD.unpack(file.read(HEAD.size))
                if opcode == Opcode.FOOTER or length > self.size - place:
                    return
                if opcode in (Opcode.SCHEMA, Opcode.CHANNEL):
                    list(self._record(opcode, file.read(length)))
                place += HEAD.size + length

    def _record(self, opcode: int, data: bytes, sure: bool = False) -> Iterator[Message]:
        """The messages of a record. What is sure comes from a chunk: its topics and types stand."""
        stream = ReadDataStream(BytesIO(data))
        if opcode == Opcode.SCHEMA:
            schema = Schema.read(stream)
            if schema.encoding.startswith("ros2"):
                schema.data.decode()  # raises a ValueError where it is no text
            if sure or schema.id not in self.schemas:
                self.schemas[schema.id] = schema
        elif opcode == Opcode.CHANNEL:
            channel = Channel.read(stream)
            if sure or channel.id not in self.channels:
                self.channels[channel.id] = channel
        elif opcode == Opcode.METADATA:
            record = Metadata.read(stream)
            self.metadata[record.name] = record.metadata
        elif opcode == Opcode.MESSAGE:
            yield from self._messages(HEAD.pack(opcode, len(data)) + data)
        elif opcode == Opcode.CHUNK:
            inner, length = get_chunk_data_stream(Chunk.read(stream), validate_crc=True)
            yield from self._messages(inner.read(length))

    def _messages(self, data: bytes) -> Iterator[Message]:
        view, position, unknown, late = memoryview(data), 0, 0, 0
        while position < len(data):
            opcode, length = HEAD.unpack_from(data, position)
            end = position + HEAD.size + length
            if end > len(data):
                raise ValueError("a record is longer than its chunk")
            if opcode == Opcode.MESSAGE:
                _, _, channel_id, _, logged, published = MESSAGE.unpack_from(data, position)
                channel = self.channels.get(channel_id)
                schema = self.schemas.get(channel.schema_id) if channel else None
                if logged > LAST_TIME:
                    late += length
                elif channel is not None and schema is not None:
                    yield Message(channel, schema, logged, published, view[position + MESSAGE.size : end])
                else:
                    unknown += length
            else:
                yield from self._record(opcode, data[position + HEAD.size : end], sure=True)
            position = end
        if unknown:
            what = f"broken before byte {self.kept}: messages from there on are of an unknown topic or type"
            self._fault(self.kept, what, unknown)
        if late:
            what = f"broken before byte {self.kept}: messages have log times beyond {LAST_TIME} ns"
            self._fault(self.kept, what, late)

"""Read MCAP files sequentially, including truncated and damaged files.

The ``mcap`` library parses the records. The format is specified at https://mcap.dev/spec.
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
from tactile_sim.common.errors import BagError

MAGIC = b"\x89MCAP0\r\n"
HEAD = struct.Struct("<BQ")
"""Header of a record: opcode and length."""
MESSAGE = struct.Struct("<BQHIQQ")
"""Header of a message record: opcode, length, channel, sequence, log time, publish time."""
SEARCHED = 256 << 20
"""Maximum number of bytes searched for the first chunk if the start of a file is damaged."""
LAST_TIME = (1 << 63) - 1
"""Largest supported log time [ns]: rosbag2 and numpy use signed integers."""
MESSAGE_FIELDS = MESSAGE.size - HEAD.size
DATA_END = HEAD.pack(Opcode.DATA_END, 4)
"""First bytes of the DataEnd record, after which the summary begins."""
_INDEX = struct.Struct("<HI")
"""First fields of a message index: channel, and number of bytes that follow."""
_BROKEN = (
    McapError,
    ValueError,
    struct.error,
    zstandard.ZstdError,
    RuntimeError,
    OverflowError,
    MemoryError,  # a damaged chunk may state any size
)
"""Errors that reading corrupt data can raise."""

Progress = Callable[[int, int], None]
"""Callback that receives the number of bytes processed and the size of the file [bytes]."""


@dataclass(frozen=True)
class Message:
    """A serialized message in a file, with its log and publish times [ns]."""

    channel: Channel
    schema: Schema
    log_time: int
    publish_time: int
    data: memoryview


NO_SCHEMA = Schema(id=0, data=b"", encoding="", name="")
"""Placeholder for channels without a schema."""


class McapScan:
    """Iterates over the messages of a file from front to back, without using its index.

    This also works for truncated files. After damaged bytes, it continues with the next complete chunk.
    Chunks with a wrong checksum are skipped.

    Attributes:
        metadata: Metadata records, keyed by name; complete after the iteration.
        kept: Offset in the file of the record that contains the current message, for use with `after`.
        size: Size of the file [bytes].

    Args:
        path: The MCAP file.
        progress: Called after each record.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path = path
        self.progress = progress
        self.channels: dict[int, Channel] = {}
        self.schemas: dict[int, Schema] = {NO_SCHEMA.id: NO_SCHEMA}
        self.metadata: dict[str, dict[str, str]] = {}
        self.size = self.kept = 0
        self._faults: dict[int, tuple[str, int]] = {}  # by offset: description and number of bytes lost

    @property
    def damage(self) -> str | None:
        """One-line description of the damage, or None; complete after the iteration."""
        if not self._faults:
            return None
        what, _ = self._faults[min(self._faults)]
        more = len(self._faults) - 1
        return what + (f", and {more} more damaged place{'s' * (more > 1)}" if more else "")

    @property
    def lost(self) -> int:
        """Number of bytes in the file that could not be read; complete after the iteration."""
        return sum(cost for _, cost in self._faults.values())

    def __iter__(self) -> Iterator[Message]:
        with open(self.path, "rb") as file:
            self.size = os.fstat(file.fileno()).st_size
            if file.read(len(MAGIC)) != MAGIC:
                end = min(self.size, SEARCHED)
                if self.size < len(MAGIC) or next_chunk(file, len(MAGIC), end) == end:
                    remedy = "; give the bag's folder" if self.path.name == "metadata.yaml" else ""
                    raise BagError(f"{self.path} is not an MCAP file, or is empty{remedy}")
                self._fault(0, "the file does not begin like an MCAP file", 0)
            yield from self._records(file, len(MAGIC))

    def after(self, offset: int) -> Iterator[Message]:
        """Iterate over the messages from a record to the end of the file.

        Call this only after a complete iteration.

        Args:
            offset: Offset of the first record: the value of ``kept`` while a message in it was current.
        """
        with open(self.path, "rb") as file:
            yield from self._records(file, offset)

    def _records(self, file: BinaryIO, place: int) -> Iterator[Message]:
        settled = place  # all chunks before this offset have been read
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
                # A consistent chunk header is trusted more than the opcode.
                opcode = Opcode.CHUNK if fits else head[0]
                yield from self._record(opcode, file.read(length - HEAD.size))
                if opcode != head[0]:
                    self._fault(place, f"broken at byte {place}: a chunk has another record's opcode", 0)
                place += length
                if opcode in (Opcode.CHUNK, Opcode.MESSAGE):
                    settled = place
            except _BROKEN as error:
                self._learn(file)
                if fits:  # skip the chunk, whose data may look like a chunk, unless its end is missing
                    settled = place + (chunk if self._begins(file, place + chunk) else 1)
                found = next_chunk(file, settled, self.size)
                reason = " ".join(str(error).split()) or type(error).__name__
                self._fault(place, f"broken at byte {place}: {reason}", max(0, found - place))
                place = settled = found
            if self.progress:
                self.progress(place, self.size)
        if not self._faults:
            self._fault(self.size, "the file has no summary: its writer was stopped", 0)

    def _fault(self, place: int, what: str, cost: int) -> None:
        self._faults[place] = what, cost

    def _end(self, file: BinaryIO, place: int) -> None:
        """Check that the footer is at the end of the file.

        Raises:
            ValueError: The footer is incomplete or is not at the end of the file.
        """
        file.seek(place)
        rest = file.read(1 << 10)
        if rest[HEAD.size + HEAD.unpack_from(rest)[1] :] != MAGIC:
            raise ValueError("the file does not end like an MCAP file")

    def _length(self, head: bytes, left: int) -> int:
        """Return the size of a record other than a chunk [bytes].

        Args:
            head: First bytes of the record.
            left: Number of bytes from the start of the record to the end of the file.

        Raises:
            ValueError: The size is invalid.
        """
        if len(head) < HEAD.size:
            raise ValueError(f"the file ends within a record: {left} bytes of {HEAD.size}")
        opcode, length = HEAD.unpack_from(head)
        if length > left - HEAD.size:
            raise ValueError(f"the file ends within a record: {left - HEAD.size} bytes of {length}")
        if opcode == Opcode.CHUNK:
            raise ValueError("the lengths of a chunk contradict each other")
        if opcode == Opcode.MESSAGE_INDEX and length - _INDEX.size != _INDEX.unpack_from(head, HEAD.size)[1]:
            raise ValueError("the lengths of an index contradict each other")
        if not 0 < opcode <= max(Opcode) and opcode < 0x80:  # 0x80 and above are reserved for applications
            raise ValueError(f"unknown record type {opcode}")
        return int(HEAD.size + length)

    def _begins(self, file: BinaryIO, place: int) -> bool:
        """Return whether a valid record begins at offset ``place`` of the file [bytes].

        This moves the file position.
        """
        file.seek(place)
        head = file.read(CHUNK_HEAD)
        try:
            return chunk_size(head) > 0 or self._length(head, self.size - place) > 0
        except _BROKEN:
            return False

    def _learn(self, file: BinaryIO) -> None:
        """Read topics and types from the file's summary, because those in the chunks may be damaged."""
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
        """Yield the messages of a record, and store its topics, types and metadata.

        Args:
            opcode: The type of the record.
            data: The record without opcode and length.
            sure: Whether the record is from a chunk with a correct checksum. If True, its topics and types
                replace earlier ones.
        """
        stream = ReadDataStream(BytesIO(data))
        if opcode == Opcode.SCHEMA:
            schema = Schema.read(stream)
            if schema.encoding.startswith("ros2"):
                schema.data.decode()  # raises a ValueError if it is not text
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

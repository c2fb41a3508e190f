"""An MCAP file, written so that it can be read at any moment, and read as far as it goes.

The records are the ``mcap`` library's; its writer ends a chunk by size alone, so chunks are put together
here, where they also end in time. https://mcap.dev/spec
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import zstandard
from mcap.data_stream import ReadDataStream, RecordBuilder
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import (
    Channel,
    Chunk,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    MessageIndex,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
    SummaryOffset,
)
from mcap.stream_reader import get_chunk_data_stream

from tactile_sim.errors import BagError

MAGIC = b"\x89MCAP0\r\n"
CHUNK_SIZE = 4 << 20  # bytes at which a chunk ends before its time
_HEAD = struct.Struct("<BQ")  # of a record: what it is and how long
_MESSAGE = struct.Struct("<BQHIQQ")  # the same, and channel, sequence, log time, publish time
_MESSAGE_FIELDS = _MESSAGE.size - _HEAD.size

Progress = Callable[[int, int], None]
"""Told how many bytes of a file are done, and its size."""


@dataclass
class _OpenChunk:
    data: bytearray = field(default_factory=bytearray)
    start: int = 0
    end: int = 0
    index: dict[int, list[tuple[int, int]]] = field(default_factory=dict)


class McapWriter:
    """Writes one file; what is flushed stays readable whatever happens to the process."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "xb", buffering=0)  # each chunk goes to the system in one call
        self._end = 0
        self._schemas: list[Schema] = []
        self._channels: list[Channel] = []
        self._chunks: list[ChunkIndex] = []
        self._chunk = _OpenChunk()
        self._compressor = zstandard.ZstdCompressor(level=1)
        self.counts: dict[int, int] = {}
        self._empty = True
        self.start = self.stop = 0  # log times [ns] of the messages on disk and in the open chunk
        self._append(MAGIC + _bytes(Header(profile="ros2", library="tactile_sim")))

    def add_channel(self, topic: str, type_name: str, definition: str, metadata: dict[str, str]) -> int:
        """Make a topic known with its type (``ros2msg`` text); returns its id for :meth:`write`."""
        schema = next((schema for schema in self._schemas if schema.name == type_name), None)
        if schema is None:
            schema = Schema(
                id=len(self._schemas) + 1, name=type_name, encoding="ros2msg", data=definition.encode()
            )
            self._schemas.append(schema)
            self._chunk.data += _bytes(schema)
        channel = Channel(
            id=len(self._channels) + 1,
            topic=topic,
            message_encoding="cdr",
            metadata=metadata,
            schema_id=schema.id,
        )
        self._channels.append(channel)
        self._chunk.data += _bytes(channel)
        self.counts[channel.id] = 0
        return channel.id

    def write(self, channel: int, log_time: int, data: bytes | memoryview) -> None:
        """Add a message to the open chunk; ends the chunk if it is large."""
        chunk = self._chunk
        if not chunk.index:
            chunk.start = chunk.end = log_time
        if self._empty:
            self.start = self.stop = log_time
            self._empty = False
        chunk.start, chunk.end = min(chunk.start, log_time), max(chunk.end, log_time)
        self.start, self.stop = min(self.start, log_time), max(self.stop, log_time)
        chunk.index.setdefault(channel, []).append((log_time, len(chunk.data)))
        sequence = self.counts[channel] = self.counts[channel] + 1
        length = _MESSAGE_FIELDS + len(data)
        chunk.data += _MESSAGE.pack(Opcode.MESSAGE, length, channel, sequence, log_time, log_time)
        chunk.data += data
        if len(chunk.data) >= CHUNK_SIZE:
            self.end_chunk()

    def end_chunk(self) -> None:
        """Hand what was written so far to the operating system, as a chunk with its index."""
        chunk = self._chunk
        if not chunk.data:
            return
        packed = self._compressor.compress(chunk.data)
        crc = zlib.crc32(chunk.data)
        record = _bytes(Chunk("zstd", packed, chunk.end, chunk.start, crc, len(chunk.data)))
        offsets, indices = {}, b""
        for channel, records in chunk.index.items():
            offsets[channel] = self._end + len(record) + len(indices)
            indices += _bytes(MessageIndex(channel, records))
        index = ChunkIndex(
            chunk_length=len(record),
            chunk_start_offset=self._end,
            compression="zstd",
            compressed_size=len(packed),
            message_end_time=chunk.end,
            message_index_length=len(indices),
            message_index_offsets=offsets,
            message_start_time=chunk.start,
            uncompressed_size=len(chunk.data),
        )
        try:
            self._append(record + indices)
        except OSError:
            for channel, records in chunk.index.items():
                self.counts[channel] -= len(records)
            self._chunk = _OpenChunk()  # it is lost: there is no place for it
            raise
        self._chunks.append(index)
        self._chunk = _OpenChunk()

    def finish(self, metadata: str) -> None:
        """End the file with rosbag2's ``metadata`` (YAML) and the summary that lets readers jump."""
        try:
            self.end_chunk()
            start = self._end
            record = _bytes(Metadata(name="rosbag2", metadata={"serialized_metadata": metadata}))
            place = MetadataIndex(offset=start, length=len(record), name="rosbag2")
            self._append(record + _bytes(DataEnd(data_section_crc=0)))
            self._append(self._summary(place))
        finally:
            self._file.close()

    def _summary(self, metadata: MetadataIndex) -> bytes:
        statistics = Statistics(
            attachment_count=0,
            channel_count=len(self._channels),
            channel_message_counts=self.counts,
            chunk_count=len(self._chunks),
            message_count=sum(self.counts.values()),
            message_end_time=self.stop,
            message_start_time=self.start,
            metadata_count=1,
            schema_count=len(self._schemas),
        )
        groups: list[tuple[Opcode, list[McapRecord]]] = [
            (Opcode.SCHEMA, [*self._schemas]),
            (Opcode.CHANNEL, [*self._channels]),
            (Opcode.STATISTICS, [statistics]),
            (Opcode.CHUNK_INDEX, [*self._chunks]),
            (Opcode.METADATA_INDEX, [metadata]),
        ]
        summary, offsets = b"", b""
        for opcode, records in groups:
            if records:
                data = b"".join(map(_bytes, records))
                offsets += _bytes(SummaryOffset(opcode, self._end + len(summary), len(data)))
                summary += data
        footer = Footer(summary_start=self._end, summary_offset_start=self._end + len(summary), summary_crc=0)
        return summary + offsets + _bytes(footer) + MAGIC

    def _append(self, data: bytes) -> None:
        """Write all of ``data`` or, on a full disk, nothing."""
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError:
            os.ftruncate(self._file.fileno(), self._end)
            os.lseek(self._file.fileno(), self._end, os.SEEK_SET)
            raise
        self._end += len(data)

    @property
    def bytes_written(self) -> int:
        """The size of the file."""
        return self._end


def _bytes(record: McapRecord) -> bytes:
    builder = RecordBuilder()
    record.write(builder)
    return builder.end()


@dataclass(frozen=True)
class Message:
    """A message as it lies in a file."""

    channel: Channel
    schema: Schema
    log_time: int
    data: memoryview


class McapScan:
    """The messages of a file from front to back, without its index: so a file that just stops can be read.

    After the iteration ``damage`` says in one line what is wrong with the file, or is None; ``kept`` is the
    number of bytes that were good. ``progress`` is told after each record.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path = path
        self.progress = progress
        self.channels: dict[int, Channel] = {}
        self.schemas: dict[int, Schema] = {}
        self.damage: str | None = None
        self.size = self.kept = 0

    def __iter__(self) -> Iterator[Message]:
        with open(self.path, "rb") as file:
            self.size = os.fstat(file.fileno()).st_size
            if file.read(len(MAGIC)) != MAGIC:
                raise BagError(f"{self.path} is not an MCAP file, or an empty one")
            self.kept = len(MAGIC)
            yield from self._records(file)

    def after(self, offset: int) -> Iterator[Message]:
        """The messages of a record and of all behind it, once an iteration has been through.

        offset: what ``kept`` was as one of the record's messages came.
        """
        with open(self.path, "rb") as file:
            self.kept = file.seek(offset)
            yield from self._records(file)

    def _records(self, file: BinaryIO) -> Iterator[Message]:
        while True:
            head = file.read(_HEAD.size)
            if len(head) < _HEAD.size:
                self.damage = "it ends without a summary: its writer was stopped"
                return
            opcode, length = _HEAD.unpack(head)
            left = self.size - self.kept - _HEAD.size
            if length > left:
                self.damage = f"it stops within a record: {left} bytes of {length}"
                return
            if opcode == Opcode.FOOTER:
                if file.read()[length:] == MAGIC:
                    self.kept = self.size
                else:
                    self.damage = "its end is not that of an MCAP file"
                return
            try:
                yield from self._record(opcode, file.read(length))
            except (
                McapError,
                ValueError,
                struct.error,
                zstandard.ZstdError,
                RuntimeError,
            ) as error:
                self.damage = (
                    f"broken at byte {self.kept}: {' '.join(str(error).split()) or type(error).__name__}"
                )
                return
            self.kept += _HEAD.size + length
            if self.progress:
                self.progress(self.kept, self.size)

    def _record(self, opcode: int, data: bytes) -> Iterator[Message]:
        stream = ReadDataStream(BytesIO(data))
        if opcode == Opcode.SCHEMA:
            schema = Schema.read(stream)
            self.schemas[schema.id] = schema
        elif opcode == Opcode.CHANNEL:
            channel = Channel.read(stream)
            self.channels[channel.id] = channel
        elif opcode == Opcode.MESSAGE:
            yield from self._messages(_HEAD.pack(opcode, len(data)) + data)
        elif opcode == Opcode.CHUNK:
            inner, length = get_chunk_data_stream(Chunk.read(stream), validate_crc=True)
            yield from self._messages(inner.read(length))

    def _messages(self, data: bytes) -> Iterator[Message]:
        view, position = memoryview(data), 0
        while position < len(data):
            opcode, length = _HEAD.unpack_from(data, position)
            end = position + _HEAD.size + length
            if end > len(data):
                raise ValueError("a record is longer than its chunk")
            if opcode == Opcode.MESSAGE:
                _, _, channel_id, _, log_time, _ = _MESSAGE.unpack_from(data, position)
                channel = self.channels.get(channel_id)
                schema = self.schemas.get(channel.schema_id) if channel else None
                if channel is None or schema is None:
                    raise ValueError("a message of an unknown topic or type")
                yield Message(channel, schema, log_time, view[position + _MESSAGE.size : end])
            else:
                yield from self._record(opcode, data[position + _HEAD.size : end])
            position = end

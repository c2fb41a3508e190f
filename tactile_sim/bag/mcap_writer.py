"""Write MCAP files that stay readable if the process is killed.

The ``mcap`` library serializes the records. The library's own writer ends a chunk only when the chunk is
full, and cannot remove written data. This module therefore assembles the chunks itself and can end them at
any time. It needs 0.45 times the CPU time of the library's writer for messages of 3 kB, and 0.95 times for
messages of 40 kB. The format is specified at https://mcap.dev/spec.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard
from mcap.data_stream import RecordBuilder
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

from tactile_sim.bag.mcap_file import MAGIC, MESSAGE, MESSAGE_FIELDS

CHUNK_SIZE = 4 << 20
"""Chunk size at which `McapWriter.write` ends a chunk [bytes]."""


@dataclass
class _OpenChunk:
    data: bytearray = field(default_factory=bytearray)
    start: int = 0
    end: int = 0
    index: dict[int, list[tuple[int, int]]] = field(default_factory=dict)


_STATE = ("_end", "_chunks", "_chunk", "_definitions", "_empty", "counts", "start", "stop")
"""Attributes that a draft changes and that are restored when the draft is removed."""


class McapWriter:
    """Writes one MCAP file. Completed chunks stay readable if the process is killed."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "xb", buffering=0)  # each chunk is written in one system call
        self._end = 0
        self._schemas: list[Schema] = []
        self._channels: list[Channel] = []
        self._chunks: list[ChunkIndex] = []
        self._chunk = _OpenChunk()
        self._definitions = bytearray()  # topics and types added since the last chunk
        self._compressor = zstandard.ZstdCompressor(level=1)
        self.counts: dict[int, int] = {}
        self._empty = True
        self._before_draft: dict[str, Any] = {}
        self.start = self.stop = 0  # log times [ns] of the messages on disk and in the open chunk
        self._append(MAGIC + _bytes(Header(profile="ros2", library="tactile_sim")))

    def add_channel(
        self,
        topic: str,
        type_name: str,
        definition: str,
        metadata: dict[str, str],
        encoding: str = "ros2msg",
    ) -> int:
        """Add a channel for the messages of a topic.

        Returns:
            The channel's id for :meth:`write`.
        """
        self._drop_draft()
        schema = next((schema for schema in self._schemas if schema.name == type_name), None)
        if schema is None:
            schema = Schema(
                id=len(self._schemas) + 1, name=type_name, encoding=encoding, data=definition.encode()
            )
            self._schemas.append(schema)
            self._definitions += _bytes(schema)
            self._chunk.data += _bytes(schema)
        channel = Channel(
            id=len(self._channels) + 1,
            topic=topic,
            message_encoding="cdr",
            metadata=metadata,
            schema_id=schema.id,
        )
        self._channels.append(channel)
        self._definitions += _bytes(channel)
        self._chunk.data += _bytes(channel)
        self.counts[channel.id] = 0
        return channel.id

    def write(
        self, channel: int, log_time: int, data: bytes | memoryview, publish_time: int | None = None
    ) -> None:
        """Add a message to the open chunk, and end the chunk if it is full.

        Args:
            channel: Id from :meth:`add_channel`.
            log_time: Log time [ns].
            data: The serialized message.
            publish_time: Publish time [ns]; the log time by default.
        """
        self._drop_draft()
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
        length = MESSAGE_FIELDS + len(data)
        published = log_time if publish_time is None else publish_time
        chunk.data += MESSAGE.pack(Opcode.MESSAGE, length, channel, sequence, log_time, published)
        chunk.data += data
        if len(chunk.data) >= CHUNK_SIZE:
            self.end_chunk()

    def end_chunk(self) -> None:
        """Write the open chunk and its index to the file."""
        self._drop_draft()
        self._end_chunk()

    def draft(self, messages: Iterable[tuple[int, int, bytes]]) -> None:
        """Write messages that the next call of a method removes from the file again.

        Use this for messages whose log times may still change. They stay in the file if the process is
        killed.

        Args:
            messages: Channel, log time [ns] and serialized data of each message.
        """
        self.end_chunk()
        before = {name: deepcopy(getattr(self, name)) for name in _STATE}
        for message in messages:
            self.write(*message)
        self._end_chunk()
        self._before_draft = before

    def _drop_draft(self) -> None:
        if self._before_draft:
            vars(self).update(self._before_draft)
            self._before_draft = {}
            self._cut()

    def _end_chunk(self) -> None:
        chunk = self._chunk
        if not chunk.index:  # the mcap C++ library rejects a file whose first chunk has no message index
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
            self._chunk = _OpenChunk()  # the chunk is lost
            self._definitions.clear()
            raise
        self._chunks.append(index)
        self._chunk = _OpenChunk(bytearray(self._definitions))  # repeated in case this chunk gets damaged
        self._definitions.clear()

    def finish(self, metadata: str) -> None:
        """Write rosbag2's metadata and the summary with the index, and close the file."""
        try:
            self.end_chunk()
            self._append(bytes(self._definitions))  # topics without messages
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
        """Append data to the file. If this fails, remove the part that was written."""
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError:
            self._cut()
            raise
        self._end += len(data)

    def _cut(self) -> None:
        """Truncate the file to the end of the last complete write."""
        os.ftruncate(self._file.fileno(), self._end)
        os.lseek(self._file.fileno(), self._end, os.SEEK_SET)

    @property
    def bytes_written(self) -> int:
        """Size of the file so far, without the open chunk [bytes]."""
        return self._end


def _bytes(record: McapRecord) -> bytes:
    builder = RecordBuilder()
    record.write(builder)
    return builder.end()

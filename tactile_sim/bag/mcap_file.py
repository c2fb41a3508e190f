"""Read, write and repair MCAP files, including truncated and damaged files.

The ``mcap`` library parses and serializes the records. The format is specified at https://mcap.dev/spec.
"""

from __future__ import annotations

import os
import shutil
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

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

from tactile_sim.bag import metadata
from tactile_sim.common.errors import BagError

_FIELDS = struct.Struct("<BQQQQII")
"""Header of a chunk record: opcode, length, first and last log time, uncompressed size, checksum, and length
of the compression's name."""
_SIZE = struct.Struct("<Q")
_COMPRESSIONS = (b"", b"lz4", b"zstd")
CHUNK_HEAD = _FIELDS.size + max(map(len, _COMPRESSIONS)) + _SIZE.size
"""Largest size of a chunk's header [bytes]."""
_WINDOW = 1 << 20
"""Number of bytes that are searched at a time."""


def chunk_size(head: bytes) -> int:
    """Return the size of a chunk including its header [bytes], or 0 if the header is inconsistent."""
    if len(head) < _FIELDS.size:
        return 0
    _, length, start, end, unpacked, _, letters = _FIELDS.unpack_from(head)
    name = head[_FIELDS.size : _FIELDS.size + letters] if letters <= 4 else None
    if name not in _COMPRESSIONS or len(head) < _FIELDS.size + letters + _SIZE.size:
        return 0
    [packed] = _SIZE.unpack_from(head, _FIELDS.size + letters)
    whole = _FIELDS.size + letters + _SIZE.size + packed
    agree = whole == 9 + length and start <= end and packed > 0 and (name or packed == unpacked)
    return int(whole) if agree else 0


def next_chunk(file: BinaryIO, place: int, size: int) -> int:
    """Return the offset of the next complete chunk, or ``size`` if there is none."""
    mark = bytes([Opcode.CHUNK])
    while place < size:
        file.seek(place)
        window = file.read(_WINDOW + CHUNK_HEAD)
        found = window.find(mark, 0, _WINDOW)
        while found >= 0:
            chunk = chunk_size(window[found : found + CHUNK_HEAD])
            if 0 < chunk <= size - place - found:
                return place + found
            found = window.find(mark, found + 1, _WINDOW)
        place += _WINDOW
    return size


def last_place(file: BinaryIO, mark: bytes, size: int) -> int:
    """Return the offset of the last occurrence of ``mark`` in a file, or ``size`` if there is none."""
    place = size
    while place > 0:
        place = max(0, place - _WINDOW)
        file.seek(place)
        found = file.read(_WINDOW + len(mark) - 1).rfind(mark)
        if found >= 0:
            return place + found
    return size


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
        """Check that the footer is at the end of the file."""
        file.seek(place)
        rest = file.read(1 << 10)
        if rest[HEAD.size + HEAD.unpack_from(rest)[1] :] != MAGIC:
            raise ValueError("the file does not end like an MCAP file")

    def _length(self, head: bytes, left: int) -> int:
        """Return the size of a record other than a chunk [bytes]."""
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
        """Yield the messages of a record, and store its topics, types and metadata."""
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
        """Add a message to the open chunk, and end the chunk if it is full."""
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


@dataclass(frozen=True)
class Repaired:
    """The result of a repair."""

    file: Path
    damage: str | None
    """Description of the damage; None if the file was intact."""
    described: bool
    """Whether the bag's folder had a valid ``metadata.yaml``; True for a single file."""
    misplaced: bool
    """True if the metadata in the MCAP file had a top-level key, which rosbag2 rejects."""
    messages: int
    lost_bytes: int
    kept: Path | None
    """Path of the damaged original, or None if the file was intact."""


def repair(path: Path, progress: Progress | None = None) -> Repaired:
    """Rewrite a bag whose file is damaged or whose metadata rosbag2 cannot read.

    Other bags are not changed. A damaged file is kept next to the new one as ``NAME.mcap.damaged``, with a
    number appended if that name is in use. An interrupted repair loses no messages.

    Returns:
        The damage that was found, the number of intact messages, and the path of the damaged original.
    """
    described = path.is_file() or (path / metadata.FILE).is_file()
    try:
        files = metadata.files_of(path)
    except metadata.MetadataError:
        files, described = sorted(path.glob("*.mcap")), False
    if not files:
        raise BagError(f"{path} is not a bag: it has no .mcap file")
    if len(files) > 1:
        raise BagError(
            f"{path}: must have one .mcap file, got {len(files)};"
            f" repair each file, then: ros2 bag reindex {path}"
        )
    [file] = files
    scan = McapScan(file, progress)
    messages = sum(1 for _ in scan)
    misplaced = metadata.misplaced(scan.metadata.get("rosbag2", {}).get("serialized_metadata", ""))
    rewrite = scan.damage is not None or misplaced
    needed = rewrite or not described
    foreign = [channel for channel in scan.channels.values() if channel.message_encoding != "cdr"]
    if foreign and needed:
        kind, topic = foreign[0].message_encoding, foreign[0].topic
        raise BagError(f"{file}: encoding of {topic} must be cdr, got {kind}; try `mcap recover`")
    kept = None
    if needed:
        try:
            kept = _rewrite(path, file, scan, rewrite)
        except OSError as error:
            raise BagError(f"cannot repair {path}: {error.strerror}") from None
    return Repaired(file, scan.damage, described, misplaced, messages, scan.lost, kept)


def _rewrite(path: Path, file: Path, scan: McapScan, replace: bool) -> Path | None:
    """Write the folder's metadata and, if ``replace`` is True, the repaired file.

    Returns:
        Path of the damaged original, or None if the file was intact.
    """
    fresh = file.with_name(file.name + ".new")
    fresh.unlink(missing_ok=True)
    aside = None
    try:
        described = _write(file, fresh, scan)
        if scan.damage:
            aside = _keep(file)
        if replace:
            os.replace(fresh, file)
    finally:
        fresh.unlink(missing_ok=True)
    if path.is_dir():
        metadata.replace(path, metadata.document(described))
    return aside


def _write(file: Path, fresh: Path, scan: McapScan) -> dict[str, Any]:
    """Copy the intact messages of a file to a new file, and return the bag's description."""
    writer = McapWriter(fresh)
    topics: dict[int, metadata.TopicInfo] = {}
    ids: dict[int, int] = {}
    for channel in scan.channels.values():
        schema = scan.schemas.get(channel.schema_id, NO_SCHEMA)
        made = writer.add_channel(
            channel.topic, schema.name, schema.data.decode(), channel.metadata, schema.encoding
        )
        ids[channel.id] = made
        topics[made] = metadata.TopicInfo(
            channel.topic,
            schema.name,
            _profiles(channel.metadata.get("offered_qos_profiles", "")),
            channel.metadata.get("topic_type_hash", ""),
        )
    for message in McapScan(file):
        writer.write(ids[message.channel.id], message.log_time, message.data, message.publish_time)
    writer.end_chunk()
    for made, topic in topics.items():
        topic.count = writer.counts[made]
    described = metadata.information(file.name, writer.start, writer.stop, list(topics.values()))
    writer.finish(metadata.dump(described))
    return described


def _profiles(text: str) -> list[dict[str, Any]]:
    """Parse the QoS profiles of a topic's publishers; return an empty list if the text is invalid."""
    try:
        found = metadata.parse_yaml(text)
    except ValueError:
        return []
    valid = isinstance(found, list) and all(isinstance(profile, dict) for profile in found)
    return found if valid else []


def _keep(file: Path) -> Path:
    """Keep a damaged file under an unused name ending in ``.damaged``, and return that path.

    The file is hard-linked, or copied if the file system has no hard links.
    """
    names = (f"{file.name}.damaged{number or ''}" for number in count())
    aside = next(aside for name in names if not (aside := file.with_name(name)).exists())
    try:
        os.link(file, aside)
    except OSError:
        shutil.copy2(file, aside)
    return aside

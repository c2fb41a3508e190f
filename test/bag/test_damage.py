"""Test that damaged bytes in a bag affect only the messages in the chunks that contain them."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from support.bags import MS, Writing, file_of, write_frames
from support.errors import raises

from tactile_sim import BagError, bag
from tactile_sim.bag.mcap_file import repair
from tactile_sim.commands import main

COUNT = 120
DAMAGES = 100


class Whole:
    """An intact bag with many chunks: its content as bytes, its messages, and the index of its chunks.

    The messages are numbered across both topics.
    """

    def __init__(self, folder: Path) -> None:
        writing = Writing(folder)
        random = np.random.default_rng(0)
        for number in range(COUNT):
            topic = "/late" if number > COUNT // 2 and number % 3 == 0 else "/early"
            text = f"{number} {random.bytes(60).hex()}"
            writing.put(topic, "std_msgs/msg/String", number * MS, {"data": text})
        writing.bag.close()
        self.file = file_of(folder)
        self.bytes = self.file.read_bytes()
        with open(self.file, "rb") as file:
            self.chunks = make_reader(file).get_summary().chunk_indexes
        assert len(self.chunks) > 8
        self.messages = read(folder)
        assert [number for number, _ in self.messages] == list(range(COUNT))

    def outside(self, start: int, stop: int) -> list[tuple[int, str]]:
        """Return the messages whose chunks do not overlap the bytes from ``start`` to ``stop`` - 1."""
        lost = {
            number
            for chunk in self.chunks
            if chunk.chunk_start_offset < stop and start < chunk.chunk_start_offset + chunk.chunk_length
            for number in range(chunk.message_start_time // MS, chunk.message_end_time // MS + 1)
        }
        return [message for message in self.messages if message[0] not in lost]

    def check(self, folder: Path, data: bytes, start: int, stop: int) -> None:
        """Check which messages are read from a damaged bag, and that it can be repaired.

        Args:
            folder: The bag's folder.
            data: Damaged content of its file.
            start: Index of the first damaged byte.
            stop: Index after the last damaged byte.
        """
        self.file.write_bytes(data)
        found = read(folder)
        assert set(self.outside(start, stop)) <= set(found), "intact messages are missing"
        assert set(found) <= set(self.messages), "messages were made up"
        assert found == sorted(found), "the order has changed"
        with warnings.catch_warnings(action="ignore"):
            told = bag.read(folder).damage
        assert told or len(found) == COUNT, "what is missing is told"
        done = repair(folder)
        assert done.messages == len(found)
        with warnings.catch_warnings(action="error"):
            assert read(folder) == found
        if done.kept:
            assert done.kept.read_bytes() == data
            done.kept.unlink()
        assert bool(done.kept) == bool(told)


def read(folder: Path) -> list[tuple[int, str]]:
    """Return the numbers and texts of all messages in order of log time. Numbers are unique across topics."""
    with warnings.catch_warnings(action="ignore"):
        topics = bag.read(folder).values()
    found = [
        (time // MS, text) for topic in topics for time, text in zip(topic.log_times, topic.data, strict=True)
    ]
    assert all(text.startswith(f"{number} ") for number, text in found)
    return sorted(found)


@pytest.fixture
def whole(tmp_path, monkeypatch):
    monkeypatch.setattr("tactile_sim.bag.mcap_file.CHUNK_SIZE", 2000)
    return Whole(tmp_path / "b")


def test_changed_bytes_lose_only_their_chunk(tmp_path, whole):
    random = np.random.default_rng(1)
    size = len(whole.bytes)
    for _ in range(DAMAGES):
        start = int(random.integers(size))
        stop = min(size, start + int(random.choice([1, 1, 4, 30, 700])))
        data = bytearray(whole.bytes)
        change = random.integers(1, 256, stop - start)
        data[start:stop] = (np.frombuffer(data[start:stop], np.uint8) ^ change).astype(np.uint8).tobytes()
        whole.check(tmp_path / "b", bytes(data), start, stop)


def test_a_wrong_byte_in_any_record_header_loses_only_its_chunk(tmp_path, whole):
    """Change one byte at a time at the start of the file, in record headers, and at the end of the file.

    The headers are those of a chunk, of the record after it, and of the first record after all chunks.
    """
    third = whole.chunks[2]
    after = third.chunk_start_offset + third.chunk_length
    last = whole.chunks[-1]
    end = last.chunk_start_offset + last.chunk_length + last.message_index_length
    places = [
        *range(12), *range(third.chunk_start_offset, third.chunk_start_offset + 56),
        *range(after, after + 18), *range(end, end + 12), *range(len(whole.bytes) - 40, len(whole.bytes)),
    ]  # fmt: skip
    for place in places:
        data = bytearray(whole.bytes)
        data[place] ^= 1 << place % 8
        whole.check(tmp_path / "b", bytes(data), place, place + 1)


def test_missing_or_zeroed_bytes_lose_only_their_chunks(tmp_path, whole):
    random = np.random.default_rng(2)
    for _ in range(30):
        start, stop = sorted(random.integers(len(whole.bytes), size=2).tolist())
        stop = min(stop, start + 4096)
        whole.check(tmp_path / "b", whole.bytes[:start] + whole.bytes[stop:], start, stop)
        zeroed = whole.bytes[:start] + bytes(stop - start) + whole.bytes[stop:]
        whole.check(tmp_path / "b", zeroed, start, stop)


def test_damage_in_a_truncated_bag_loses_only_its_chunk(tmp_path, whole):
    """Damage only bytes that follow the definitions of all topics."""
    random = np.random.default_rng(3)
    first = whole.chunks[-2].chunk_start_offset
    for _ in range(30):
        end = int(random.integers(first, len(whole.bytes)))
        place = int(random.integers(first, end))
        data = bytearray(whole.bytes[:end])
        data[place] ^= 0xFF
        file = bytes(data)
        whole.file.write_bytes(file)
        found = read(tmp_path / "b")
        intact = [m for m in whole.outside(place, place + 1) if m in whole.outside(end, len(whole.bytes))]
        assert set(intact) <= set(found) <= set(whole.messages)


def test_lost_bytes_are_the_size_of_the_damaged_chunk(tmp_path, whole, capsys):
    chunk = whole.chunks[4]
    data = bytearray(whole.bytes)
    data[chunk.chunk_start_offset + chunk.chunk_length // 2] ^= 0xFF
    whole.file.write_bytes(data)
    between = whole.chunks[5].chunk_start_offset - chunk.chunk_start_offset
    kept = len(whole.outside(chunk.chunk_start_offset, chunk.chunk_start_offset + 1))
    with pytest.warns(UserWarning, match=rf"byte {chunk.chunk_start_offset}: .*\b{between} bytes"):
        bag.read(tmp_path / "b")
    assert main(["bag", "repair", str(tmp_path / "b")]) == 0
    output = capsys.readouterr().out
    assert all(fact in output for fact in (f"{kept} messages", f"{between} bytes", "b_0.mcap.damaged"))


def test_a_file_of_another_type_is_rejected(tmp_path):
    (tmp_path / "noise.mcap").write_bytes(np.random.default_rng(0).bytes(3 << 20))
    with raises(BagError, "noise.mcap"):
        bag.read(tmp_path / "noise.mcap")


def test_repair_rebuilds_broken_metadata(tmp_path):
    forces = write_frames(tmp_path / "b")
    described = tmp_path / "b/metadata.yaml"
    before = described.read_text()
    for text in ("", "a: [1", before[: len(before) // 2], "\0" * 100):
        described.write_text(text)
        assert repair(tmp_path / "b").messages == len(forces)
        assert described.read_text() == before

"""Test the bag writer: index, metadata, chunks, and a full disk."""

from __future__ import annotations

import os
import struct

import numpy as np
import pytest
import yaml
from mcap.reader import make_reader
from rosbags.highlevel import AnyReader
from support.bags import MS, TRANSIENT, TYPES, Writing, embedded_metadata, file_of, write_frames
from support.errors import raises

from tactile_sim import BagError, bag
from tactile_sim.bag.mcap_file import CHUNK_SIZE
from tactile_sim.bag.reader import contents


def test_the_index_finds_messages_by_time_and_topic(tmp_path, monkeypatch):
    monkeypatch.setattr("tactile_sim.bag.mcap_file.CHUNK_SIZE", 2000)
    forces = write_frames(tmp_path / "b", 100)
    with open(file_of(tmp_path / "b"), "rb") as file:
        reader = make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        assert len(summary.chunk_indexes) > 5 and summary.statistics.message_count == 100
        assert summary.statistics.message_start_time == 10 * MS
        assert summary.statistics.message_end_time == 1000 * MS
        found = list(reader.iter_messages(["/tactile/frame"], starting_at=400 * MS, ending_before=600 * MS))
        assert [message.log_time for _, _, message in found] == [i * 10 * MS for i in range(40, 60)]
        assert all(
            force.tobytes() == m.data[-240:] for force, (_, _, m) in zip(forces[39:59], found, strict=True)
        )
    # rosbag2_storage_mcap expects the content of metadata.yaml in the record, without the top-level key.
    beside = yaml.safe_load((tmp_path / "b/metadata.yaml").read_text())
    assert beside == {"rosbag2_bagfile_information": embedded_metadata(tmp_path / "b")}


def test_metadata_exists_from_the_start_and_counts_messages(tmp_path, monkeypatch):
    monkeypatch.setattr("tactile_sim.bag.writer.INTERVAL", 0.0)
    writing = Writing(tmp_path / "b")

    def described():
        return yaml.safe_load((tmp_path / "b/metadata.yaml").read_text())["rosbag2_bagfile_information"]

    assert described()["message_count"] == 0 and described()["relative_file_paths"] == ["b_0.mcap"]
    writing.put("/s", "std_msgs/msg/String", 5 * MS, {"data": "x"})
    writing.put("/s", "std_msgs/msg/String", 8 * MS, {"data": "y"})
    writing.bag.tick()
    now = described()
    assert (now["message_count"], now["duration"]["nanoseconds"]) == (2, 3 * MS)
    assert now["starting_time"]["nanoseconds_since_epoch"] == 5 * MS
    [topic] = now["topics_with_message_count"]
    assert topic["topic_metadata"]["offered_qos_profiles"] == TRANSIENT
    # A bag that was not closed is readable, but reported as damaged.
    with pytest.warns(UserWarning, match=r"0 bytes lost"):
        open_bag = bag.read(tmp_path / "b")
    assert open_bag["s"].data == ["x", "y"] and "writer was stopped" in open_bag.damage


def test_every_chunk_has_a_message_index(tmp_path, monkeypatch):
    """The mcap C++ library, and thus ros2 bag play, rejects a file whose first chunk has no index."""
    monkeypatch.setattr("tactile_sim.bag.writer.INTERVAL", 0.0)
    writing = Writing(tmp_path / "b")
    for topic in ("/silent", "/late"):
        writing.bag.add_topic(topic, "std_msgs/msg/String", TYPES["std_msgs/msg/String"], [])
        writing.bag.tick()
        writing.put("/s", "std_msgs/msg/String", 5 * MS, {"data": "x"})
        writing.bag.tick()
    writing.bag.add_topic("/last", "std_msgs/msg/String", TYPES["std_msgs/msg/String"], [])
    writing.bag.close()
    with open(file_of(tmp_path / "b"), "rb") as file:
        chunks = make_reader(file).get_summary().chunk_indexes
    assert len(chunks) == 2 and all(chunk.message_index_length > 0 for chunk in chunks)
    assert {"/silent", "/late", "/last", "/s"} == set(contents(tmp_path / "b").topics)


def test_large_chunks_end_early(tmp_path):
    writing = Writing(tmp_path / "b")
    noise = np.random.default_rng(0).bytes(CHUNK_SIZE // 4).hex().encode()
    for i in range(4):
        writing.bag.add_topic(f"/t{i}", "std_msgs/msg/String", TYPES["std_msgs/msg/String"], [])
        writing.bag.write(i + 1, i, b"\0\1\0\0" + struct.pack("<I", len(noise)) + noise)
    assert writing.bag.bytes_written > CHUNK_SIZE
    writing.bag.close()
    assert bag.read(tmp_path / "b").damage is None


def test_a_full_disk_raises_and_keeps_earlier_messages(tmp_path, monkeypatch):
    """After 60 kB, the emulated disk has only enough space for the index."""
    monkeypatch.setattr("tactile_sim.bag.mcap_file.CHUNK_SIZE", 2000)
    writing = Writing(tmp_path / "b")
    inner = writing.bag._file._file

    class Disk:
        def write(self, data):
            if inner.tell() + len(data) > 60_000 and bytes(data[:1]) == b"\x06":
                inner.write(data[:10])
                raise OSError(28, os.strerror(28))
            return inner.write(data)

        def __getattr__(self, name):
            return getattr(inner, name)

    writing.bag._file._file = Disk()
    rng = np.random.default_rng(0)
    with raises(BagError, str(tmp_path / "b"), os.strerror(28)):
        for i in range(1000):
            value = {"header": {"stamp": i * MS}, "channels": 3, "data": rng.normal(size=60)}
            writing.put("/tactile/frame", "tactile_sim/msg/TactileFrame", i * MS, value)
    writing.bag.close()
    read = bag.read(tmp_path / "b")
    assert read.damage is None
    frame = read["tactile/frame"]
    assert len(frame) > 150 and frame.stamps.tolist() == [i * MS for i in range(len(frame))]
    with AnyReader([tmp_path / "b"]) as reader:
        assert reader.message_count == len(frame)


def test_a_draft_is_in_the_bag_until_it_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr("tactile_sim.bag.writer.INTERVAL", 0.0)
    writing = Writing(tmp_path / "b")
    writing.put("/s", "std_msgs/msg/String", 5 * MS, {"data": "before"})
    number, waiting = writing.ids["/s"][0], []
    writing.bag.draft(lambda: waiting)

    def readable():
        with pytest.warns(UserWarning, match="writer was stopped"):
            found = bag.read(tmp_path / "b")["s"]
        described = yaml.safe_load((tmp_path / "b/metadata.yaml").read_text())["rosbag2_bagfile_information"]
        assert described["message_count"] == len(found)
        return list(zip((found.log_times // MS).tolist(), found.data, strict=True))

    for text in ("one", "two"):
        waiting.append((number, 0, b"\0\1\0\0" + struct.pack("<I", len(text) + 1) + text.encode() + b"\0"))
        writing.bag.draft(lambda: waiting)
        writing.bag.tick()
    assert readable() == [(5, "before"), (0, "one"), (0, "two")]
    timed, waiting = [(number, 7 * MS, data) for _, _, data in waiting], []
    for message in timed:
        writing.bag.write(*message)
    writing.put("/late", "std_msgs/msg/String", 8 * MS, {"data": "late"})
    writing.bag.tick()
    writing.bag.close()
    read = bag.read(tmp_path / "b")
    assert read.damage is None and read["late"].data == ["late"]
    assert (read["s"].log_times // MS).tolist() == [5, 7, 7] and read["s"].data == ["before", "one", "two"]
    with AnyReader([tmp_path / "b"]) as reader:
        assert (reader.message_count, reader.start_time) == (4, 5 * MS)

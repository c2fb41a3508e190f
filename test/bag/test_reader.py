"""Test that our reader and an independent one return the messages that were written."""

from __future__ import annotations

import numpy as np
from rosbags.highlevel import AnyReader
from support.bags import MS, Writing, write_frames
from support.errors import raises

from tactile_sim import BagError, bag


def test_frames_are_one_array_of_messages_taxels_and_channels(tmp_path):
    forces = write_frames(tmp_path / "b")
    frame = bag.read(tmp_path / "b")["/tactile/frame"]
    assert frame.data.dtype == np.float32
    np.testing.assert_array_equal(frame.data, forces)
    np.testing.assert_array_equal(frame.stamps, np.arange(1, 51) * 10 * MS)
    np.testing.assert_array_equal(frame.log_times, frame.stamps)
    assert frame.unit == ["N"] * 50 and frame.bodies == [["cube"]] * 50
    assert frame.message_type == "tactile_sim/msg/TactileFrame" and len(frame) == 50


def test_every_kind_of_field_is_read(tmp_path):
    rng = np.random.default_rng(1)
    writing = Writing(tmp_path / "b")
    expected = []
    for i in range(7):
        value = {
            "header": {"stamp": i * MS, "frame_id": f"f{i}"}, "points": rng.normal(size=(4, 3)),
            "flag": i % 2 == 1, "names": [f"n{i}", "ü"], "level": bytes([i]), "pair": rng.normal(size=2),
            "things": [{"name": "t" * k, "at": rng.normal(size=3), "numbers": range(k)} for k in range(i)],
        }  # fmt: skip
        expected.append(value)
        writing.put("/p", "test_msgs/msg/Points", i * MS, value)
    writing.bag.close()
    read = bag.read(tmp_path / "b")["p"]
    np.testing.assert_array_equal(read.points, [value["points"] for value in expected])
    np.testing.assert_array_equal(read.pair, [value["pair"] for value in expected])
    assert read.flag.tolist() == [value["flag"] for value in expected]
    assert read.names == [value["names"] for value in expected]
    assert read.level == [value["level"] for value in expected]
    assert read.header.frame_id == [f"f{i}" for i in range(7)]
    # The length varies between messages, so the field is a list with one entry per message.
    assert [len(things) for things in read.things] == list(range(7))
    for things, value in zip(read.things, expected, strict=True):
        assert things.name == [thing["name"] for thing in value["things"]]
        assert things.at.tolist() == [thing["at"].tolist() for thing in value["things"]]
        assert [n.tolist() for n in things.numbers] == [list(range(k)) for k in range(len(things))]


def test_an_independent_reader_reads_the_bag(tmp_path):
    forces = write_frames(tmp_path / "b", 30)
    with AnyReader([tmp_path / "b"]) as reader:
        [connection] = reader.connections
        assert (connection.topic, connection.msgtype) == ("/tactile/frame", "tactile_sim/msg/TactileFrame")
        assert connection.ext.offered_qos_profiles[0].durability.name == "TRANSIENT_LOCAL"
        assert reader.message_count == 30 and reader.start_time == 10 * MS and reader.duration == 290 * MS + 1
        messages = [
            (time, reader.deserialize(data, connection.msgtype)) for _, time, data in reader.messages()
        ]
    for i, (time, message) in enumerate(messages):
        assert time == (i + 1) * 10 * MS
        np.testing.assert_array_equal(message.data.reshape(-1, 3), forces[i])


def test_repr_of_bag_and_topic_is_short(tmp_path):
    write_frames(tmp_path / "b")
    read = bag.read(tmp_path / "b")
    assert repr(read) == "<Bag, topics: 1>\n  /tactile/frame: 50 tactile_sim/msg/TactileFrame"
    shown = repr(read["tactile/frame"])
    assert shown.startswith("<Topic, 50 tactile_sim/msg/TactileFrame: stamps, log_times, header, ")
    assert shown.endswith(", data>")


def test_only_selected_topics_are_read(tmp_path):
    writing = Writing(tmp_path / "b")
    for name in ("/a", "/b/c"):
        writing.put(name, "std_msgs/msg/String", 1, {"data": name})
    writing.bag.close()
    assert list(bag.read(tmp_path / "b", ["b/c"])) == ["/b/c"]
    assert list(bag.read(tmp_path / "b", np.array(["a", "/b/c"]))) == ["/a", "/b/c"]
    with raises(BagError, "'/b/d'", "'/b/c'"):
        bag.read(tmp_path / "b", ["/b/d"])
    for invalid in (np.array(2), np.array([1, 2]), [None], "a"):
        with raises(BagError, "topics"):
            bag.read(tmp_path / "b", invalid)


def test_file_that_the_system_cannot_read_is_one_error():
    with raises(BagError, "/proc/self/mem"):
        bag.read("/proc/self/mem")

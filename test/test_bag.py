"""Bags written, read, mended and exported without ROS."""

import json
import os
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
import yaml
from mcap.reader import make_reader
from rosbags.highlevel import AnyReader

from tactile_sim import BagError, bag
from tactile_sim.bag.mcap_file import CHUNK_SIZE
from tactile_sim.bag.repair import repair
from tactile_sim.bag.writer import BagWriter
from tactile_sim.cli import main
from tactile_sim.wire.encode import encoder
from tactile_sim.wire.sources import of_definition

SEPARATOR = "\n" + "=" * 80 + "\n"
HEADER = (
    "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id"
    + SEPARATOR
    + "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec"
)
FRAME = (
    "std_msgs/Header header\nuint32 layout_id\nstring quantity\nstring unit # of data\nuint8 channels\n"
    "string[] bodies\nstring[] frame_ids\nuint32[] taxel_counts\nfloat32[] data" + SEPARATOR + HEADER
)
POINTS = (
    "std_msgs/Header header\nPoint[] points\nstring[] names\nbool flag\nbyte level\nfloat64[2] pair\n"
    "Thing[] things"
    + SEPARATOR
    + "MSG: test_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z"
    + SEPARATOR
    + "MSG: test_msgs/Thing\nstring name\ntest_msgs/Point at\nuint16[] numbers"
    + SEPARATOR
    + HEADER
)
TYPES = {
    "tactile_sim/msg/TactileFrame": FRAME,
    "test_msgs/msg/Points": POINTS,
    "std_msgs/msg/String": "string data # what is said",
}
TRANSIENT = [
    {
        "history": "keep_last", "depth": 1, "reliability": "reliable", "durability": "transient_local",
        "deadline": {"sec": 0, "nsec": 0}, "lifespan": {"sec": 0, "nsec": 0}, "liveliness": "automatic",
        "liveliness_lease_duration": {"sec": 0, "nsec": 0}, "avoid_ros_namespace_conventions": False,
    }
]  # fmt: skip
MS = 1_000_000


class Writing:
    """A bag being written with values instead of bytes."""

    def __init__(self, folder: Path) -> None:
        self.bag = BagWriter(folder)
        self.ids: dict[str, tuple[int, str]] = {}

    def put(self, topic: str, type_name: str, time: int, value: dict) -> None:
        if topic not in self.ids:
            self.ids[topic] = (
                self.bag.add_topic(topic, type_name, TYPES[type_name], TRANSIENT),
                type_name,
            )
        self.bag.write(
            self.ids[topic][0], time, encoder(of_definition(type_name, TYPES[type_name])).encode(value)
        )


def write_frames(folder: Path, count: int = 50, seed: int = 0) -> np.ndarray:
    """A bag of frames of 20 taxels every 10 ms; returns the forces (count, 20, 3)."""
    forces = np.random.default_rng(seed).normal(size=(count, 20, 3)).astype(np.float32)
    writing = Writing(folder)
    for i, force in enumerate(forces):
        header = {"stamp": (i + 1) * 10 * MS, "frame_id": "world"}
        value = {"header": header, "channels": 3, "unit": "N", "bodies": ["cube"], "data": force}
        writing.put("/tactile/frame", "tactile_sim/msg/TactileFrame", (i + 1) * 10 * MS, value)
    writing.bag.close()
    return forces


def file_of(folder: Path) -> Path:
    [file] = folder.glob("*.mcap")
    return file


def test_frames_come_back_as_one_array_of_messages_taxels_and_channels(tmp_path):
    forces = write_frames(tmp_path / "b")
    frame = bag.read(tmp_path / "b")["/tactile/frame"]
    assert frame.data.dtype == np.float32
    np.testing.assert_array_equal(frame.data, forces)
    np.testing.assert_array_equal(frame.stamps, np.arange(1, 51) * 10 * MS)
    np.testing.assert_array_equal(frame.log_times, frame.stamps)
    assert frame.unit == ["N"] * 50 and frame.bodies == [["cube"]] * 50
    assert frame.message_type == "tactile_sim/msg/TactileFrame" and len(frame) == 50


def test_every_kind_of_field_comes_back(tmp_path):
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
    assert [len(things) for things in read.things] == list(
        range(7)
    )  # differs, so a list with one per message
    for things, value in zip(read.things, expected, strict=True):
        assert things.name == [thing["name"] for thing in value["things"]]
        assert things.at.tolist() == [thing["at"].tolist() for thing in value["things"]]
        assert [n.tolist() for n in things.numbers] == [list(range(k)) for k in range(len(things))]


def test_an_independent_reader_takes_the_bag(tmp_path):
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


def test_the_index_leads_to_the_messages_of_a_time_and_a_topic(tmp_path, monkeypatch):
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
        [metadata] = reader.iter_metadata()
        described = yaml.safe_load(metadata.metadata["serialized_metadata"])
    assert described == yaml.safe_load((tmp_path / "b/metadata.yaml").read_text())


def test_metadata_is_there_from_the_first_moment_and_counts_what_is_written(tmp_path, monkeypatch):
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
    # What a tick put on the disk is read without an end, and told to have none.
    with pytest.warns(UserWarning, match=r"0 bytes lost"):
        open_bag = bag.read(tmp_path / "b")
    assert open_bag["s"].data == ["x", "y"] and "writer was stopped" in open_bag.damage


def test_large_chunks_end_before_their_time(tmp_path):
    writing = Writing(tmp_path / "b")
    noise = np.random.default_rng(0).bytes(CHUNK_SIZE // 4).hex().encode()
    for i in range(4):
        writing.bag.add_topic(f"/t{i}", "std_msgs/msg/String", TYPES["std_msgs/msg/String"], [])
        writing.bag.write(i + 1, i, b"\0\1\0\0" + struct.pack("<I", len(noise)) + noise)
    assert writing.bag.bytes_written > CHUNK_SIZE
    writing.bag.close()
    assert bag.read(tmp_path / "b").damage is None


@pytest.mark.parametrize("part", [0.3, 0.7, 0.95, 0.999])
def test_a_torn_file_is_read_as_far_as_it_goes_and_mended(tmp_path, monkeypatch, part):
    monkeypatch.setattr("tactile_sim.bag.mcap_file.CHUNK_SIZE", 2000)
    forces = write_frames(tmp_path / "b", 100)
    whole = file_of(tmp_path / "b").read_bytes()
    file_of(tmp_path / "b").write_bytes(whole[: int(len(whole) * part)])
    with pytest.warns(UserWarning, match=r"b_0.mcap: .* bytes lost.*tactile_sim bag repair .*/b"):
        torn = bag.read(tmp_path / "b")
    assert torn.damage and "b_0.mcap" in torn.damage
    kept = len(torn["tactile/frame"]) if torn else 0
    np.testing.assert_array_equal(torn["tactile/frame"].data, forces[:kept])
    done = repair(tmp_path / "b")
    assert done.messages == kept > 20 and done.damage
    assert (tmp_path / "b/b_0.mcap.damaged").read_bytes() == whole[: int(len(whole) * part)]
    mended = bag.read(tmp_path / "b")
    assert mended.damage is None
    np.testing.assert_array_equal(mended["tactile/frame"].data, forces[:kept])
    with AnyReader([tmp_path / "b"]) as reader:
        assert reader.message_count == kept
        assert reader.connections[0].ext.offered_qos_profiles[0].durability.name == "TRANSIENT_LOCAL"


def test_a_changed_byte_in_a_chunk_is_noticed(tmp_path):
    write_frames(tmp_path / "b")
    data = bytearray(file_of(tmp_path / "b").read_bytes())
    data[len(data) // 4] ^= 0xFF
    file_of(tmp_path / "b").write_bytes(data)
    with pytest.warns(UserWarning, match="broken at byte"):
        assert "broken at byte" in bag.read(tmp_path / "b").damage


def test_a_sound_bag_is_left_alone_and_lost_metadata_are_made_again(tmp_path):
    write_frames(tmp_path / "b")
    before = {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}
    assert repair(tmp_path / "b").damage is None
    assert {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()} == before
    (tmp_path / "b/metadata.yaml").unlink()
    repair(tmp_path / "b")
    assert {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()} == before


def test_a_full_disk_is_told_and_what_went_before_is_whole(tmp_path, monkeypatch):
    """The file takes 60 kB and then no more than the index of what it holds."""
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
    with pytest.raises(BagError, match="cannot write the bag .*b: No space left on device"):
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


def test_a_bag_and_a_topic_show_what_they_hold_and_no_more(tmp_path):
    write_frames(tmp_path / "b")
    read = bag.read(tmp_path / "b")
    assert repr(read) == "<Bag, topics: 1>\n  /tactile/frame: 50 tactile_sim/msg/TactileFrame"
    shown = repr(read["tactile/frame"])
    assert shown.startswith("<Topic, 50 tactile_sim/msg/TactileFrame: stamps, log_times, header, ")
    assert shown.endswith(", data>")


def test_only_the_topics_asked_for_are_read(tmp_path):
    writing = Writing(tmp_path / "b")
    for name in ("/a", "/b/c"):
        writing.put(name, "std_msgs/msg/String", 1, {"data": name})
    writing.bag.close()
    assert list(bag.read(tmp_path / "b", ["b/c"])) == ["/b/c"]
    with pytest.raises(BagError, match="no topic '/b/d'; did you mean '/b/c'"):
        bag.read(tmp_path / "b", ["/b/d"])


def bad_bag(folder: Path, what: str) -> Path:
    """Something that is no bag of ours."""
    if what == "nothing":
        return folder / "absent"
    if what == "empty folder":
        (folder / "b").mkdir()
    elif what == "text":
        (folder / "b").write_text("hello")
    elif what == "empty file":
        (folder / "b").touch()
    else:
        write_frames(folder / "b")
        described = folder / "b/metadata.yaml"
        if what == "sqlite3":
            described.write_text(
                described.read_text().replace("storage_identifier: mcap", "storage_identifier: sqlite3")
            )
        elif what == "other yaml":
            described.write_text("a: [1")
        elif what == "missing file":
            file_of(folder / "b").unlink()
    return folder / "b"


BAD = {
    "nothing": "there is no bag", "empty folder": "is not a bag", "text": "not an MCAP file",
    "empty file": "not an MCAP file", "sqlite3": "stored as sqlite3", "other yaml": "is not rosbag2's",
    "missing file": "b_0.mcap, which is not there",
}  # fmt: skip


@pytest.mark.parametrize("command", ["info", "repair", "export"])
@pytest.mark.parametrize("what", BAD)
def test_what_is_no_bag_is_refused_in_one_line(tmp_path, capsys, command, what):
    path = bad_bag(tmp_path, what)
    assert main(["bag", command, str(path)]) == 2
    error = capsys.readouterr().err
    assert BAD[what] in error and len(error.splitlines()) == 1
    assert not list(tmp_path.glob("*.npz"))


def test_info_counts_topics_and_tells_of_damage(tmp_path, capsys):
    write_frames(tmp_path / "b")
    assert main(["bag", "info", str(tmp_path / "b")]) == 0
    said = capsys.readouterr().out
    [row] = [line for line in said.splitlines() if "/tactile/frame" in line]
    assert "tactile_sim/msg/TactileFrame" in row and " 50 " in row and "100.0" in row
    assert "50 messages, 0.490 s from 0.010 s on" in said and "damaged" not in said
    shutil.copy(file_of(tmp_path / "b"), tmp_path / "c.mcap")
    os.truncate(tmp_path / "c.mcap", (tmp_path / "c.mcap").stat().st_size - 20)
    assert main(["bag", "info", str(tmp_path / "c.mcap")]) == 0
    assert "damaged: c.mcap" in capsys.readouterr().out
    assert main(["bag", "export", str(tmp_path / "c.mcap")]) == 0
    told = capsys.readouterr()
    assert "damaged: c.mcap" in told.out and told.err == ""
    assert main(["bag", "repair", str(tmp_path / "c.mcap")]) == 0
    assert "saved 50 messages" in capsys.readouterr().out
    assert main(["bag", "repair", str(tmp_path / "c.mcap")]) == 0
    assert "nothing to repair, 50 messages" in capsys.readouterr().out


def test_export_writes_arrays_with_names_and_units(tmp_path, capsys):
    forces = write_frames(tmp_path / "b")
    assert main(["bag", "export", str(tmp_path / "b")]) == 0
    with np.load(tmp_path / "b.npz") as made:
        np.testing.assert_array_equal(made["/tactile/frame/data"], forces)
        np.testing.assert_array_equal(made["/tactile/frame/stamps"], np.arange(1, 51) * 10 * MS)
        assert made["/tactile/frame/header.frame_id"].tolist() == ["world"] * 50
        units = json.loads(str(made["units"]))
    assert units["/tactile/frame/data"] == "N" and units["/tactile/frame/stamps"] == "ns"
    assert main(["bag", "export", str(tmp_path / "b")]) == 2
    assert "already there" in capsys.readouterr().err
    assert main(["bag", "export", str(tmp_path / "b"), "no/topic", "-o", str(tmp_path / "c.npz")]) == 2
    assert not (tmp_path / "c.npz").exists()


def test_export_of_what_differs_in_length_says_how_many_are_of_which_message(tmp_path):
    writing = Writing(tmp_path / "b")
    for i in range(4):
        things = [{"name": f"{i}{k}", "at": [i, k, 0.0], "numbers": [i] * k} for k in range(i)]
        value = {"header": {"stamp": i}, "points": np.full((i, 3), i), "names": ["n"] * i, "things": things}
        writing.put("/p", "test_msgs/msg/Points", i, value)
    writing.bag.close()
    assert main(["bag", "export", str(tmp_path / "b"), "--out", str(tmp_path / "x.npz")]) == 0
    with np.load(tmp_path / "x.npz") as made:
        assert made["/p/points.counts"].tolist() == [0, 1, 2, 3]
        assert made["/p/points"].tolist() == [[i] * 3 for i in (1, 2, 2, 3, 3, 3)]
        assert made["/p/names.counts"].tolist() == [0, 1, 2, 3] and made["/p/names"].tolist() == ["n"] * 6
        assert made["/p/things.counts"].tolist() == [0, 1, 2, 3]
        assert made["/p/things.name"].tolist() == ["10", "20", "21", "30", "31", "32"]
        assert made["/p/things.at"][:, :2].tolist() == [[1, 0], [2, 0], [2, 1], [3, 0], [3, 1], [3, 2]]
        assert made["/p/things.numbers"].tolist() == [2, 3, 3, 3]
        assert made["/p/things.numbers.counts"].tolist() == [0, 0, 1, 0, 1, 2]

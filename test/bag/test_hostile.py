"""Test invalid bags: commands exit with code 2 and a one-line error, or read the valid part of the bag."""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path

import numpy as np
import pytest
from mcap.writer import Writer
from support.bags import FRAME, SEPARATOR, file_of, write_frames

from tactile_sim import BagError, bag
from tactile_sim.commands import main
from tactile_sim.common.errors import LONGEST_MESSAGE

HELLO = b"\0\1\0\0" + struct.pack("<I", 3) + b"hi\0"
"""A std_msgs/String with the text "hi", serialized as CDR."""


def write(
    path, topic="/t", kind="std_msgs/msg/String", definition="string data", data=HELLO, time=1, profiles=""
):
    """Write an MCAP file with one message."""
    with open(path, "wb") as file:
        writer = Writer(file)
        writer.start("ros2", "")
        schema = writer.register_schema(kind, "ros2msg", definition.encode())
        channel = writer.register_channel(topic, "cdr", schema, {"offered_qos_profiles": profiles})
        writer.add_message(channel, time, data, time)
        writer.finish()
    return path


def rejected(capsys, *command):
    """Run a command that must reject its bag; return its one-line error."""
    capsys.readouterr()
    assert main([*map(str, command)]) == 2
    _, err = capsys.readouterr()
    [line] = err.splitlines()
    assert line.startswith("tactile_sim: error: ")
    assert line.isprintable()
    assert len(line) <= LONGEST_MESSAGE + 30
    return line


NESTED = "".join(f"{SEPARATOR}MSG: std_msgs/A{k}\nA{k + 1} a" for k in range(2000))
DOUBLED = "".join(f"{SEPARATOR}MSG: std_msgs/A{k}\nA{k + 1} a\nA{k + 1} b" for k in range(40))
DEFINITIONS = {
    "contains itself": f"B b{SEPARATOR}MSG: std_msgs/B\nString s{SEPARATOR}MSG: std_msgs/String\nB b",
    "a huge array": "float64[999999999999] x",
    "a negative array": "float64[-1] x",
    "deeply nested": f"A0 a{NESTED}{SEPARATOR}MSG: std_msgs/A2000\nint8 x",
    "2^40 numbers": f"A0 a{DOUBLED}{SEPARATOR}MSG: std_msgs/A40\nint8 x",
    "too long": "float64 x # \n" * 100_000,
    "unknown type": "Nothing x",
    "no language": "\0\1\2",
}


@pytest.mark.parametrize("definition", DEFINITIONS.values(), ids=DEFINITIONS)
def test_error_of_an_invalid_definition_names_the_topic(tmp_path, capsys, definition):
    file = write(tmp_path / "b.mcap", definition=definition)
    assert "/t" in rejected(capsys, "bag", "export", file)


def test_definitions_with_many_comments_are_parsed_fast(tmp_path):
    file = write(tmp_path / "b.mcap", definition="\n" * 100_000 + "# comment\n" * 100_000 + "string data")
    assert bag.read(file)["t"].data == ["hi"]


@pytest.mark.parametrize(
    ("name", "definition"),
    [
        ("TactileFrame", "string data"),
        ("TactileFrame", FRAME.replace("uint8 channels", "string channels")),
        ("TactileLayout", FRAME),
    ],
)
def test_a_known_type_with_other_fields_is_rejected(tmp_path, capsys, name, definition):
    kind = f"tactile_sim/msg/{name}"
    file = write(tmp_path / "b.mcap", "/tactile/frame", kind, definition)
    assert kind in rejected(capsys, "bag", "export", file)


def test_incomplete_rows_are_rejected_with_topic_and_time(tmp_path, capsys):
    folder = tmp_path / "b"
    write_frames(folder, 1)
    file = file_of(folder)
    [message] = [bytes(m.data) for m in _messages(file)]
    [count] = struct.unpack("<I", message[-244:-240])
    assert count == 60
    message = message[:-244] + struct.pack("<I", 59) + message[-240:-4]
    write(tmp_path / "odd.mcap", "/f", "tactile_sim/msg/TactileFrame", FRAME, message, time=10**9)
    for kind in ("npz", "parquet"):
        line = rejected(capsys, "bag", "export", tmp_path / "odd.mcap", "--format", kind)
        assert "/f" in line and "1.000 s" in line


def _messages(file):
    from tactile_sim.bag.mcap_file import McapScan

    return list(McapScan(file))


STORAGE = "rosbag2_bagfile_information: {storage_identifier: mcap, relative_file_paths: "
METADATA = {
    "deep lists": "[" * 20_000,
    "deep sequences": "- " * 20_000,
    "deep mappings": "{a: " * 20_000,
    "a number": "1",
    "integer paths": STORAGE + "[1]}",
    "no paths": STORAGE + "}",
    "a path with a null": STORAGE + '["a\\0"]}',
    "a huge integer": "a: " + "9" * 10_000,
}


@pytest.mark.parametrize("text", METADATA.values(), ids=METADATA)
def test_invalid_metadata_is_rejected(tmp_path, capsys, text):
    write_frames(tmp_path / "b", 1)
    (tmp_path / "b/metadata.yaml").write_text(text)
    rejected(capsys, "bag", "info", tmp_path / "b")


@pytest.mark.parametrize("text", ["[" * 20_000, "- *x", "1", "[1]"])
def test_repair_drops_invalid_qos_profiles(tmp_path, text):
    (tmp_path / "b").mkdir()
    write(tmp_path / "b/b_0.mcap", profiles=text)
    assert main(["bag", "repair", str(tmp_path / "b")]) == 0
    assert bag.read(tmp_path / "b")["t"].data == ["hi"]


@pytest.mark.parametrize("time", [2**63, 2**64 - 1])
def test_a_log_time_out_of_range_is_damage(tmp_path, time):
    file = write(tmp_path / "b.mcap", time=time)
    with pytest.warns(UserWarning):
        found = bag.read(file)
    assert len(found) == 0
    assert str(2**63 - 1) in found.damage


def test_the_largest_log_time_is_read(tmp_path):
    found = bag.read(write(tmp_path / "b.mcap", time=2**63 - 1))
    assert found.damage is None
    assert found["t"].log_times.tolist() == [2**63 - 1]


@pytest.mark.parametrize("topic", ["/" + "x" * 70_000, "/a\0b", "/../../x", "//", "/é", "x", ""])
def test_any_topic_name_is_exported_into_the_folder(tmp_path, capsys, topic):
    pytest.importorskip("pyarrow")
    file = write(tmp_path / "b.mcap", topic)
    for kind, out in (("npz", "out.npz"), ("parquet", "out")):
        assert main(["bag", "export", str(file), "--format", kind, "-o", str(tmp_path / out)]) == 0
    assert capsys.readouterr().err == ""
    with np.load(tmp_path / "out.npz") as arrays:
        assert len(arrays.files) == 5  # data, stamps, log_times, message_type, units
    [made] = (tmp_path / "out").iterdir()
    assert len(made.name) < 128
    assert {path.name for path in tmp_path.iterdir()} == {"b.mcap", "out.npz", "out"}


def test_messages_with_only_numbers_have_fields(tmp_path):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    data = b"\0\1\0\0" + struct.pack("<3d", 1, 2, 3)
    text = "float64 x\nfloat64 y\nfloat64 z"
    file = write(tmp_path / "b.mcap", "/point", "geometry_msgs/msg/Point", text, data)
    point = bag.read(file)["point"]
    assert (point.x.tolist(), point.y.tolist(), point.z.tolist()) == ([1], [2], [3])
    for kind, out in (("npz", "out.npz"), ("parquet", "out")):
        assert main(["bag", "export", str(file), "--format", kind, "-o", str(tmp_path / out)]) == 0
    [row] = parquet.read_table(tmp_path / "out/point.parquet").to_pylist()
    assert (row["x"], row["y"], row["z"]) == (1, 2, 3)


def test_a_large_file_of_another_type_is_rejected_fast(tmp_path, capsys):
    file = tmp_path / "zeros.mcap"
    file.touch()
    os.truncate(file, 1 << 42)
    begin = time.monotonic()
    rejected(capsys, "bag", "info", file)
    assert time.monotonic() - begin < 20


def test_fields_named_like_our_columns_are_kept(tmp_path):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    text = "float64[] stamps\nint32 stamp\nint32 log_time\nint32 message_type"
    data = b"\0\1\0\0" + struct.pack("<Iiii", 0, 1, 2, 3)
    file = write(tmp_path / "b.mcap", "/t", "test_msgs/msg/Own", text, data, time=7)
    topic = bag.read(file)["t"]
    assert topic.stamps.tolist() == [7] and topic.message_type == "test_msgs/msg/Own"
    assert topic.stamps_.shape == (1, 0) and topic.message_type_.tolist() == [3]
    assert main(["bag", "export", str(file), "--format", "parquet", "-o", str(tmp_path / "o")]) == 0
    [row] = parquet.read_table(tmp_path / "o/t.parquet").to_pylist()
    assert (row["stamp"], row["stamp_"], row["log_time"], row["log_time_"]) == (7, 1, 7, 2)


def test_topics_with_equal_file_names_get_separate_files(tmp_path):
    pytest.importorskip("pyarrow")
    with open(tmp_path / "b.mcap", "wb") as file:
        writer = Writer(file)
        writer.start("ros2", "")
        schema = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data")
        for topic in ("/a/b", "/a.b"):
            writer.add_message(writer.register_channel(topic, "cdr", schema), 1, HELLO, 1)
        writer.finish()
    assert (
        main(["bag", "export", str(tmp_path / "b.mcap"), "--format", "parquet", "-o", str(tmp_path / "o")])
        == 0
    )
    assert len(list((tmp_path / "o").iterdir())) == 2


def test_a_link_to_itself_is_rejected(tmp_path, capsys):
    (tmp_path / "b.mcap").symlink_to(tmp_path / "b.mcap")
    for action in ("info", "repair", "export"):
        assert "b.mcap" in rejected(capsys, "bag", action, tmp_path / "b.mcap")


@pytest.mark.parametrize("kind", ["fifo", "device"])
def test_pipes_and_devices_are_rejected(tmp_path, capsys, kind):
    folder = tmp_path / "b"
    write_frames(folder, 1)
    for name in ("metadata.yaml", file_of(folder).name):
        path: Path = folder / name
        kept = path.read_bytes()
        path.unlink()
        os.mkfifo(path) if kind == "fifo" else path.symlink_to("/dev/zero")
        rejected(capsys, "bag", "info", folder)
        rejected(capsys, "bag", "info", path)
        path.unlink()
        path.write_bytes(kept)
    with pytest.raises(BagError):
        bag.read(tmp_path / "nowhere\0")

"""``tactile_sim bag info|repair|export``: what they tell and refuse."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from bagtest import file_of, write_frames
from falling import Cube
from mcap.writer import Writer

from tactile_sim.cli import main


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


MENDED = ("repair", "other yaml")


@pytest.mark.parametrize(
    ("command", "what"),
    [pair for pair in product(("info", "repair", "export"), BAD) if pair != MENDED],
)
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


def test_repair_replaces_unreadable_metadata(tmp_path, capsys):
    path = bad_bag(tmp_path, "other yaml")
    assert main(["bag", "info", str(path)]) == 2
    assert f"tactile_sim bag repair {path}" in capsys.readouterr().err
    assert main(["bag", "repair", str(path)]) == 0
    said = capsys.readouterr().out
    assert "metadata" in said and "50 messages" in said
    assert main(["bag", "info", str(path)]) == 0


def test_info_tells_robots_with_their_bodies_and_taxels(make_bag, capsys):
    two = make_bag(
        Cube("/left", bodies=("palm", "thumb"), count=5), Cube("/right", without=["/layout"], count=5)
    )
    assert main(["bag", "info", str(two)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert "/left: 300 taxels on 2 bodies: palm 150, thumb 150" in said
    assert "/right: no layout tells where its taxels lie" in said
    [row] = [line for line in said if "/left/tactile/frame" in line]
    assert "TactileFrame" in row and " 5 " in row and "50.0" in row


def test_info_breaks_long_lists_of_bodies_between_two_of_them(make_bag, capsys):
    bodies = tuple(f"a_long_name_of_a_finger_{k}" for k in range(12))
    assert main(["bag", "info", str(make_bag(Cube(bodies=bodies, count=2)))]) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 160
    assert all(f"{body} 150" in said for body in bodies)
    assert "MB unpacked" in said and "MB on the disk" in said


def others_bag(path, message_encoding, schema_encoding):
    """A bag that is not of ROS 2, with a topic that is; without a schema where that has no encoding."""
    with open(path, "wb") as file:
        writer = Writer(file)
        writer.start("", library="another")
        text = b"module a {};" if schema_encoding == "ros2idl" else b"\x93\xff"
        schema = writer.register_schema("a.B", schema_encoding, text) if schema_encoding else 0
        words = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data")
        writer.add_message(writer.register_channel("/theirs", message_encoding, schema), 1, b"{}", 1)
        text = b"\0\1\0\0\2\0\0\0a\0"
        writer.add_message(writer.register_channel("/words", "cdr", words), 2, text, 2)
        writer.finish()
    return path


@pytest.mark.parametrize(
    ("message", "schema"),
    [("protobuf", "protobuf"), ("json", ""), ("cdr", "ros2idl"), ("json", "jsonschema")],
)
def test_what_others_recorded_is_counted_and_refused_in_one_line(tmp_path, capsys, message, schema):
    path = others_bag(tmp_path / "theirs.mcap", message, schema)
    assert main(["bag", "info", str(path)]) == 0
    assert "/theirs" in capsys.readouterr().out
    for form in ("npz", "parquet"):
        assert main(["bag", "export", str(path), "--format", form, "-o", str(tmp_path / "out")]) == 2
        error = capsys.readouterr().err
        assert f"/theirs is {message} with types in {schema or 'no language'}" in error
        assert "name the topics you need" in error and len(error.splitlines()) == 1
        assert [file.name for file in tmp_path.iterdir()] == ["theirs.mcap"]
    assert main(["bag", "repair", str(path)]) == 0
    assert main(["bag", "export", str(path), "words", "-o", str(tmp_path / "words.npz")]) == 0
    with np.load(tmp_path / "words.npz") as made:
        assert made["/words/data"].tolist() == ["a"]


def test_a_damaged_bag_of_another_encoding_is_not_rewritten(tmp_path, capsys):
    path = others_bag(tmp_path / "theirs.mcap", "json", "")
    os.truncate(path, path.stat().st_size - 20)
    before = path.read_bytes()
    assert main(["bag", "repair", str(path)]) == 2
    error = capsys.readouterr().err
    assert "mcap recover" in error and len(error.splitlines()) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["theirs.mcap"] and path.read_bytes() == before


def test_a_bag_may_be_named_from_within(tmp_path, monkeypatch):
    write_frames(tmp_path / "b")
    monkeypatch.chdir(tmp_path / "b")
    assert main(["bag", "export", "."]) == 0
    assert main(["bag", "export", "b_0.mcap"]) == 0
    made = [path.name for path in tmp_path.rglob("*.npz")]
    assert sorted(made) == ["b.npz", "b_0.npz"] and (tmp_path / "b.npz").is_file()


def test_a_signal_in_the_midst_leaves_what_was_there(tmp_path):
    """The signal comes as the new file appears, which is not there for long: then all went well."""
    bag = tmp_path / "b"
    write_frames(bag, 30_000)
    os.truncate(file_of(bag), file_of(bag).stat().st_size - 20)
    before = file_of(bag).read_bytes()
    for action, options in (("repair", []), ("export", []), ("export", ["--format", "parquet"])):
        there = {path.relative_to(tmp_path) for path in tmp_path.rglob("*")}
        command = [sys.executable, "-m", "tactile_sim", "bag", action, str(bag), *options]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        try:
            while process.poll() is None and not list(tmp_path.rglob("*.new")):
                time.sleep(0.001)
            process.send_signal(signal.SIGINT)
            error = process.communicate(timeout=60)[1]
        finally:
            process.kill()
        assert "Traceback" not in error and process.returncode in (0, 130), error
        if process.returncode == 130:
            assert {path.relative_to(tmp_path) for path in tmp_path.rglob("*")} == there
            assert file_of(bag).read_bytes() == before

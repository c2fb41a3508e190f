"""Test the output and errors of ``tactile_sim bag info|repair|export``."""

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
from mcap.writer import Writer
from support.bags import file_of, write_frames
from support.falling_bag import Cube

from tactile_sim.commands import main


def bad_bag(folder: Path, what: str) -> Path:
    """Create an invalid bag of the kind ``what``, a key of `BAD`, and return its path."""
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
    "nothing": "absent", "empty folder": ".mcap", "text": "MCAP", "empty file": "MCAP", "sqlite3": "sqlite3",
    "other yaml": "metadata.yaml", "missing file": "b_0.mcap",
}  # fmt: skip
"""Text that the error message must contain for each kind of invalid bag."""
REPAIRABLE = ("repair", "other yaml")


@pytest.mark.parametrize(
    ("command", "what"),
    [pair for pair in product(("info", "repair", "export"), BAD) if pair != REPAIRABLE],
)
def test_invalid_bag_gives_one_error_line(tmp_path, capsys, command, what):
    path = bad_bag(tmp_path, what)
    assert main(["bag", command, str(path)]) == 2
    error = capsys.readouterr().err
    assert BAD[what] in error and len(error.splitlines()) == 1
    assert not list(tmp_path.glob("*.npz"))


def test_info_counts_messages_and_reports_damage(tmp_path, capsys):
    write_frames(tmp_path / "b")
    assert main(["bag", "info", str(tmp_path / "b")]) == 0
    output = capsys.readouterr().out
    [row] = [line for line in output.splitlines() if "/tactile/frame" in line]
    assert "tactile_sim/msg/TactileFrame" in row and " 50 " in row and "100.0" in row
    assert "50 messages, 0.490 s from 0.010 s" in output and "damaged" not in output
    shutil.copy(file_of(tmp_path / "b"), tmp_path / "c.mcap")
    os.truncate(tmp_path / "c.mcap", (tmp_path / "c.mcap").stat().st_size - 20)
    assert main(["bag", "info", str(tmp_path / "c.mcap")]) == 0
    assert "damaged: c.mcap" in capsys.readouterr().out
    assert main(["bag", "export", str(tmp_path / "c.mcap")]) == 0
    output = capsys.readouterr()
    assert "damaged: c.mcap" in output.out and output.err == ""
    assert main(["bag", "repair", str(tmp_path / "c.mcap")]) == 0
    assert "saved 50 messages" in capsys.readouterr().out
    assert main(["bag", "repair", str(tmp_path / "c.mcap")]) == 0
    assert "nothing to repair, 50 messages" in capsys.readouterr().out


def test_repair_replaces_unreadable_metadata(tmp_path, capsys):
    path = bad_bag(tmp_path, "other yaml")
    assert main(["bag", "info", str(path)]) == 2
    assert f"tactile_sim bag repair {path}" in capsys.readouterr().err
    assert main(["bag", "repair", str(path)]) == 0
    output = capsys.readouterr().out
    assert "metadata" in output and "50 messages" in output
    assert main(["bag", "info", str(path)]) == 0


def test_info_lists_bodies_and_taxels_of_each_robot(make_bag, capsys):
    two = make_bag(
        Cube("/left", bodies=("palm", "thumb"), count=5), Cube("/right", without=["/layout"], count=5)
    )
    assert main(["bag", "info", str(two)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "/left: 300 taxels on 2 pads: palm 150, thumb 150" in lines
    assert any(line.startswith("/right:") and "no layout" in line for line in lines)
    [row] = [line for line in lines if "/left/tactile/frame" in line]
    assert "TactileFrame" in row and " 5 " in row and "50.0" in row


def test_info_wraps_long_lists_between_bodies(make_bag, capsys):
    bodies = tuple(f"a_long_name_of_a_finger_{k}" for k in range(12))
    assert main(["bag", "info", str(make_bag(Cube(bodies=bodies, count=2)))]) == 0
    output = capsys.readouterr().out
    assert max(map(len, output.splitlines())) <= 160
    assert all(f"{body} 150" in output for body in bodies)
    assert output.count("MB") == 2  # uncompressed size, and size on disk


def foreign_bag(path, message_encoding, schema_encoding):
    """Write a bag with the ROS 2 topic ``/words`` and the topic ``/theirs``; return its path.

    ``/theirs`` has the specified encodings. It has no schema if ``schema_encoding`` is empty.
    """
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
def test_foreign_topics_are_counted_but_not_exported(tmp_path, capsys, message, schema):
    path = foreign_bag(tmp_path / "theirs.mcap", message, schema)
    assert main(["bag", "info", str(path)]) == 0
    assert "/theirs" in capsys.readouterr().out
    for form in ("npz", "parquet"):
        assert main(["bag", "export", str(path), "--format", form, "-o", str(tmp_path / "out")]) == 2
        error = capsys.readouterr().err
        assert "/theirs" in error and repr(message) in error and repr(schema) in error
        assert len(error.splitlines()) == 1
        assert [file.name for file in tmp_path.iterdir()] == ["theirs.mcap"]
    assert main(["bag", "repair", str(path)]) == 0
    assert main(["bag", "export", str(path), "words", "-o", str(tmp_path / "words.npz")]) == 0
    with np.load(tmp_path / "words.npz") as made:
        assert made["/words/data"].tolist() == ["a"]


def test_repair_does_not_rewrite_foreign_encodings(tmp_path, capsys):
    path = foreign_bag(tmp_path / "theirs.mcap", "json", "")
    os.truncate(path, path.stat().st_size - 20)
    before = path.read_bytes()
    assert main(["bag", "repair", str(path)]) == 2
    error = capsys.readouterr().err
    assert "mcap recover" in error and len(error.splitlines()) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["theirs.mcap"] and path.read_bytes() == before


def test_export_accepts_relative_paths_inside_the_bag(tmp_path, monkeypatch):
    write_frames(tmp_path / "b")
    monkeypatch.chdir(tmp_path / "b")
    assert main(["bag", "export", "."]) == 0
    assert main(["bag", "export", "b_0.mcap"]) == 0
    made = [path.name for path in tmp_path.rglob("*.npz")]
    assert sorted(made) == ["b.npz", "b_0.npz"] and (tmp_path / "b.npz").is_file()


def test_a_signal_during_a_command_leaves_no_partial_output(tmp_path):
    """The signal is sent when the output file appears; the command may end before the signal arrives."""
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

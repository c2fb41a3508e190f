"""Export of bags as LeRobot datasets: `bag export --format lerobot`."""

from __future__ import annotations

import fcntl
import json
import os

import numpy as np
import pytest
from support.falling_bag import COUNT, GRID, LANDING, MESSAGES, STEP, TYPES, WEIGHT, Cube, Making, definition

from tactile_sim.commands import main

pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

RATE = 50
KINDS = (("out", "a"), ("out", "b"), ("another", "c"))
"""Datasets with temporary folders: name of the dataset, and the hexadecimal digit in the folder's name.

The digit is repeated 32 times in place of the UUID that an export uses.
"""
LATE = 20
"""Index of the message at which the commands begin."""
TYPES |= {
    "sensor_msgs/JointState": "std_msgs/Header header\nstring[] name\nfloat64[] position\n"
    "float64[] velocity\nfloat64[] effort",
    "geometry_msgs/WrenchStamped": "std_msgs/Header header\nWrench wrench",
}
assert MESSAGES.exists() and definition("sensor_msgs/JointState")


@pytest.fixture
def robot_bag(make_bag):
    """Return a bag with joint states at 100 Hz, wrenches at 50 Hz, and commands at 50 Hz that begin late."""
    making, cube = Making(make_bag.folder("robot")), Cube()
    cube.write_static(making)
    for index in range(COUNT):
        cube.write_snapshot(making, index)
        for half in range(2):
            time = index * STEP + half * STEP // 2
            state = {"header": {"stamp": time}, "name": ["a", "b"], "position": [time / 1e9, half]}
            making.put("/joint_states", "sensor_msgs/JointState", time, state)
        header, time = {"stamp": index * STEP}, index * STEP
        wrench = {"header": header, "wrench": {"force": [0, 0, Cube.force(index)]}}
        making.put("/tactile/cube/wrench", "geometry_msgs/WrenchStamped", time, wrench)
        if index >= LATE:
            command = {"header": header, "name": ["a"], "position": [index]}
            making.put("/joint_commands", "sensor_msgs/JointState", time, command)
    making.bag.close()
    return making.bag.folder


def exported(out):
    """Return the rows, the metadata and the episodes of a dataset."""
    info = json.loads((out / "meta/info.json").read_text())
    return pq.read_table(out / "data"), info, pq.read_table(out / "meta/episodes").to_pylist()


def test_rows_have_the_last_message_of_each_topic(robot_bag, tmp_path):
    out = tmp_path / "out"
    assert (
        main(["bag", "export", str(robot_bag), "--format", "lerobot", "-o", str(out), "--task", "fall"]) == 0
    )
    table, info, (episode,) = exported(out)
    count = COUNT - LATE  # the first row is at the time when every topic has a message
    assert table.num_rows == count == info["total_frames"] == episode["length"]
    assert info["codebase_version"] == "v3.0" and info["fps"] == RATE and episode["tasks"] == ["fall"]
    assert set(table.column_names) == set(info["features"])
    np.testing.assert_allclose(table["timestamp"], np.arange(count) / RATE, atol=1e-6)
    taxels = np.array(table["observation.tactile.cube"].to_pylist())
    assert taxels.shape == (count, 6 * GRID**2, 3)
    np.testing.assert_allclose(taxels.sum(axis=(1, 2)), WEIGHT, rtol=1e-6)
    assert info["features"]["observation.wrench"]["names"] == ["cube"]
    np.testing.assert_allclose(np.array(table["observation.wrench"].to_pylist())[:, 0, 2], WEIGHT, rtol=1e-6)
    state = np.array(table["observation.state"].to_pylist())
    np.testing.assert_allclose(state[:, 0], (LATE + np.arange(count)) * STEP / 1e9)
    assert not state[:, 1].any() and info["features"]["observation.state"]["names"] == ["a", "b"]
    assert np.array(table["action"].to_pylist()).tolist() == [[k] for k in range(LATE, COUNT)]
    units = {field.name: (field.metadata or {}).get(b"unit") for field in table.schema}
    assert units["observation.tactile.cube"] == b"N"


def test_each_bag_is_an_episode_and_the_rate_can_be_set(fall, make_bag, tmp_path):
    out, short = tmp_path / "out", make_bag(Cube(count=LANDING, without=("array",)))
    size = ["--rate", "100", "--more", str(short), str(fall)]
    for more in ([], ["--force"]):
        command = ["bag", "export", str(fall), "--format", "lerobot", "-o", str(out), *size, *more]
        assert main(command) == 0
        table, info, episodes = exported(out)
        lengths = [2 * COUNT - 1, 2 * LANDING - 1, 2 * COUNT - 1]
        assert [episode["length"] for episode in episodes] == lengths
        assert table["index"].to_pylist() == [*range(sum(lengths))] and info["fps"] == 100
    taxels = np.array(table["observation.tactile.cube"].to_pylist())[: lengths[0]]
    np.testing.assert_array_equal(taxels[1::2], taxels[:-1:2])


def test_folders_of_killed_exports_are_removed_and_those_of_running_ones_kept(fall, tmp_path):
    killed, running, other = (tmp_path / f"{name}.{32 * digit}.new" for name, digit in KINDS)
    for folder in (killed, running, other):
        (folder / "data").mkdir(parents=True)
    descriptor = os.open(running, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        assert main(["bag", "export", str(fall), "--format", "lerobot", "-o", str(tmp_path / "out")]) == 0
    finally:
        os.close(descriptor)
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "out", running, other])


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (["contacts"], "tactile"),
        (["no/topic"], "no/topic"),
        (["--rate", "-1"], "--rate"),
        (["--rate", "1" + 30 * "0"], "--rate"),
        (["--more", "{two}"], "observation.tactile.left"),
        (["--more", "{robots}"], "/left"),
        (["--out", "{folder}", "--force"], "{folder}"),
        (["--format", "npz", "--rate", "100"], "--rate"),
    ],
)
def test_bad_input_is_rejected_and_leaves_no_output(fall, make_bag, tmp_path, capsys, more, named):
    places = {"two": make_bag(Cube(bodies=("cube", "left"))), "folder": tmp_path}
    places["robots"] = make_bag(Cube(namespace="/left"), Cube(namespace="/right"))
    more = [text.format(**places) for text in more]
    command = ["bag", "export", str(fall), "--format", "lerobot", "-o", str(tmp_path / "out"), *more]
    assert main(command) == 2
    lines = capsys.readouterr().err.splitlines()
    assert named.format(**places) in lines[-1] and sum("error" in line for line in lines) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("commands", "named"),
    [
        ([{"name": ["a"], "position": [1]}, {"name": ["b"], "position": [1]}], "name"),
        ([{"name": ["a"], "position": [1]}, {"name": ["a"], "velocity": [1]}], "position"),
        ([{"name": ["a"], "position": [1]}, {"name": ["a", "b"], "position": [1, 2]}], "name"),
    ],
)
def test_messages_with_different_columns_are_rejected(make_bag, tmp_path, capsys, commands, named):
    making = Making(make_bag.folder("robot"))
    Cube().write(making)
    for index, command in enumerate(commands):
        header = {"header": {"stamp": index * STEP}}
        making.put("/joint_commands", "sensor_msgs/JointState", index * STEP, header | command)
    making.bag.close()
    out = str(tmp_path / "out")
    assert main(["bag", "export", str(making.bag.folder), "--format", "lerobot", "-o", out]) == 2
    assert f"/joint_commands: {named}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_more_rows_than_memory_holds_are_rejected(fall, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tactile_sim.bag.export._free_memory", lambda: 10_000_000)
    command = ["bag", "export", str(fall), "--format", "lerobot", "-o", str(tmp_path / "out")]
    assert main([*command, "--rate", "1000000"]) == 2
    assert "memory" in capsys.readouterr().err and not list(tmp_path.iterdir())

"""Test the export of a bag as one ``.npz`` file."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest
from support.bags import MS, Writing, write_frames

from tactile_sim.bag.export import export
from tactile_sim.commands import main


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
    error = capsys.readouterr().err
    assert "b.npz" in error and "--force" in error
    assert main(["bag", "export", str(tmp_path / "b"), "no/topic", "-o", str(tmp_path / "c.npz")]) == 2
    assert not (tmp_path / "c.npz").exists()


def test_counts_give_the_lengths_of_varying_fields(tmp_path):
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


def large(folder, topics=10, messages=8) -> dict[str, np.ndarray]:
    """Write a bag with 4 MB of incompressible data per topic.

    Returns:
        Data (messages, 1, values) float32, by topic.
    """
    random = np.random.default_rng(0)
    writing, sent = Writing(folder), {}
    for topic in range(topics):
        sent[f"/t{topic}"] = random.integers(1 << 20, 1 << 30, (messages, 1, 1 << 17)).astype(np.float32)
        for time, data in enumerate(sent[f"/t{topic}"]):
            value = {"header": {"stamp": time}, "channels": 1, "data": data}
            writing.put(f"/t{topic}", "tactile_sim/msg/TactileFrame", time, value)
    writing.bag.close()
    return sent


def test_export_holds_one_group_of_topics_in_memory(tmp_path, monkeypatch):
    sent = large(tmp_path / "b")
    monkeypatch.setattr("tactile_sim.bag.export.TOGETHER", 5 << 20)
    tracemalloc.start()
    done = export(tmp_path / "b", tmp_path / "x.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert done.topics == 10 and done.damage is None
    assert peak < 30 << 20 < sum(data.nbytes for data in sent.values())
    with np.load(tmp_path / "x.npz") as made:
        assert len(made.files) == done.arrays
        for name, data in sent.items():
            np.testing.assert_array_equal(made[f"{name}/data"].ravel(), data.ravel())


def test_a_topic_larger_than_memory_is_rejected(tmp_path, monkeypatch, capsys):
    write_frames(tmp_path / "b")
    monkeypatch.setattr("tactile_sim.bag.export._free_memory", lambda: 10_000)
    assert main(["bag", "export", str(tmp_path / "b")]) == 2
    error = capsys.readouterr().err
    assert "/tactile/frame" in error and "--format parquet" in error and len(error.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


@pytest.mark.parametrize("command", [["bag", "export", "--format", "npz", "--out"], ["plot", "--html"]])
@pytest.mark.parametrize("file", ["*.mcap", "metadata.yaml"])
def test_outputs_never_replace_files_of_the_bag(fall, command, file):
    place = next(fall.glob(file))
    content = place.read_bytes()
    assert main([*command, str(place), str(fall), "--force"]) == 2
    assert place.read_bytes() == content

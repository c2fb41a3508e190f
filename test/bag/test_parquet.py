"""Parquet files have the same content as the result of ``bag.read``, with names and units."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from support.falling_bag import COUNT, LANDING, STEP, WEIGHT, Cube, Making

from tactile_sim import bag
from tactile_sim.bag import export
from tactile_sim.commands import main


def exported(path, out, *options):
    assert main(["bag", "export", str(path), *options, "--format", "parquet", "-o", str(out)]) == 0
    return {file.stem: pq.read_table(file) for file in out.iterdir()}


def units(table):
    metadata = {field.name: field.metadata or {} for field in table.schema}
    return {name: found[b"unit"].decode() for name, found in metadata.items() if b"unit" in found}


def values(table, column):
    return np.array(table[column].to_pylist())


def test_each_message_is_a_row_and_arrays_keep_their_shape(fall, tmp_path):
    tables, read = exported(fall, tmp_path / "out"), bag.read(fall)
    assert set(tables) == {name.strip("/").replace("/", ".") for name in read}
    table, frame = tables["tactile.frame"], read["tactile/frame"]
    assert str(table.schema.field("data").type).count("fixed_size_list") == 2
    np.testing.assert_array_equal(values(table, "data"), frame.data)
    np.testing.assert_array_equal(values(table, "stamp"), frame.stamps)
    assert table["header.frame_id"].to_pylist() == ["world"] * COUNT
    assert table["bodies"].to_pylist() == [["cube"]] * COUNT
    assert units(table) == {"stamp": "ns", "log_time": "ns", "data": "N"}
    assert table.schema.metadata[b"message_type"] == b"tactile_sim/msg/TactileFrame"
    assert table.schema.metadata[b"topic"] == b"/tactile/frame"
    layout = tables["tactile.cube.layout"]
    np.testing.assert_array_equal(values(layout, "positions"), read["tactile/cube/layout"].positions)
    assert units(layout)["positions"] == "m" and layout["uv"].to_pylist() == [[]]


def test_each_contact_is_a_row(fall, tmp_path):
    table = exported(fall, tmp_path / "out", "contacts")["contacts"]
    assert table.num_rows == 4 * (COUNT - LANDING)
    numbers = values(table, "message_index")
    np.testing.assert_array_equal(numbers, np.repeat(np.arange(LANDING, COUNT), 4))
    np.testing.assert_array_equal(values(table, "stamp"), numbers * STEP)
    assert set(table["body2"].to_pylist()) == {"cube"}
    force = values(table, "wrench.force")[numbers == COUNT - 1]
    assert force.sum(axis=0) == pytest.approx([0, 0, WEIGHT])
    assert units(table)["wrench.force"] == "N" and units(table)["position"] == "m"


def test_a_topic_with_only_empty_lists_is_an_empty_table(make_bag, tmp_path):
    table = exported(make_bag(Cube(count=LANDING)), tmp_path / "out", "contacts")["contacts"]
    assert table.num_rows == 0 and table.column_names == ["message_index", "stamp"]


def test_arrays_of_varying_length_are_lists_in_every_batch(make_bag, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "BATCH", 4)
    making = Making(make_bag.folder("words"))
    for k in range(10):
        layout = {"layout_id": k, "geoms": ["g"] * (k // 5), "areas": np.full(k, 0.5 * k)}
        making.put("/tactile/a/layout", "tactile_sim/TactileLayout", k, layout)
    making.bag.close()
    table = exported(making.bag.folder, tmp_path / "out")["tactile.a.layout"]
    assert table["areas"].to_pylist() == [[0.5 * k] * k for k in range(10)]
    assert table["geoms"].to_pylist() == [["g"] * (k // 5) for k in range(10)]


def test_export_replaces_files_only_with_force(fall, tmp_path, capsys):
    out = tmp_path / "out"
    exported(fall, out, "contacts")
    again = ["bag", "export", str(fall), "--format", "parquet", "-o", str(out)]
    assert main(again) == 2 and "--force" in capsys.readouterr().err
    assert main([*again, "--force"]) == 0
    assert (
        main(["bag", "export", str(fall), "contact", "--format", "parquet", "-o", str(tmp_path / "no")]) == 2
    )
    error = capsys.readouterr().err
    assert "'/contact'" in error and "'/contacts'" in error
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("raise ModuleNotFoundError('no pyarrow', name='pyarrow')", "pip install pyarrow\n"),
        ("raise ImportError('libarrow.so:\\n no such file')", "pip install --force-reinstall pyarrow\n"),
    ],
)
def test_missing_or_broken_pyarrow_gives_the_install_command(fall, tmp_path, text, command):
    (tmp_path / "lib/pyarrow").mkdir(parents=True)
    (tmp_path / "lib/pyarrow/__init__.py").write_text(text)
    path = os.pathsep.join([str(tmp_path / "lib"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "tactile_sim", "bag", "export", fall, "--format", "parquet"]
        + ["-o", tmp_path / "out"],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(command) and done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_export_to_a_full_disk_leaves_no_folder(fall, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tactile_sim", "bag", "export", fall, "--format", "parquet"]
        + ["-o", tmp_path / "new/out"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2 and "File too large" in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_topics_may_follow_options(fall, tmp_path):
    out = tmp_path / "out"
    arguments = ["--format", "parquet", str(fall), "-o", str(out), "contacts", "tactile/frame"]
    assert main(["bag", "export", *arguments]) == 0
    assert sorted(file.name for file in out.iterdir()) == ["contacts.parquet", "tactile.frame.parquet"]

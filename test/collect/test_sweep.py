"""Sweeps over a grid of keys: the table, resuming after a kill, and invalid input."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tactile_sim.commands import main

METRIC = """from __future__ import annotations
import sys
from dataclasses import dataclass
import numpy as np

@dataclass
class Result:
    mean: float

def metric(episodes, simulation):
    last = np.array([columns["observation.tactile.box"][-1].sum() for columns in episodes])
    return {"mean": last.mean(), "range": np.ptp(last), "taxels": len(simulation.skin.positions)}

def text(episodes, simulation):
    return "much"

def fail(episodes, simulation):
    return episodes[2]

def changing(episodes, simulation):
    return {f"{len(simulation.skin.positions)} taxels": 1.0}

def leave(episodes, simulation):
    sys.exit(0)

def clash(episodes, simulation):
    return {"sensor.gain.value": 1.0}
"""
WEIGHT = 9.81
OVER = ["--over", "sensor.gain.value=0.5:1.5:3", "--over", "skin.scales.box=0.1,0.05"]


@pytest.fixture
def metric(tmp_path):
    """Return the path of a file that defines a metric."""
    (tmp_path / "own.py").write_text(METRIC)
    return tmp_path / "own.py"


def arguments(config: Path, metric: Path, out: Path, *more: str) -> list[str]:
    size = ["--episodes", "2", "--steps", "40"]
    return ["sweep", str(config), "--metric", str(metric), "--out", str(out), *size, *more]


def rows(out: Path) -> list[dict[str, float]]:
    with open(out) as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def test_table_has_a_row_for_each_point_of_the_grid(config, metric, tmp_path):
    out, same = tmp_path / "sweep.csv", tmp_path / "same.parquet"
    assert main(arguments(config, metric, out, *OVER)) == 0
    table = rows(out)
    points = [(row["sensor.gain.value"], row["skin.scales.box"]) for row in table]
    assert points == [(gain, spacing) for gain in (0.5, 1.0, 1.5) for spacing in (0.1, 0.05)]
    np.testing.assert_allclose(
        [row["mean"] for row in table], [gain * WEIGHT for gain, _ in points], rtol=0.01
    )
    assert all(row["range"] == 0.0 for row in table)
    assert {row["skin.scales.box"]: row["taxels"] for row in table}.keys() == {0.1, 0.05}
    assert table[1]["taxels"] > table[0]["taxels"]
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    assert main(arguments(config, metric, same, *OVER, "--workers", "2")) == 0
    assert pq.read_table(same).to_pylist() == table
    assert not list(tmp_path.glob("*.parts"))


def test_ranges_and_other_lists_are_values(config, metric, tmp_path):
    over = ["--over", "sensor.gain.value=1,[0.5,0.6],[2,2]"]
    assert main(arguments(config, metric, tmp_path / "sweep.csv", *over)) == 0
    with open(tmp_path / "sweep.csv") as file:
        table = list(csv.DictReader(file))
    assert [row["sensor.gain.value"] for row in table] == ["1", "[0.5, 0.6]", "[2, 2]"]
    one, between, two = (float(row["mean"]) / WEIGHT for row in table)
    assert (one, two) == pytest.approx((1.0, 2.0), rel=0.01) and 0.49 < between < 0.61
    assert float(table[1]["range"]) > 0.0
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    assert main(arguments(config, metric, tmp_path / "sweep.parquet", *over)) == 0
    same = pq.read_table(tmp_path / "sweep.parquet")
    assert same["sensor.gain.value"].to_pylist() == [row["sensor.gain.value"] for row in table]


def test_points_have_the_same_random_numbers(config, metric, tmp_path):
    over = ["--over", "skin.touch_function=normal,force_vector"]  # normal is a magnitude; gain has a range
    (metric.parent / "own.py").write_text(METRIC.replace("[-1].sum()", "[-1, :, -1].sum()"))
    assert main(arguments(config, metric, tmp_path / "sweep.csv", *over)) == 0
    with open(tmp_path / "sweep.csv") as file:
        one, other = csv.DictReader(file)
    assert float(one["range"]) > 0.01
    assert abs(float(one["mean"])) == pytest.approx(abs(float(other["mean"])), rel=1e-3)


def test_killed_sweep_resumes_without_loss_or_doubles(config, metric, tmp_path, capsys):
    over = ["--over", "sensor.gain.value=0.5:1.5:12"]
    whole, killed = tmp_path / "whole.csv", tmp_path / "killed.csv"
    assert main(arguments(config, metric, whole, *over)) == 0
    command = [
        sys.executable,
        "-m",
        "tactile_sim",
        *arguments(config, metric, killed, *over, "--workers", "2"),
    ]
    process = subprocess.Popen(command)
    parts = Path(f"{killed}.parts")
    while not (kept := list(parts.glob("data/*/*.json"))):
        assert process.poll() is None
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = {file: file.stat().st_mtime_ns for file in parts.glob("data/*/*.json")}
    assert 0 < len(kept) < 12 and not killed.exists()
    capsys.readouterr()
    assert main(arguments(config, metric, killed, *over)) == 0
    assert f"{len(kept)} point" in capsys.readouterr().out
    assert killed.read_bytes() == whole.read_bytes()


def test_damaged_result_of_a_point_is_computed_again(config, metric, tmp_path):
    metric.write_text(
        METRIC
        + """
def late(episodes, simulation):
    found = metric(episodes, simulation)
    if found["mean"] > 12.0:
        open(__file__ + ".go").close()
    return found
"""
    )
    out, given = tmp_path / "sweep.csv", Path(f"{metric}:late")
    over = ["--over", "sensor.gain.value=0.5:1.5:3"]
    assert main(arguments(config, given, out, *over)) == 2  # the last point
    damaged, _ = sorted(Path(f"{out}.parts").glob("data/*/*.json"))
    damaged.write_text('{"mean":')
    Path(f"{metric}.go").touch()
    assert main(arguments(config, given, out, *over)) == 0
    np.testing.assert_allclose([row["mean"] / WEIGHT for row in rows(out)], [0.5, 1.0, 1.5], rtol=0.01)


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (["--over", "skin.thicknes=0.001,0.002"], "'skin.thickness'"),
        (["--over", "sensor.noize.std=0,1"], "'noise'"),
        (["--over", "skin.thickness=0.001:0.002:1"], "skin.thickness"),
        (["--over", "skin.thickness=0.1,0.1"], "skin.thickness"),
        (["--over", "sensor.gain.value=1,,2"], "comma"),
        (["--over", "sensor.gain.value=[1,2],[2,1]"], "sensor.gain.value"),
        (["--over", "skin.thickness"], "'skin.thickness'"),
        (["--over", "sensor.gain.value=0:1:1000", "--over", "seed=0:1000:1001"], "1000 x 1001"),
        (["--over", "sensor.gain.value=1,2", "--over", "skin.sensor.box.gain.value=3,4"], "twice"),
        (["--over", "skin.scales.bok=0.1,0.2"], "'box'"),
        (["--metric", "{metric}:fail"], "own.py:18: IndexError"),
        (["--metric", "{metric}:leave"], "SystemExit"),
        (["--metric", "{metric}:text"], "'much'"),
        (["--metric", "{metric}:changing", "--over", "skin.scales.box=0.1,0.05"], "taxels"),
        (["--metric", "{metric}:clash", "--over", "sensor.gain.value=1,2"], "sensor.gain.value"),
        (["--metric", "{metric}:metrik"], "'metric'"),
        (["--metric", "missing.py"], "missing.py"),
        (["--metric", "{config}"], "is not Python"),
        (["--out", "sweep.txt"], "sweep.txt"),
        (["--out", "{config}.csv"], "--force"),
        (["--episodes", "0"], "--episodes"),
        (["--ray", "local"], "ray"),
    ],
)
def test_bad_input_is_rejected_in_one_line(config, metric, tmp_path, capsys, more, named):
    if named == "ray" and find_spec("ray"):
        pytest.skip("ray is installed")
    Path(f"{config}.csv").write_text("")
    more = [text.format(config=config, metric=metric) for text in more]
    over = [] if "--over" in more else ["--over", "skin.thickness=0.001,0.002"]
    assert main(arguments(config, metric, tmp_path / "sweep.csv", "--steps", "2", *over, *more)) == 2
    lines = capsys.readouterr().err.splitlines()
    assert named in lines[-1] and sum("error" in line for line in lines) == 1
    assert not (tmp_path / "sweep.csv").exists()


def test_other_sweep_with_the_same_table_is_rejected_unless_forced(config, metric, tmp_path, capsys):
    out, over = tmp_path / "sweep.csv", ["--over", "skin.scales.box=0.1,0.05"]
    assert main(arguments(config, Path(f"{metric}:changing"), out, *over)) == 2
    more = [*over, "--seed", "1"]
    for changed, name in ((over, "another metric"), (more, "another seed")):
        assert main(arguments(config, metric, out, *changed)) == 2
        error = capsys.readouterr().err.splitlines()[-1]
        assert name in error and "--force" in error
    assert main(arguments(config, metric, out, *more, "--force")) == 0
    assert len(rows(out)) == 2
    assert main(arguments(config, metric, out, *more)) == 2
    assert "--force" in capsys.readouterr().err

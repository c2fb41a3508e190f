"""Datasets collected by Ray on this machine. `make test-extras` runs this file."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="installed by make test-extras only")

SIZE = ["--episodes", "24", "--envs", "2", "--steps", "100"]
TASK = ["--task", "tactile_sim/BallBalance-v0"]


def command(out: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "tactile_sim", "collect", "balance", "--out", str(out), *SIZE, *TASK, *more]


def files(out: Path) -> dict[str, bytes]:
    return {str(file.relative_to(out)): file.read_bytes() for file in out.rglob("*") if file.is_file()}


def parent(pid: int) -> int:
    """Return the id of a process's parent, or 0 if there is none."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def workers(driver: int) -> list[int]:
    """Return the ids of the Ray worker processes that write shards for the process ``driver``."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            makes = (folder / "cmdline").read_bytes().startswith(b"ray::_make")
        except OSError:
            continue
        ancestor = int(folder.name) if makes else 0
        while ancestor not in (0, driver):
            ancestor = parent(ancestor)
        if ancestor == driver:
            found.append(int(folder.name))
    return found


def test_killed_worker_and_killed_driver_give_the_dataset_of_an_undisturbed_run(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run(command(whole), check=True)
    ray = ["--ray", "local", "--workers", "2"]
    driver = subprocess.Popen(command(killed, *ray))
    while not (found := workers(driver.pid)):
        assert driver.poll() is None
        time.sleep(0.01)
    os.kill(found[0], signal.SIGKILL)
    while not list(killed.glob("data/*/*.parquet")):
        assert driver.poll() is None
        time.sleep(0.01)
    driver.kill()
    driver.wait()
    assert len(list(killed.glob("data/*/*.parquet"))) < 12
    subprocess.run(command(killed, *ray), check=True)
    assert files(killed) == files(whole)


def test_sweep_gives_the_table_of_one_process(tmp_path):
    metric = Path(__file__).resolve().parents[2] / "examples/metric.py"
    tables = []
    for name, more in (("one.csv", []), ("other.csv", ["--ray", "local", "--workers", "2"])):
        over = ["--over", "sensor.noise.std=0,0.01,0.02", "--metric", str(metric), "--out", name]
        size = ["--episodes", "2", "--steps", "20"]
        sweep = [sys.executable, "-m", "tactile_sim", "sweep", "gripper", *over, *size, *more]
        subprocess.run(sweep, cwd=tmp_path, check=True)
        tables.append((tmp_path / name).read_text())
    assert tables[0] == tables[1] and len(tables[0].splitlines()) == 4

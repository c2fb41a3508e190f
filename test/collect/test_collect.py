"""Collected datasets: content, resuming after a kill, and invalid input."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from tactile_sim.batch import Batch
from tactile_sim.commands import main
from tactile_sim.learning.dataset import Collection
from tactile_sim.learning.episodes import Recipe
from tactile_sim.learning.folder import locked
from tactile_sim.skin import TOUCH_FUNCTIONS

pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

WEIGHT = 9.81
EPISODES, STEPS, ENVS = 5, 20, 2


def arguments(config: Path, out: Path, *more: str) -> list[str]:
    size = ["--episodes", str(EPISODES), "--steps", str(STEPS), "--envs", str(ENVS)]
    return ["collect", str(config), "--out", str(out), *size, *more]


def digest(folder: Path) -> str:
    """Return the names and hashes of all files in a folder as text, to compare datasets."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    content = [
        f"{file.relative_to(folder)} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files
    ]
    return "\n".join(content)


def start(*argv: str, **options) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-m", "tactile_sim", *argv], stderr=subprocess.PIPE, **options)


def shards(out: Path) -> list[Path]:
    return sorted(out.glob("data/chunk-000/file-*.parquet"))


def test_episodes_have_all_fields_and_gains_within_their_range(config, tmp_path):
    out = tmp_path / "out"
    assert main(arguments(config, out)) == 0
    table = pq.read_table(out / "data")
    info = json.loads((out / "info.json").read_text())
    assert table.column_names == list(info["fields"])
    assert table["episode_index"].to_pylist() == [k for k in range(EPISODES) for _ in range(STEPS)]
    assert table["frame_index"].to_pylist() == [*range(STEPS)] * EPISODES
    np.testing.assert_allclose(table["timestamp"], np.tile(np.arange(STEPS) / info["rate"], EPISODES), 1e-6)
    readings = np.array(table["observation.tactile.box"].to_pylist())
    assert readings.shape[1:] == tuple(info["fields"]["observation.tactile.box"]["shape"])
    gains = readings.sum(axis=(1, 2)).reshape(EPISODES, STEPS)[:, -1] / WEIGHT
    assert len(np.unique(gains)) == EPISODES
    assert (gains > 0.49).all() and (gains < 1.51).all()


def test_a_shard_equals_a_batch_with_its_seed(config, tmp_path):
    collection = Collection(Recipe(str(config), STEPS), EPISODES, tmp_path, ENVS, seed=3)
    collection.make(1)
    (file,) = shards(tmp_path)
    table = pq.read_table(file)
    batch = Batch(config, ENVS, seed=int(pq.read_metadata(file).metadata[b"seed"]))
    batch.step(5 * (STEPS - 1))  # 100 Hz with steps of 2 ms
    seen = np.float32(batch.observe().readings)
    rows = np.array(table["observation.tactile.box"].to_pylist(), np.float32)
    np.testing.assert_array_equal(rows.reshape(ENVS, STEPS, *rows.shape[1:])[:, -1], seen)


def test_kill_and_resume_give_the_dataset_of_an_undisturbed_run(config, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    more = ["--format", "lerobot", "--episodes", "15", "--steps", "60"]
    assert main(arguments(config, whole, *more)) == 0
    process = start(*arguments(config, killed, *more, "--workers", "2"))
    while not shards(killed):
        assert process.poll() is None
        time.sleep(0.005)
    process.kill()
    process.communicate()
    kept = {file: file.stat().st_mtime_ns for file in shards(killed)}
    assert len(kept) < 8
    (killed / "data/chunk-000/file-007.parquet.new").write_bytes(b"cut")  # left by a killed worker
    assert main(arguments(config, killed, *more)) == 0
    assert {file: file.stat().st_mtime_ns for file in kept} == kept
    assert digest(killed) == digest(whole)
    assert len(shards(whole)) == 8


def test_killed_worker_is_an_error_and_the_next_run_continues(config, tmp_path, capfd):
    out, size = tmp_path / "out", ["--episodes", "20", "--steps", "60"]

    def kill_a_worker():
        while not shards(out):
            time.sleep(0.005)
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        os.kill(int(children[-1]), signal.SIGKILL)

    killer = Thread(target=kill_a_worker, daemon=True)
    killer.start()
    assert main(arguments(config, out, *size, "--workers", "2")) == 2
    killer.join()
    error = capfd.readouterr().err
    assert "worker" in error and "Traceback" not in error
    kept = len(shards(out))
    assert 0 < kept < 10
    assert main(arguments(config, out, *size)) == 0
    assert pq.read_table(out / "data").num_rows == 20 * 60


def test_other_engines_are_rejected_with_what_to_change(config, tmp_path, capsys):
    config.write_text(config.read_text().replace("    skin:", "    engine: motrix\n    skin:"))
    assert main(arguments(config, tmp_path / "out")) == 2
    error = capsys.readouterr().err
    assert f"{config}: engine: " in error and "'mujoco'" in error and "backend" not in error


def test_damaged_shards_are_collected_again(config, tmp_path):
    out = tmp_path / "out"
    assert main(arguments(config, out)) == 0
    intact = digest(out)
    cut, empty, exchanged = shards(out)
    exchanged.write_bytes(cut.read_bytes())
    cut.write_bytes(cut.read_bytes()[:-100])
    empty.write_bytes(b"")
    assert main(arguments(config, out)) == 0
    assert digest(out) == intact


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (["--seed", "1"], "seed"),
        (["--substeps", "3"], "another substeps: 5, not 3"),
        (["--format", "lerobot"], 'another format: "parquet", not "lerobot"'),
        (["--episodes", "1000000000"], "--envs"),
        (["--substeps", "100000000000"], "--substeps"),
        (["--steps", "21"], "steps"),
        (["--episodes", "0"], "--episodes"),
        (["--workers", "0"], "--workers"),
        (["--touch", "taxels"], "--touch"),
        (["--steps", "1000000000", "--envs", "100000", "--episodes", "100000"], "--envs"),
        (["--policy", __file__], "--policy"),
        (["--out", "/dev/null/out"], "/dev/null/out"),
        (["--out", "/etc"], "info.json"),
    ],
)
def test_bad_input_is_rejected_in_one_line(config, tmp_path, capsys, more, named):
    pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    assert main(arguments(config, tmp_path / "out")) == 0
    assert main(arguments(config, tmp_path / "out", *more)) == 2
    lines = capsys.readouterr().err.splitlines()
    assert named in lines[-1] and sum("error" in line for line in lines) == 1


def test_function_that_workers_do_not_know_is_an_error(config, tmp_path, capfd, monkeypatch):
    monkeypatch.setitem(TOUCH_FUNCTIONS, "mine", TOUCH_FUNCTIONS["normal"])
    config.write_text(config.read_text().replace("touch_function: normal", "touch_function: mine"))
    assert main(arguments(config, tmp_path / "out", "--workers", "2")) == 2
    error = capfd.readouterr().err
    assert "skin.touch_function" in error and "'mine'" in error and "Traceback" not in error


@pytest.mark.skipif(find_spec("ray") is not None, reason="ray is installed")
def test_missing_ray_is_reported_before_the_folder_is_created(config, tmp_path, capsys):
    assert main(arguments(config, tmp_path / "out", "--ray", "local")) == 2
    assert "pip install ray" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_folder_that_another_process_writes_is_rejected(config, tmp_path, capsys):
    with locked(tmp_path / "out"):
        assert main(arguments(config, tmp_path / "out")) == 2
    assert str(tmp_path / "out") in capsys.readouterr().err


def test_full_disk_is_an_error_and_leaves_no_part_of_a_shard(config, tmp_path):
    out = tmp_path / "out"

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000))

    process = start(*arguments(config, out, "--steps", "300"), preexec_fn=limit)
    error = process.communicate()[1].decode()
    assert process.returncode == 2
    assert "file-000.parquet" in error and "Traceback" not in error
    assert [file.name for file in out.rglob("*") if file.is_file()] == ["info.json"]


def test_task_of_a_module_is_collected_and_its_faults_are_errors(config, tmp_path, capsys, monkeypatch):
    pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    (tmp_path / "own_press.py").write_text(
        "from tactile_sim.learning import Task, register\n"
        "class Press(Task):\n"
        f"    config = {str(config)!r}\n"
        "    def reward(self, batch, seen, action):\n"
        "        return 1.0\n"
        "register('own/Press-v0', Press)\n"
        "class Wrong(Press):\n"
        "    def reward(self, batch, seen, action):\n"
        "        return None\n"
        "class Failing(Press):\n"
        "    def reward(self, batch, seen, action):\n"
        "        return 1 / 0\n"
        "register('own/Wrong-v0', Wrong)\n"
        "register('own/Failing-v0', Failing)\n"
    )
    (tmp_path / "own_fault.py").write_text("1 / 0\n")
    given = arguments(config, tmp_path / "out", "--task")
    assert main([*given, "own_press:own/Press-v0"]) == 2
    assert "PYTHONPATH" in capsys.readouterr().err
    monkeypatch.syspath_prepend(tmp_path)
    assert main([*given, "own_fault:own/Fault-v0"]) == 2
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert main([*given, "tactile_sim/BallBalance-v0"]) == 2
    error = capsys.readouterr().err
    assert "--task" in error and str(config) in error and "'tray'" in error
    for task, named in (("Wrong", "Wrong.reward"), ("Failing", "own_press.py:12: ZeroDivisionError")):
        assert main([*given, f"own_press:own/{task}-v0"]) == 2
        assert named in capsys.readouterr().err
    assert main([*given, "own_press:own/Press-v0"]) == 0
    assert set(pq.read_table(tmp_path / "out/data")["next.reward"].to_pylist()) == {1.0}


def test_task_gives_rewards_and_ends_episodes_and_a_policy_keeps_the_ball(tmp_path):
    pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    policy = Path(__file__).resolve().parents[2] / "examples/balance.npz"
    means = []
    for more in ([], ["--policy", str(policy)]):
        out = tmp_path / str(len(means))
        task = ["--task", "tactile_sim/BallBalance-v0", *more]
        size = ["--episodes", "8", "--envs", "3", "--steps", "150"]
        assert main(["collect", "balance", "--out", str(out), "--format", "lerobot", *size, *task]) == 0
        table = pq.read_table(out / "data")
        assert table["index"].to_pylist() == [*range(table.num_rows)]
        episodes = pq.read_table(out / "meta/episodes").to_pylist()
        for k, episode in enumerate(episodes):
            begin, end = episode["dataset_from_index"], episode["dataset_to_index"]
            assert set(table["episode_index"][begin:end].to_pylist()) == {k}
            assert end - begin == episode["length"]
        wrench = np.array(table["observation.wrench"].to_pylist())
        statistics = json.loads((out / "meta/stats.json").read_text())["observation.wrench"]
        np.testing.assert_allclose(statistics["mean"], wrench.mean(axis=0), atol=1e-6)
        np.testing.assert_allclose(statistics["std"], wrench.std(axis=0), atol=1e-6)
        last = np.diff(table["episode_index"].to_numpy(), append=-1) != 0
        ended = table["next.terminated"].to_numpy()
        assert not ended[~last].any()
        assert ((table["frame_index"].to_numpy() == 149) | ended)[last].all()
        assert (table["next.reward"].to_numpy() >= 0.0).all()
        means.append(last.size / 8)
    assert means[1] > 1.2 * means[0]

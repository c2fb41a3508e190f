"""Commands for tasks, and replay of logs."""

import runpy
import subprocess
import sys

import numpy as np
import pytest
from support.errors import raises

from tactile_sim.trifinger.tasks import move_cube
from tactile_sim.trifinger.tasks.move_cube.replay_action_log import replay_action_log
from tactile_sim.trifinger.tasks.replay import ReplayError
from tactile_sim.trifinger.trifinger_platform import TriFingerPlatform

START = move_cube.Pose((0, 0, 0.0325)).to_json()


def run(task, *arguments):
    command = [sys.executable, "-m", f"tactile_sim.trifinger.tasks.{task}", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_sample_goal_prints_json():
    goal = move_cube.goal_from_json(run("move_cube", "sample_goal", "--difficulty", 2).stdout)
    np.testing.assert_array_equal(goal.position, (0, 0, 0.0825))


def test_missing_file_exits_with_2(tmp_path):
    done = run("rearrange_dice", "goal_from_config", tmp_path / "goal.json")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "goal.json" in done.stderr


@pytest.fixture
def logfile(tmp_path, monkeypatch):
    """Return the log of an episode of 20 steps with the cube at rest."""
    monkeypatch.setattr(move_cube, "EPISODE_LENGTH", 20)
    platform = TriFingerPlatform()
    for step in range(20):
        platform.append_desired_action(platform.Action(torque=[0.01 * step] * 9))
    platform.store_action_log(tmp_path / "log.p")
    return tmp_path / "log.p"


def test_replay_returns_reward(logfile):
    goal = move_cube.Pose((0, 0, 0.0825)).to_json()
    # In each step, the height error is 5 cm of 10 cm.
    assert replay_action_log(logfile, 2, START, goal) == pytest.approx(-20 * 0.5 / 2)


def test_replay_rejects_other_start_or_length(logfile, monkeypatch):
    elsewhere = move_cube.Pose((0.01, 0, 0.0325)).to_json()
    with raises(ReplayError, "initial pose", "position", "0.01"):
        replay_action_log(logfile, 2, elsewhere, START)
    monkeypatch.setattr(move_cube, "EPISODE_LENGTH", 21)
    with raises(ReplayError, "21", "20"):
        replay_action_log(logfile, 2, START, START)


def test_replay_rejects_other_files(tmp_path):
    (tmp_path / "log.p").write_bytes(b"not a pickle")
    with raises(ReplayError, "log.p"):
        replay_action_log(tmp_path / "log.p", 2, START, START)


@pytest.mark.parametrize("text", ["5", "{", '{"position": [0, 0, 0]}'])
def test_invalid_pose_exits_with_2(tmp_path, monkeypatch, capsys, text):
    poses = ["-i", text, "-g", text]
    monkeypatch.setattr(sys, "argv", ["", "replay_one", "-l", str(tmp_path / "log"), "-d", "1", *poses])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("tactile_sim.trifinger.tasks.move_cube", run_name="__main__")
    assert (end.value.code, len(capsys.readouterr().err.splitlines())) == (2, 1)

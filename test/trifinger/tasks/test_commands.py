"""The tasks' commands and the replay of logs."""

import subprocess
import sys

import numpy as np
import pytest

from tactile_sim.trifinger.tasks import move_cube
from tactile_sim.trifinger.tasks.move_cube.replay_action_log import replay_action_log
from tactile_sim.trifinger.tasks.replay import ReplayError
from tactile_sim.trifinger.trifinger_platform import TriFingerPlatform

START = move_cube.Pose((0, 0, 0.0325)).to_json()


def run(task, *arguments):
    command = [sys.executable, "-m", f"tactile_sim.trifinger.tasks.{task}", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_drawn_goal_is_printed_as_json():
    goal = move_cube.goal_from_json(run("move_cube", "sample_goal", "--difficulty", 2).stdout)
    np.testing.assert_array_equal(goal.position, (0, 0, 0.0825))


def test_a_file_that_is_missing_gives_one_line_and_exit_code_2(tmp_path):
    done = run("rearrange_dice", "goal_from_config", tmp_path / "goal.json")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "goal.json: no goal can be read" in done.stderr


@pytest.fixture
def logfile(tmp_path, monkeypatch):
    """Of an episode of 20 steps in which the cube lies still."""
    monkeypatch.setattr(move_cube, "EPISODE_LENGTH", 20)
    platform = TriFingerPlatform()
    for step in range(20):
        platform.append_desired_action(platform.Action(torque=[0.01 * step] * 9))
    platform.store_action_log(tmp_path / "log.p")
    return tmp_path / "log.p"


def test_a_replayed_log_has_the_reward_of_its_poses(logfile):
    goal = move_cube.Pose((0, 0, 0.0825)).to_json()
    # In each step 5 cm of the height's 10 cm are missing.
    assert replay_action_log(logfile, 2, START, goal) == pytest.approx(-20 * 0.5 / 2)


def test_a_log_of_another_start_or_length_is_refused(logfile, monkeypatch):
    elsewhere = move_cube.Pose((0.01, 0, 0.0325)).to_json()
    with pytest.raises(
        ReplayError, match="first pose does not come out as in the log: position differs by 0.01"
    ):
        replay_action_log(logfile, 2, elsewhere, START)
    monkeypatch.setattr(move_cube, "EPISODE_LENGTH", 21)
    with pytest.raises(ReplayError, match="20 steps, the episode 21"):
        replay_action_log(logfile, 2, START, START)


def test_what_is_no_log_is_refused(tmp_path):
    (tmp_path / "log.p").write_bytes(b"no pickle")
    with pytest.raises(ReplayError, match="log.p: this is no action log"):
        replay_action_log(tmp_path / "log.p", 2, START, START)


@pytest.mark.parametrize("text", ["5", "{", '{"position": [0, 0, 0]}'])
def test_what_is_no_pose_gives_one_line_and_exit_code_2(tmp_path, text):
    done = run("move_cube", "replay_one", "-l", tmp_path / "log", "-d", 1, "-i", text, "-g", text)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)

"""Replay a logged ``move_cube_on_trajectory`` episode."""

from __future__ import annotations

import argparse
import json
import os

from tactile_sim.trifinger.tasks import move_cube
from tactile_sim.trifinger.tasks import move_cube_on_trajectory as task
from tactile_sim.trifinger.tasks.replay import replay


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `replay_action_log` to a command's parser."""
    parser.add_argument("--logfile", "-l", required=True)
    parser.add_argument("--trajectory", "-t", type=json.loads, required=True, metavar="JSON")


def replay_action_log(logfile: str | os.PathLike[str], trajectory: task.Trajectory) -> float:
    """Replay a log and return its reward.

    Args:
        logfile: File written by ``TriFingerPlatform.store_action_log``.
        trajectory: Goals of the episode.

    Returns:
        The reward: the negative sum of the costs of all steps.

    Raises:
        OSError, ReplayError: The log cannot be replayed, or the replay differs from the log.
    """
    return replay(
        logfile,
        move_cube.Pose(task.INITIAL_CUBE_POSITION),
        task.EPISODE_LENGTH,
        lambda t, pose: task.evaluate_state(trajectory, t, pose.position),
    )

"""Replay a logged ``move_cube`` episode."""

from __future__ import annotations

import argparse
import os

from tactile_sim.trifinger.tasks import move_cube
from tactile_sim.trifinger.tasks.goal_space import DIFFICULTIES
from tactile_sim.trifinger.tasks.replay import replay


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `replay_action_log` to a command's parser."""
    parser.add_argument("--logfile", "-l", required=True)
    parser.add_argument("--difficulty", "-d", type=int, choices=DIFFICULTIES, required=True)
    parser.add_argument("--initial-pose", "-i", required=True, metavar="JSON")
    parser.add_argument("--goal-pose", "-g", required=True, metavar="JSON")


def replay_action_log(
    logfile: str | os.PathLike[str], difficulty: int, initial_pose: str, goal_pose: str
) -> float:
    """Replay a log and return its reward.

    Args:
        logfile: File written by ``TriFingerPlatform.store_action_log``.
        difficulty: Difficulty for which the cost is computed, 1 to 4.
        initial_pose: Initial pose of the cube, as JSON text.
        goal_pose: Desired pose of the cube, as JSON text.

    Returns:
        The reward: the negative sum of the costs of all steps.

    Raises:
        OSError, ReplayError: The log cannot be replayed, or the replay differs from the log.
        ValueError: The text of a pose is invalid.
    """
    goal = move_cube.goal_from_json(goal_pose)
    return replay(
        logfile,
        move_cube.goal_from_json(initial_pose),
        move_cube.EPISODE_LENGTH,
        lambda _, pose: move_cube.evaluate_state(goal, pose, difficulty),
    )

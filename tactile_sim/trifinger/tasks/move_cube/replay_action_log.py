"""Runs the log of a ``move_cube`` episode again."""

from __future__ import annotations

import argparse
import os

from tactile_sim.trifinger.tasks import move_cube
from tactile_sim.trifinger.tasks.poses import DIFFICULTIES
from tactile_sim.trifinger.tasks.replay import replay


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds those of :func:`replay_action_log` to a command."""
    parser.add_argument("--logfile", "-l", required=True)
    parser.add_argument("--difficulty", "-d", type=int, choices=DIFFICULTIES, required=True)
    parser.add_argument("--initial-pose", "-i", required=True, metavar="JSON")
    parser.add_argument("--goal-pose", "-g", required=True, metavar="JSON")


def replay_action_log(
    logfile: str | os.PathLike[str], difficulty: int, initial_pose: str, goal_pose: str
) -> float:
    """The reward of a log; its steps must come out as they are logged.

    Args:
        logfile: of ``TriFingerPlatform.store_action_log``.
        difficulty: by which costs are counted.
        initial_pose, goal_pose: of the cube, as JSON.

    Raises:
        OSError, ReplayError: the log cannot be run, or comes out otherwise.
    """
    goal = move_cube.goal_from_json(goal_pose)
    return replay(
        logfile,
        move_cube.goal_from_json(initial_pose),
        move_cube.EPISODE_LENGTH,
        lambda _, pose: move_cube.evaluate_state(goal, pose, difficulty),
    )

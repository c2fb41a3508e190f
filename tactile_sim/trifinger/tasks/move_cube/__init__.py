"""Task: bring the cube of 0.065 m to a goal.

There are four difficulties, see :func:`sample_goal`; the cost of a state is :func:`evaluate_state`.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from tactile_sim.trifinger.tasks.goal_files import NumpyEncoder
from tactile_sim.trifinger.tasks.poses import (
    ARENA_RADIUS,
    MAX_HEIGHT,
    GoalSpace,
    InvalidGoalError,
    Pose,
    PoseLike,
    goal_from_json,
    goal_to_json,
    pose_cost,
)

__all__ = [
    "CUBE_WIDTH",
    "EPISODE_LENGTH",
    "InvalidGoalError",
    "NumpyEncoder",
    "Pose",
    "episode_length",
    "evaluate_state",
    "get_cube_corner_positions",
    "goal_from_json",
    "goal_to_json",
    "json_goal_from_config",
    "random",
    "sample_goal",
    "seed",
    "validate_goal",
    "validate_goal_file",
]

random = np.random.RandomState()  # noqa: NPY002 - equal seeds give the goals that trifinger_simulation gives
"""Draws the goals; :func:`seed` or another generator here makes them repeat."""

EPISODE_LENGTH = 2 * 60 * 1000
"""Steps in an episode, 120 s."""
episode_length = EPISODE_LENGTH

CUBE_WIDTH = 0.065
"""Length of the cube's edges [m]."""

_space = GoalSpace((CUBE_WIDTH,) * 3)
get_cube_corner_positions = _space.corners
validate_goal = _space.validate
validate_goal_file = _space.validate_file
# Written with an underscore, but used by programs for trifinger_simulation:
_CUBE_WIDTH = CUBE_WIDTH
_ARENA_RADIUS = ARENA_RADIUS
_min_height = _space.min_height
_max_height = MAX_HEIGHT
_cube_3d_radius = _space.radius
_max_cube_com_distance_to_center = _space.max_distance


def seed(seed: int) -> None:
    """From here on the same goals come again."""
    global random
    random = np.random.RandomState(seed)  # noqa: NPY002


def sample_goal(difficulty: int) -> Pose:
    """Draws a goal.

    Args:
        difficulty: 1: a place on the table; 2: in the middle, 0.05 m above it; 3: a place on or above it;
            4: a whole pose above it; -1: a first pose on the table, with any side up. In 1 to 3 the
            orientation is (0, 0, 0, 1) and does not count.

    Raises:
        InvalidValueError: a ``ValueError``; there is no such difficulty.
    """
    return _space.sample(random, difficulty)


def json_goal_from_config(filename: str | PathLike[str]) -> str:
    """The ``goal`` of a JSON file, or a drawn one of its ``difficulty``, as JSON with both.

    Raises:
        GoalFileError: a ``RuntimeError``; the file cannot be read or its goal is not valid.
    """
    return _space.from_config(filename, random)


def evaluate_state(
    goal_pose: PoseLike | Mapping[str, Any], actual_pose: PoseLike | Mapping[str, Any], difficulty: int
) -> float:
    """The cost of a pose: 0 at the goal, 1 about as far away as can be.

    With d the difference of the positions::

        position = (|d_xy| / 0.39 m + |d_z| / 0.1 m) / 2
        difficulty 1 to 3:  cost = position
        difficulty 4:       cost = (position + turn / pi) / 2

    where the turn is the angle of the rotation between the two orientations [rad].

    Raises:
        InvalidValueError: a ``ValueError``; there is no such difficulty, or one is no pose.
    """
    return pose_cost(
        goal_pose, actual_pose, difficulty, lambda goal, actual: (goal.inv() * actual).magnitude()
    )

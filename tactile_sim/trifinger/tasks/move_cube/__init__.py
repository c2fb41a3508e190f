"""Task of moving the 0.065 m cube to a goal.

There are four difficulties, see `sample_goal`. `evaluate_state` returns the cost of a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from tactile_sim.trifinger.tasks.goal_files import NumpyEncoder
from tactile_sim.trifinger.tasks.goal_space import (
    ARENA_RADIUS,
    MAX_HEIGHT,
    GoalSpace,
    InvalidGoalError,
    pose_cost,
)
from tactile_sim.trifinger.tasks.poses import Pose, PoseLike, goal_from_json, goal_to_json

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

random = np.random.RandomState()  # noqa: NPY002 - the goals of trifinger_simulation for equal seeds
"""Random generator for goals. It can be seeded with `seed` or replaced."""

EPISODE_LENGTH = 2 * 60 * 1000
"""Number of steps in an episode of 120 s."""
episode_length = EPISODE_LENGTH

CUBE_WIDTH = 0.065
"""Length of the cube's edges [m]."""

_space = GoalSpace((CUBE_WIDTH,) * 3)
get_cube_corner_positions = _space.corners
validate_goal = _space.validate
validate_goal_file = _space.validate_file
# Private names that programs written for trifinger_simulation use:
_CUBE_WIDTH = CUBE_WIDTH
_ARENA_RADIUS = ARENA_RADIUS
_min_height = _space.min_height
_max_height = MAX_HEIGHT
_cube_3d_radius = _space.radius
_max_cube_com_distance_to_center = _space.max_distance


def seed(seed: int) -> None:
    """Seed the random generator for goals."""
    global random
    random = np.random.RandomState(seed)  # noqa: NPY002


def sample_goal(difficulty: int) -> Pose:
    """Draw a goal pose for the cube.

    The difficulty determines the goal:

    - 1: random position on the table
    - 2: position 0.05 m above the table's centre
    - 3: random position on or above the table
    - 4: random position above the table and random orientation
    - -1: random initial pose on the table, with a random side up

    For difficulties 1 to 3, the orientation is (0, 0, 0, 1) and does not affect the cost.

    Args:
        difficulty: 1, 2, 3, 4 or -1.

    Returns:
        The goal pose in the world.

    Raises:
        InvalidValueError: The difficulty is unknown.
    """
    return _space.sample(random, difficulty)


def json_goal_from_config(filename: str | PathLike[str]) -> str:
    """Read a goal from a JSON file, or draw one if the file contains none.

    A drawn goal has the ``difficulty`` that the file specifies.

    Args:
        filename: JSON file with ``difficulty`` and optionally ``goal``.

    Returns:
        JSON text with ``difficulty`` and ``goal``.

    Raises:
        GoalFileError: The file cannot be read or its goal is invalid.
    """
    return _space.from_config(filename, random)


def evaluate_state(
    goal_pose: PoseLike | Mapping[str, Any], actual_pose: PoseLike | Mapping[str, Any], difficulty: int
) -> float:
    """Return the cost of a pose: 0 at the goal, about 1 at the largest possible distance.

    The cost depends on the difference d between the positions [m] and on the angle a between the
    orientations [rad]::

        position = (|d_xy| / 0.39 m + |d_z| / 0.1 m) / 2
        difficulty 1 to 3:  cost = position
        difficulty 4:       cost = (position + a / pi) / 2

    Args:
        goal_pose: Desired pose of the cube.
        actual_pose: Actual pose of the cube.
        difficulty: 1 to 4.

    Raises:
        InvalidValueError: The difficulty is unknown, or an argument is not a pose.
    """
    return pose_cost(
        goal_pose, actual_pose, difficulty, lambda goal, actual: (goal.inv() * actual).magnitude()
    )

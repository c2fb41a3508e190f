"""Task: bring a cuboid of 0.02 m by 0.08 m by 0.02 m to a goal; ``move_cube`` with another cost of turns."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.trifinger.tasks.poses import (
    ARENA_RADIUS,
    MAX_HEIGHT,
    GoalSpace,
    InvalidGoalError,
    Pose,
    PoseLike,
    as_pose,
    goal_from_json,
    goal_to_json,
    pose_cost,
)

__all__ = [
    "InvalidGoalError",
    "Pose",
    "episode_length",
    "evaluate_state",
    "get_cube_corner_positions",
    "goal_from_json",
    "goal_to_json",
    "random",
    "sample_goal",
    "seed",
    "validate_goal",
    "validate_goal_file",
]

random = np.random.RandomState()  # noqa: NPY002 - equal seeds give the goals that trifinger_simulation gives
"""Draws the goals; :func:`seed` or another generator here makes them repeat."""

episode_length = 2 * 60 * 1000
"""Steps in an episode, 120 s."""

_CUBOID_SIZE = np.array((0.02, 0.08, 0.02))
_space = GoalSpace(_CUBOID_SIZE)
# Written with an underscore, but used by programs for trifinger_simulation:
_CUBOID_HALF_SIZE = _CUBOID_SIZE / 2
_ARENA_RADIUS = ARENA_RADIUS
_min_height = _space.min_height
_max_height = MAX_HEIGHT


def seed(seed: int) -> None:
    """From here on the same goals come again."""
    global random
    random = np.random.RandomState(seed)  # noqa: NPY002


def get_cube_corner_positions(pose: PoseLike) -> np.ndarray:
    """Where the cuboid's corners are in the world (8, 3) [m], x slowest, each from - to +."""
    return _space.corners(pose)


def sample_goal(difficulty: int) -> Pose:
    """Draws a goal; the difficulties are those of ``move_cube``.

    Raises:
        InvalidValueError: a ``ValueError``; there is no such difficulty.
    """
    return _space.sample(random, difficulty)


def validate_goal(goal: PoseLike | Mapping[str, Any]) -> None:
    """Refuses a goal that exceeds the goal space.

    Raises:
        InvalidValueError: a ``ValueError``; it is no pose at all.
        InvalidGoalError: it is out of the arena, too low, too high, or a corner is below the table.
    """
    _space.validate(as_pose(goal))


def validate_goal_file(filename: str | PathLike[str]) -> None:
    """Refuses a JSON file without a valid ``difficulty``, or with a ``goal`` that is not valid.

    Raises:
        OSError, ValueError: it cannot be read, is no JSON, or lacks what a goal needs.
        InvalidGoalError: as in :func:`validate_goal`.
    """
    _space.validate_file(filename)


def evaluate_state(
    goal_pose: PoseLike | Mapping[str, Any], actual_pose: PoseLike | Mapping[str, Any], difficulty: int
) -> float:
    """The cost of a pose, as in ``move_cube``, but only the turn of the long axis counts, no spin about it.

    Raises:
        InvalidValueError: a ``ValueError``; there is no such difficulty.
    """
    goal, actual = as_pose(goal_pose), as_pose(actual_pose)
    turn = None
    if difficulty == 4:
        wanted, is_now = (Rotation.from_quat(pose.orientation).apply((0, 1, 0)) for pose in (goal, actual))
        turn = np.arctan2(np.linalg.norm(np.cross(wanted, is_now)), wanted @ is_now)
    return pose_cost(goal, actual, difficulty, turn)

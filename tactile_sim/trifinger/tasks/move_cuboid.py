"""Task: bring a cuboid of 0.02 m by 0.08 m by 0.02 m to a goal; ``move_cube`` with another cost of turns."""

from __future__ import annotations

from collections.abc import Mapping
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
get_cube_corner_positions = _space.corners
validate_goal = _space.validate
validate_goal_file = _space.validate_file
# Written with an underscore, but used by programs for trifinger_simulation:
_CUBOID_HALF_SIZE = _CUBOID_SIZE / 2
_ARENA_RADIUS = ARENA_RADIUS
_min_height = _space.min_height
_max_height = MAX_HEIGHT


def seed(seed: int) -> None:
    """From here on the same goals come again."""
    global random
    random = np.random.RandomState(seed)  # noqa: NPY002


def sample_goal(difficulty: int) -> Pose:
    """Draws a goal; the difficulties are those of ``move_cube``.

    Raises:
        InvalidValueError: a ``ValueError``; there is no such difficulty.
    """
    return _space.sample(random, difficulty)


def evaluate_state(
    goal_pose: PoseLike | Mapping[str, Any], actual_pose: PoseLike | Mapping[str, Any], difficulty: int
) -> float:
    """The cost of a pose, as in ``move_cube``, but only the turn of the long axis counts, no spin about it.

    Raises:
        InvalidValueError: a ``ValueError``; there is no such difficulty, or one is no pose.
    """
    return pose_cost(goal_pose, actual_pose, difficulty, _between_long_axes)


def _between_long_axes(goal: Rotation, actual: Rotation) -> float:
    """[rad]"""
    wanted, is_now = goal.apply((0, 1, 0)), actual.apply((0, 1, 0))
    return float(np.arctan2(np.linalg.norm(np.cross(wanted, is_now)), wanted @ is_now))

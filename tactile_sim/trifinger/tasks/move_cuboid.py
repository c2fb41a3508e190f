"""Task of moving a cuboid of 0.02 m x 0.08 m x 0.02 m to a goal.

Unlike in ``move_cube``, the orientation cost depends only on the direction of the long axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.trifinger.tasks.goal_space import (
    ARENA_RADIUS,
    MAX_HEIGHT,
    GoalSpace,
    InvalidGoalError,
    pose_cost,
)
from tactile_sim.trifinger.tasks.poses import Pose, PoseLike, goal_from_json, goal_to_json

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

random = np.random.RandomState()  # noqa: NPY002 - the goals of trifinger_simulation for equal seeds
"""Random generator for goals. It can be seeded with `seed` or replaced."""

episode_length = 2 * 60 * 1000
"""Number of steps in an episode of 120 s."""

_CUBOID_SIZE = np.array((0.02, 0.08, 0.02))
_space = GoalSpace(_CUBOID_SIZE)
get_cube_corner_positions = _space.corners
validate_goal = _space.validate
validate_goal_file = _space.validate_file
# Private names that programs written for trifinger_simulation use:
_CUBOID_HALF_SIZE = _CUBOID_SIZE / 2
_ARENA_RADIUS = ARENA_RADIUS
_min_height = _space.min_height
_max_height = MAX_HEIGHT


def seed(seed: int) -> None:
    """Seed the random generator for goals."""
    global random
    random = np.random.RandomState(seed)  # noqa: NPY002


def sample_goal(difficulty: int) -> Pose:
    """Draw a goal pose for the cuboid.

    Args:
        difficulty: 1, 2, 3, 4 or -1, with the same meaning as in ``move_cube.sample_goal``.

    Returns:
        The goal pose in the world.

    Raises:
        InvalidValueError: The difficulty is unknown.
    """
    return _space.sample(random, difficulty)


def evaluate_state(
    goal_pose: PoseLike | Mapping[str, Any], actual_pose: PoseLike | Mapping[str, Any], difficulty: int
) -> float:
    """Return the cost of a pose as in ``move_cube``, but with another orientation error.

    The orientation error is the angle between the long axes. Rotation about the long axis does not affect the
    cost.

    Args:
        goal_pose: Desired pose of the cuboid.
        actual_pose: Actual pose of the cuboid.
        difficulty: 1 to 4.

    Raises:
        InvalidValueError: The difficulty is unknown, or an argument is not a pose.
    """
    return pose_cost(goal_pose, actual_pose, difficulty, _between_long_axes)


def _between_long_axes(goal: Rotation, actual: Rotation) -> float:
    """Return the angle between the cuboid's long axes at two orientations [rad]."""
    wanted, is_now = goal.apply((0, 1, 0)), actual.apply((0, 1, 0))
    return float(np.arctan2(np.linalg.norm(np.cross(wanted, is_now)), wanted @ is_now))

"""Draw and check goal poses of a box in the arena, for ``move_cube`` and ``move_cuboid``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from tactile_sim.trifinger import errors
from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.tasks.goal_files import read_goal, to_json
from tactile_sim.trifinger.tasks.poses import Pose, PoseLike, as_pose
from tactile_sim.trifinger.values import numbers, quaternion

ARENA_RADIUS = 0.195
"""Radius of the circle on the table that must contain the box at a goal pose [m]."""
MAX_HEIGHT = 0.1
"""Maximum height of the box's centre at a goal pose [m]."""
DIFFICULTIES = (1, 2, 3, 4)

_HALF = np.sqrt(0.5)
_FACES_UP = Rotation.from_quat(
    [
        (0, 0, 0, 1),
        (_HALF, 0, 0, _HALF),
        (1, 0, 0, 0),
        (-_HALF, 0, 0, _HALF),
        (0, -_HALF, 0, _HALF),
        (0, _HALF, 0, _HALF),
    ]
)
_BELOW_TABLE = 1e-10  # rounding error of the height of a corner [m]


class InvalidGoalError(errors.InvalidGoalError):
    """Error for a goal pose outside the goal space.

    Attributes:
        position: (3,) position of the goal [m].
        orientation: Orientation of the goal, quaternion (x, y, z, w).
    """

    def __init__(self, message: str, position: ArrayLike, orientation: ArrayLike):
        super().__init__(message)
        self.position = position
        self.orientation = orientation


class GoalSpace:
    """The valid goal poses of a box, which are inside the arena's circle and on or above the table.

    Random numbers are drawn in the same order as in ``trifinger_simulation``. Therefore, equal seeds produce
    the same goals in both packages.
    """

    def __init__(self, size: Sequence[float] | np.ndarray):
        """Create the goal space of a box.

        Args:
            size: (3,) lengths of the box's edges [m].
        """
        half = np.asarray(size) / 2
        signs = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij"), axis=-1).reshape(8, 3)
        self._corners = signs * half
        self.radius = float(np.linalg.norm(half))
        self.max_distance = ARENA_RADIUS - self.radius
        self.min_height = float(half.min())

    def corners(self, pose: PoseLike) -> np.ndarray:
        """Return the corners (8, 3) of the box at a pose, in the world [m].

        Corners are ordered by the signs of their coordinates in the box's frame. Negative signs come first,
        and the sign of x changes slowest.

        Args:
            pose: Pose of the box in the world.
        """
        return Rotation.from_quat(pose.orientation).apply(self._corners) + np.asarray(pose.position)

    def sample(self, random: np.random.RandomState, difficulty: int) -> Pose:
        """Draw a goal pose.

        Args:
            random: Random generator.
            difficulty: 1, 2, 3, 4 or -1, see `move_cube.sample_goal`.

        Raises:
            InvalidValueError: The difficulty is unknown.
        """
        if difficulty == 1:
            return Pose((*self._place(random), self.min_height))
        if difficulty == 2:
            return Pose((0.0, 0.0, self.min_height + 0.05))
        if difficulty == 3:
            return Pose((*self._place(random), random.uniform(self.min_height, MAX_HEIGHT)))
        if difficulty == 4:
            place = self._place(random)
            height = random.uniform(self.radius, MAX_HEIGHT)  # high enough for any orientation
            quaternion = random.normal(size=4)
            return Pose((*place, height), quaternion / np.linalg.norm(quaternion))
        if difficulty == -1:
            place = self._place(random)
            side = _FACES_UP[random.choice(len(_FACES_UP))]
            turn = Rotation.from_euler("z", random.uniform(0, 2 * np.pi))
            height = max(self.min_height, -side.apply(self._corners)[:, 2].min())  # a cuboid may be upright
            return Pose((*place, height), (turn * side).as_quat())
        raise _no_difficulty(difficulty)

    def _place(self, random: np.random.RandomState) -> tuple[float, float]:
        """Draw the x and y coordinates of a goal [m], uniformly distributed over the valid circle."""
        radius = self.max_distance * np.sqrt(random.random())
        angle = random.uniform(0, 2 * np.pi)
        return radius * np.cos(angle), radius * np.sin(angle)

    def validate(self, goal: PoseLike | Mapping[str, Any]) -> None:
        """Check that a goal is in the goal space.

        Args:
            goal: Goal to check.

        Raises:
            InvalidValueError: The goal is not a pose.
            InvalidGoalError: The goal is outside the circle, too low or too high, or a corner is below the
                table.
        """
        goal = as_pose(goal)
        numbers("goal.position", goal.position, 3)
        quaternion("goal.orientation", goal.orientation)
        distance, height = np.linalg.norm(goal.position[:2]), goal.position[2]
        problem = ""
        if distance > self.max_distance:
            problem = (
                f"distance from the arena's centre must be <= {self.max_distance:.4f} m, got {distance:.4f}"
            )
        elif height < self.min_height:
            problem = f"height must be >= {self.min_height:.4f} m, got {height:.4f}"
        elif height > MAX_HEIGHT:
            problem = f"height must be <= {MAX_HEIGHT} m, got {height:.4f}"
        else:
            lowest = self.corners(goal)[:, 2].min()
            if lowest < -_BELOW_TABLE:
                problem = f"all corners must be above the table, got one at a height of {lowest:.4f} m"
        if problem:
            raise InvalidGoalError(f"goal: {problem}", goal.position, goal.orientation)

    def validate_file(self, filename: str | PathLike[str]) -> None:
        """Check that a JSON file has a valid ``difficulty`` and that its ``goal``, if present, is valid.

        Args:
            filename: JSON file.

        Raises:
            OSError, ValueError: The file cannot be read, is not JSON, lacks a key, or has an invalid value.
            InvalidGoalError: See `validate`.
        """
        with open(filename) as file:
            config = json.load(file)
        if not isinstance(config, dict) or "difficulty" not in config:
            raise InvalidValueError(f"{filename}: key 'difficulty' is missing")
        if config["difficulty"] not in DIFFICULTIES:
            raise InvalidValueError(
                f"{filename}: difficulty: must be 1, 2, 3 or 4, got {config['difficulty']!r}"
            )
        if "goal" in config:
            self.validate(config["goal"])

    def from_config(self, filename: str | PathLike[str], random: np.random.RandomState) -> str:
        """Read a goal from a JSON file, or draw one if the file contains none.

        A drawn goal has the ``difficulty`` that the file specifies.

        Args:
            filename: JSON file with ``difficulty`` and optionally ``goal``.
            random: Random generator.

        Returns:
            JSON text with ``difficulty`` and ``goal``.

        Raises:
            GoalFileError: The file cannot be read or its goal is invalid.
        """

        def choose(config: dict[str, Any]) -> dict[str, Any]:
            difficulty = int(config["difficulty"])
            goal = as_pose(config["goal"]) if "goal" in config else self.sample(random, difficulty)
            self.validate(goal)
            return {
                "difficulty": difficulty,
                "goal": {"position": goal.position, "orientation": goal.orientation},
            }

        return to_json(read_goal(filename, choose))


def pose_cost(
    goal: PoseLike | Mapping[str, Any],
    actual: PoseLike | Mapping[str, Any],
    difficulty: int,
    turn: Callable[[Rotation, Rotation], float],
) -> float:
    """Return the dimensionless cost of a pose, which is 0 at the goal.

    For difficulties 1 to 3, the cost is the position error relative to the size of the arena. For difficulty
    4, it is the mean of two terms: this error, and the angle between the orientations divided by pi.

    Args:
        goal: Desired pose in the world.
        actual: Actual pose in the world.
        difficulty: 1, 2, 3 or 4.
        turn: Function that returns the angle between two orientations [rad].

    Raises:
        InvalidValueError: The difficulty is unknown, or an argument is not a pose.
    """
    if difficulty not in DIFFICULTIES:
        raise _no_difficulty(difficulty)
    goal, actual = as_pose(goal), as_pose(actual)
    error = _position_error(goal, actual)
    if difficulty < 4:
        return error
    angle = turn(
        Rotation.from_quat(quaternion("goal_pose.orientation", goal.orientation)),
        Rotation.from_quat(quaternion("actual_pose.orientation", actual.orientation)),
    )
    return float((error + angle / np.pi) / 2)


def _position_error(goal: PoseLike, actual: PoseLike) -> float:
    """Return the mean of the relative horizontal and vertical position errors.

    The horizontal error is relative to the arena's diameter, the vertical error to a goal's maximum height.
    """
    difference = numbers("goal_pose.position", goal.position, 3) - numbers(
        "actual_pose.position", actual.position, 3
    )
    return float((np.hypot(*difference[:2]) / (2 * ARENA_RADIUS) + abs(difference[2]) / MAX_HEIGHT) / 2)


def _no_difficulty(difficulty: object) -> InvalidValueError:
    return InvalidValueError(f"difficulty: must be 1, 2, 3 or 4, got {difficulty!r}")

"""Goal poses of one box in the arena: what ``move_cube`` and ``move_cuboid`` have in common."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from tactile_sim.trifinger import errors
from tactile_sim.trifinger.errors import InvalidValueError, MissingKeyError
from tactile_sim.trifinger.tasks.goal_files import read_goal, to_json
from tactile_sim.trifinger.values import numbers, quaternion

ARENA_RADIUS = 0.195
"""Of the circle on the table that no corner of a goal may leave [m]."""
MAX_HEIGHT = 0.1
"""Of a goal's centre [m]."""
DIFFICULTIES = (1, 2, 3, 4)

_UPRIGHT = (0, 0, 0, 1)
_HALF = np.sqrt(0.5)
_FACES_UP = Rotation.from_quat(
    [
        _UPRIGHT,
        (_HALF, 0, 0, _HALF),
        (1, 0, 0, 0),
        (-_HALF, 0, 0, _HALF),
        (0, -_HALF, 0, _HALF),
        (0, _HALF, 0, _HALF),
    ]
)
_BELOW_TABLE = 1e-10  # a corner may seem to be this far below it by rounding [m]


class InvalidGoalError(errors.InvalidGoalError):
    """A goal pose that exceeds the goal space; ``position`` and ``orientation`` say which."""

    def __init__(self, message: str, position: ArrayLike, orientation: ArrayLike):
        super().__init__(message)
        self.position = position
        self.orientation = orientation


class Pose:
    """A position (x, y, z) [m] and an orientation, a quaternion (x, y, z, w), in the world."""

    def __init__(self, position: ArrayLike = (0, 0, 0), orientation: ArrayLike = _UPRIGHT):
        self.position = np.array(position, float)
        self.orientation = np.array(orientation, float)

    def to_dict(self) -> dict[str, np.ndarray]:
        """``position`` and ``orientation`` as they are."""
        return {"position": self.position, "orientation": self.orientation}

    def to_json(self) -> str:
        """Both as lists of numbers."""
        return goal_to_json(self)

    @classmethod
    def from_dict(cls, pose_dict: Mapping[str, Any]) -> Pose:
        """The pose of a mapping with ``position`` and ``orientation``.

        Raises:
            InvalidValueError: a ``ValueError``; it is none. A ``KeyError``, too, where one is missing.
        """
        try:
            return cls(pose_dict["position"], pose_dict["orientation"])
        except KeyError:
            raise MissingKeyError(_no_pose(pose_dict)) from None
        except (TypeError, ValueError):
            raise InvalidValueError(_no_pose(pose_dict)) from None

    @classmethod
    def from_json(cls, json_str: str) -> Pose:
        """The pose of what :meth:`to_json` wrote."""
        return goal_from_json(json_str)


class PoseLike(Protocol):
    """Anything with the attributes of a pose, such as what the cameras' tracking tells."""

    position: np.ndarray
    orientation: np.ndarray


def goal_to_json(goal: Pose) -> str:
    """A pose as JSON text."""
    return to_json(goal.to_dict())


def goal_from_json(json_string: str) -> Pose:
    """The pose of a JSON text with ``position`` and ``orientation``; ValueError where it is none."""
    return Pose.from_dict(json.loads(json_string))


def as_pose(pose: PoseLike | Mapping[str, Any]) -> PoseLike:
    """The pose itself, or that of a mapping; InvalidValueError, a ``ValueError``, where it is neither."""
    if isinstance(pose, Mapping):
        return Pose.from_dict(pose)
    if not (hasattr(pose, "position") and hasattr(pose, "orientation")):
        raise InvalidValueError(_no_pose(pose))
    return pose


class GoalSpace:
    """The poses that a box may be asked to take: over the arena's circle, on the table or above it.

    Drawn numbers follow those of ``trifinger_simulation``: equal seeds give equal goals.
    """

    def __init__(self, size: Sequence[float] | np.ndarray):
        """size (3,): lengths of the box's edges [m]."""
        half = np.asarray(size) / 2
        signs = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij"), axis=-1).reshape(8, 3)
        self._corners = signs * half
        self.radius = float(np.linalg.norm(half))
        self.max_distance = ARENA_RADIUS - self.radius
        self.min_height = float(half.min())

    def corners(self, pose: PoseLike) -> np.ndarray:
        """Where the box's corners are in the world (8, 3) [m], x slowest, each from - to +."""
        return Rotation.from_quat(pose.orientation).apply(self._corners) + np.asarray(pose.position)

    def sample(self, random: np.random.RandomState, difficulty: int) -> Pose:
        """A goal of a difficulty, or with -1 a first pose on the table with any side up.

        Raises:
            InvalidValueError: a ``ValueError``; there is no such difficulty.
        """
        if difficulty == 1:
            return Pose((*self._place(random), self.min_height))
        if difficulty == 2:
            return Pose((0.0, 0.0, self.min_height + 0.05))
        if difficulty == 3:
            return Pose((*self._place(random), random.uniform(self.min_height, MAX_HEIGHT)))
        if difficulty == 4:
            place = self._place(random)
            height = random.uniform(self.radius, MAX_HEIGHT)  # clear of the table however it is turned
            quaternion = random.normal(size=4)
            return Pose((*place, height), quaternion / np.linalg.norm(quaternion))
        if difficulty == -1:
            place = self._place(random)
            side = _FACES_UP[random.choice(len(_FACES_UP))]
            turn = Rotation.from_euler("z", random.uniform(0, 2 * np.pi))
            height = max(self.min_height, -side.apply(self._corners)[:, 2].min())  # a cuboid may stand
            return Pose((*place, height), (turn * side).as_quat())
        raise _no_difficulty(difficulty)

    def _place(self, random: np.random.RandomState) -> tuple[float, float]:
        """x, y of a centre, even over the circle [m]."""
        radius = self.max_distance * np.sqrt(random.random())
        angle = random.uniform(0, 2 * np.pi)
        return radius * np.cos(angle), radius * np.sin(angle)

    def validate(self, goal: PoseLike | Mapping[str, Any]) -> None:
        """Refuses a goal outside of the space.

        Raises:
            InvalidValueError: a ``ValueError``; it is no pose at all.
            InvalidGoalError: it is out of the circle, too low, too high, or a corner is below the table.
        """
        goal = as_pose(goal)
        numbers("goal.position", goal.position, 3)
        quaternion("goal.orientation", goal.orientation)
        distance, height = np.linalg.norm(goal.position[:2]), goal.position[2]
        problem = ""
        if distance > self.max_distance:
            problem = (
                f"{distance:.4f} m from the arena's centre, at most {self.max_distance:.4f} m is allowed"
            )
        elif height < self.min_height:
            problem = f"{height:.4f} m high, at least {self.min_height:.4f} m is allowed"
        elif height > MAX_HEIGHT:
            problem = f"{height:.4f} m high, at most {MAX_HEIGHT} m is allowed"
        else:
            lowest = self.corners(goal)[:, 2].min()
            if lowest < -_BELOW_TABLE:
                problem = f"turned so that a corner is {-lowest:.4f} m below the table"
        if problem:
            raise InvalidGoalError(f"the goal is {problem}", goal.position, goal.orientation)

    def validate_file(self, filename: str | PathLike[str]) -> None:
        """Refuses a JSON file that has no valid ``difficulty``, or a ``goal`` outside of the space.

        Raises:
            OSError, ValueError: it cannot be read, is no JSON, or lacks what a goal needs.
            InvalidGoalError: as in :meth:`validate`.
        """
        with open(filename) as file:
            config = json.load(file)
        if not isinstance(config, dict) or "difficulty" not in config:
            raise InvalidValueError(f"{filename}: there is no 'difficulty'")
        if config["difficulty"] not in DIFFICULTIES:
            raise InvalidValueError(f"{filename}: difficulty is {config['difficulty']!r}, not 1, 2, 3 or 4")
        if "goal" in config:
            self.validate(config["goal"])

    def from_config(self, filename: str | PathLike[str], random: np.random.RandomState) -> str:
        """The goal of a JSON file, or a drawn one of its difficulty, as JSON: ``difficulty`` and ``goal``.

        Raises:
            GoalFileError: a ``RuntimeError``; the file cannot be read or its goal is not valid.
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
    """The position's error; in difficulty 4 its mean with the turn from goal to actual over pi.

    turn: the angle that counts between two orientations [rad].

    Raises:
        InvalidValueError: a ``ValueError``; there is no such difficulty, or one is no pose.
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
    """Half the horizontal distance over the arena's diameter plus half the vertical one over the height."""
    difference = numbers("goal_pose.position", goal.position, 3) - numbers(
        "actual_pose.position", actual.position, 3
    )
    return float((np.hypot(*difference[:2]) / (2 * ARENA_RADIUS) + abs(difference[2]) / MAX_HEIGHT) / 2)


def _no_difficulty(difficulty: object) -> InvalidValueError:
    return InvalidValueError(f"no difficulty {difficulty!r}; there are: 1, 2, 3, 4")


def _no_pose(value: object) -> str:
    return f"a pose has a position (x, y, z) and an orientation (x, y, z, w), this one is {value!r}"

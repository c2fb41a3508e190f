"""Tasks for the TriFinger platform: `move_cube`, `move_cube_on_trajectory`, `move_cuboid`, `rearrange_dice`.

A task draws goals, checks goals and computes the cost of a state. In trifinger_simulation each task is a
module; here it is an object that can be imported like this module. Goals for equal seeds are the same.
Positions (3,) are in the world [m], orientations are quaternions (x, y, z, w).
"""

from __future__ import annotations

import itertools
import json
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TextIO, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from tactile_sim.common.errors import TactileSimError
from tactile_sim.trifinger.checks import InvalidValueError, MissingKeyError, numbers, quaternion

if TYPE_CHECKING:
    from tactile_sim.trifinger.camera import CameraParameters

EPISODE_LENGTH = 2 * 60 * 1000
"""Number of steps in an episode of 120 s."""
CUBE_WIDTH = 0.065
"""Length of the cube's edges [m]."""
CUBOID_SIZE = (0.02, 0.08, 0.02)
"""Lengths of the cuboid's edges [m]."""
DIE_WIDTH = 0.022
"""Length of a die's edges [m]."""
DIFFICULTIES = (1, 2, 3, 4)
_HALF = np.sqrt(0.5)

Position = Sequence[float] | np.ndarray
Trajectory = Sequence[tuple[int, Position]]
DiceGoal = Sequence[Sequence[float]]
Goal = TypeVar("Goal")


class GoalFileError(TactileSimError, RuntimeError):
    """Error for a file that does not contain a valid goal."""


class InvalidGoalError(TactileSimError):
    """Error for a goal outside the goal space of a task."""


class Pose:
    """Pose in the world.

    Attributes:
        position: (3,) position [m].
        orientation: (4,) orientation as a quaternion (x, y, z, w).
    """

    def __init__(self, position: ArrayLike = (0, 0, 0), orientation: ArrayLike = (0, 0, 0, 1)):
        self.position = np.array(position, float)
        self.orientation = np.array(orientation, float)

    def to_dict(self) -> dict[str, np.ndarray]:
        """Convert the pose to a mapping with ``position`` and ``orientation``."""
        return {"position": self.position, "orientation": self.orientation}

    def to_json(self) -> str:
        """Convert the pose to JSON text with the keys of `to_dict`."""
        return to_json(self.to_dict())

    @classmethod
    def from_dict(cls, pose_dict: Mapping[str, Any]) -> Pose:
        """Create a pose from a mapping with ``position`` and ``orientation``.

        Raises:
            InvalidValueError: The mapping does not describe a pose. The error is also a ``ValueError``, and a
                ``KeyError`` if a key is missing.
        """
        try:
            return cls(pose_dict["position"], pose_dict["orientation"])
        except KeyError:
            raise MissingKeyError(_no_pose(pose_dict)) from None
        except (TypeError, ValueError):
            raise InvalidValueError(_no_pose(pose_dict)) from None

    @classmethod
    def from_json(cls, json_str: str) -> Pose:
        """Create a pose from JSON text that `to_json` returned."""
        return cls.from_dict(json.loads(json_str))


class PoseLike(Protocol):
    """Any object with the attributes of a pose, such as the object pose in a camera observation."""

    position: np.ndarray
    orientation: np.ndarray


PoseOrMapping = PoseLike | Mapping[str, Any]


def _as_pose(pose: PoseOrMapping) -> PoseLike:
    if isinstance(pose, Mapping):
        return Pose.from_dict(pose)
    if not (hasattr(pose, "position") and hasattr(pose, "orientation")):
        raise InvalidValueError(_no_pose(pose))
    return pose


def _no_pose(value: object) -> str:
    return f"pose: must have a position (x, y, z) and an orientation (x, y, z, w), got {value!r}"


class NumpyEncoder(json.JSONEncoder):
    """JSON encoder that writes arrays as lists."""

    def default(self, obj: object) -> object:
        """Convert an array to a list; ``json`` calls this for types that it does not support."""
        return obj.tolist() if isinstance(obj, np.ndarray) else super().default(obj)


def to_json(value: object) -> str:
    """Convert a value that may contain arrays to JSON text."""
    return json.dumps(value, cls=NumpyEncoder)


def _read_goal(filename: str | PathLike[str], choose: Callable[[dict[str, Any]], Goal]) -> Goal:
    """Convert the content of a JSON file to a goal; raise GoalFileError if that fails."""
    try:
        with open(filename) as file:
            config = json.load(file)
        if not isinstance(config, dict):
            raise InvalidValueError("it must contain a JSON object")
        return choose(config)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, InvalidGoalError) as error:
        reason = f"key {error} is missing" if type(error) is KeyError else str(error)
        raise GoalFileError(f"{filename}: cannot read a goal: {reason}") from error


class Task(ModuleType):
    """Base class of tasks. Each task is registered as a submodule of this module, so it can be imported."""

    EPISODE_LENGTH = episode_length = EPISODE_LENGTH
    NumpyEncoder = NumpyEncoder

    def __init__(self, name: str):
        super().__init__(f"{__name__}.{name}", type(self).__doc__)
        sys.modules[self.__name__] = self


class PoseError(InvalidGoalError):
    """Error for a goal pose outside the goal space.

    Attributes:
        position: (3,) position of the goal [m].
        orientation: Orientation of the goal, quaternion (x, y, z, w).
    """

    def __init__(self, message: str, position: ArrayLike, orientation: ArrayLike):
        super().__init__(message)
        self.position = position
        self.orientation = orientation


class MoveBox(Task):
    """Task of moving a box to a goal pose.

    In the goal space, the box is inside a circle on or above the table, and its center is at most 0.1 m high.
    """

    InvalidGoalError = PoseError
    CUBE_WIDTH = _CUBE_WIDTH = CUBE_WIDTH
    _CUBOID_HALF_SIZE = np.array(CUBOID_SIZE) / 2
    _ARENA_RADIUS = 0.195
    _max_height = 0.1
    _FACES_UP = Rotation.from_quat(
        [(0, 0, 0, 1), (_HALF, 0, 0, _HALF), (1, 0, 0, 0)]
        + [(-_HALF, 0, 0, _HALF), (0, -_HALF, 0, _HALF), (0, _HALF, 0, _HALF)]
    )
    _BELOW_TABLE = 1e-10  # rounding error of the height of a corner [m]

    def __init__(self, name: str, size: Sequence[float], turn: Callable[[Rotation, Rotation], float]):
        """Create the task for a box with the edges ``size`` (3,) [m] and a measure of the angle [rad]."""
        super().__init__(name)
        self.Pose = Pose
        self.random = np.random.RandomState()  # noqa: NPY002 - the goals of trifinger_simulation
        """Random generator for goals. It can be seeded with `seed` or replaced."""
        half = np.asarray(size) / 2
        self._turn = turn
        self._corners = np.array(list(itertools.product((-1, 1), repeat=3))) * half
        self._cube_3d_radius = float(np.linalg.norm(half))
        self._max_cube_com_distance_to_center = self._ARENA_RADIUS - self._cube_3d_radius
        self._min_height = float(half.min())

    def seed(self, seed: int) -> None:
        """Seed the random generator for goals."""
        self.random = np.random.RandomState(seed)  # noqa: NPY002

    def get_cube_corner_positions(self, pose: PoseLike) -> np.ndarray:
        """Return the corners (8, 3) of the box at a pose, in the world [m].

        Corners are ordered by the signs of their coordinates in the box's frame. Negative signs come first,
        and the sign of x changes slowest.
        """
        return Rotation.from_quat(pose.orientation).apply(self._corners) + np.asarray(pose.position)

    def sample_goal(self, difficulty: int) -> Pose:
        """Draw a goal pose.

        The difficulty determines the goal:

        - 1: random position on the table
        - 2: position 0.05 m above the table's center
        - 3: random position on or above the table
        - 4: random position above the table and random orientation
        - -1: random initial pose on the table, with a random side up

        For difficulties 1 to 3, the orientation is (0, 0, 0, 1) and does not affect the cost.

        Raises:
            InvalidValueError: The difficulty is unknown.
        """
        draw, lowest = self.random, self._min_height
        if difficulty == 1:
            return Pose((*self._place(), lowest))
        if difficulty == 2:
            return Pose((0.0, 0.0, lowest + 0.05))
        if difficulty == 3:
            return Pose((*self._place(), draw.uniform(lowest, self._max_height)))
        if difficulty == 4:
            place = self._place()
            height = draw.uniform(
                self._cube_3d_radius, self._max_height
            )  # above the table in any orientation
            orientation = draw.normal(size=4)
            return Pose((*place, height), orientation / np.linalg.norm(orientation))
        if difficulty == -1:
            place = self._place()
            side = self._FACES_UP[draw.choice(len(self._FACES_UP))]
            turn = Rotation.from_euler("z", draw.uniform(0, 2 * np.pi))
            height = max(lowest, -side.apply(self._corners)[:, 2].min())  # a cuboid may be upright
            return Pose((*place, height), (turn * side).as_quat())
        raise _no_difficulty(difficulty)

    def _place(self) -> tuple[float, float]:
        """Draw the x and y coordinates of a goal [m], uniformly distributed over the valid circle."""
        radius = self._max_cube_com_distance_to_center * np.sqrt(self.random.random())
        angle = self.random.uniform(0, 2 * np.pi)
        return radius * np.cos(angle), radius * np.sin(angle)

    def validate_goal(self, goal: PoseOrMapping) -> None:
        """Check that a goal is in the goal space.

        Raises:
            InvalidValueError: The goal is not a pose.
            InvalidGoalError: The goal is outside the circle, too low or too high, or a corner is below the
                table.
        """
        goal = _as_pose(goal)
        numbers("goal.position", goal.position, 3)
        quaternion("goal.orientation", goal.orientation)
        distance, height = np.linalg.norm(goal.position[:2]), goal.position[2]
        reach = self._max_cube_com_distance_to_center
        problem = ""
        if distance > reach:
            problem = f"distance from the arena's center must be <= {reach:.4f} m, got {distance:.4f}"
        elif height < self._min_height:
            problem = f"height must be >= {self._min_height:.4f} m, got {height:.4f}"
        elif height > self._max_height:
            problem = f"height must be <= {self._max_height} m, got {height:.4f}"
        else:
            lowest = self.get_cube_corner_positions(goal)[:, 2].min()
            if lowest < -self._BELOW_TABLE:
                problem = f"all corners must be above the table, got one at a height of {lowest:.4f} m"
        if problem:
            raise PoseError(f"goal: {problem}", goal.position, goal.orientation)

    def validate_goal_file(self, filename: str | PathLike[str]) -> None:
        """Check that a JSON file has a valid ``difficulty`` and that its ``goal``, if present, is valid.

        Raises:
            OSError, ValueError: The file cannot be read, is not JSON, lacks a key, or has an invalid value.
            InvalidGoalError: See `validate_goal`.
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
            self.validate_goal(config["goal"])

    def json_goal_from_config(self, filename: str | PathLike[str]) -> str:
        """Return JSON text with ``difficulty`` and ``goal`` of a JSON file.

        If the file has no goal, one of its difficulty is drawn.

        Raises:
            GoalFileError: The file cannot be read or its goal is invalid.
        """

        def choose(config: dict[str, Any]) -> dict[str, Any]:
            difficulty = int(config["difficulty"])
            goal = _as_pose(config["goal"]) if "goal" in config else self.sample_goal(difficulty)
            self.validate_goal(goal)
            pose = {"position": goal.position, "orientation": goal.orientation}
            return {"difficulty": difficulty, "goal": pose}

        return to_json(_read_goal(filename, choose))

    def evaluate_state(self, goal_pose: PoseOrMapping, actual_pose: PoseOrMapping, difficulty: int) -> float:
        """Return the cost of a pose: 0 at the goal, about 1 at the largest possible distance.

        The cost depends on the difference d between the positions [m] and on the angle a between the
        orientations [rad]. For the cuboid, a is the angle between the long axes::

            position = (|d_xy| / 0.39 m + |d_z| / 0.1 m) / 2
            difficulty 1 to 3:  cost = position
            difficulty 4:       cost = (position + a / pi) / 2

        Raises:
            InvalidValueError: The difficulty is unknown, or an argument is not a pose.
        """
        if difficulty not in DIFFICULTIES:
            raise _no_difficulty(difficulty)
        goal, actual = _as_pose(goal_pose), _as_pose(actual_pose)
        difference = numbers("goal_pose.position", goal.position, 3)
        difference -= numbers("actual_pose.position", actual.position, 3)
        across = np.hypot(*difference[:2]) / (2 * self._ARENA_RADIUS)
        error = float((across + abs(difference[2]) / self._max_height) / 2)
        if difficulty < 4:
            return error
        angle = self._turn(
            Rotation.from_quat(quaternion("goal_pose.orientation", goal.orientation)),
            Rotation.from_quat(quaternion("actual_pose.orientation", actual.orientation)),
        )
        return float((error + angle / np.pi) / 2)

    def goal_to_json(self, goal: Pose) -> str:
        """Convert a pose to JSON text."""
        return goal.to_json()

    def goal_from_json(self, json_string: str) -> Pose:
        """Create a pose from JSON text; raise a ValueError if the text does not describe one."""
        return Pose.from_json(json_string)


def _no_difficulty(difficulty: object) -> InvalidValueError:
    return InvalidValueError(f"difficulty: must be 1, 2, 3 or 4, got {difficulty!r}")


def _between_long_axes(goal: Rotation, actual: Rotation) -> float:
    """Return the angle between the cuboid's long axes at two orientations [rad]."""
    wanted, is_now = goal.apply((0, 1, 0)), actual.apply((0, 1, 0))
    return float(np.arctan2(np.linalg.norm(np.cross(wanted, is_now)), wanted @ is_now))


class MoveCubeOnTrajectory(Task):
    """Task of carrying the cube along a sequence of goals.

    A trajectory is a list of ``(t, position)``. From step ``t`` on, ``position`` is the desired position of
    the cube's center [m]. The last goal is active until the episode ends::

        [(0, (0, 0, 0.0325)), (5000, (0.04, 0, 0.0325)), (20000, (0.04, -0.1, 0.0325))]

    Random numbers, goal space and costs are those of `move_cube`.
    """

    FIRST_GOAL_DURATION = 30 * 1000
    """Number of steps for which the first goal of a drawn trajectory is active."""
    GOAL_DURATION = 10 * 1000
    """Number of steps for which each later goal of a drawn trajectory is active."""
    GOAL_DIFFICULTY = 3
    """Difficulty level of ``move_cube`` that is used to draw goals and to compute costs."""
    INITIAL_CUBE_POSITION = (0, 0, CUBE_WIDTH / 2)
    """Position of the cube's center in the world at the start of an episode [m]."""

    def get_active_goal(self, trajectory: Trajectory, time_index: int) -> Position | None:
        """Return the desired position (3,) at a step [m], or ``None`` before the first goal."""
        active = None
        for start, position in trajectory:
            if start > time_index:
                break
            active = position
        return active

    def seed(self, seed: int) -> None:
        """Seed the random generator for goals, which is shared with ``move_cube``."""
        move_cube.seed(seed)

    def sample_goal(self) -> Trajectory:
        """Draw a trajectory with random goals for an entire episode."""
        starts = [0, *range(self.FIRST_GOAL_DURATION, self.EPISODE_LENGTH, self.GOAL_DURATION)]
        return [(start, move_cube.sample_goal(self.GOAL_DIFFICULTY).position) for start in starts]

    def validate_goal(self, trajectory: Trajectory) -> None:
        """Check that a trajectory starts at step 0, has increasing steps and stays in the goal space.

        Raises:
            InvalidValueError: The first step is not 0, the steps do not increase, or a position is invalid.
            InvalidGoalError: A position is outside the goal space of ``move_cube``.
        """
        try:
            steps = [(start, position) for start, position in trajectory]
        except (TypeError, ValueError):
            raise InvalidValueError(
                f"trajectory: must be a list of (step, position), got {trajectory!r}"
            ) from None
        if not steps:
            raise InvalidValueError("trajectory: must not be empty")
        previous = -1.0
        for index, (step, position) in enumerate(steps):
            start = float(numbers(f"step of goal {index}", step))
            if index == 0 and start != 0:
                raise InvalidValueError(f"step of goal 0: must be 0, got {step}")
            if start <= previous:
                raise InvalidValueError(f"step of goal {index}: must be > {previous:g}, got {step}")
            previous = start
            move_cube.validate_goal(Pose(numbers(f"position of goal {index}", position, 3)))

    def json_goal_from_config(self, filename: str | PathLike[str]) -> str:
        """Return the ``goal`` of a JSON file as JSON text, or draw a trajectory if the file has none.

        Raises:
            GoalFileError: The file cannot be read or its goal is invalid.
        """
        return to_json(_read_goal(filename, lambda config: _given_or_drawn(self, config)))

    def evaluate_state(self, trajectory: Trajectory, time_index: int, actual_position: Position) -> float:
        """Return the cost of a position (3,) [m] as in ``move_cube``, for the goal active at the step.

        Raises:
            InvalidValueError: No goal is active at this step.
        """
        goal = self.get_active_goal(trajectory, time_index)
        if goal is None:
            raise InvalidValueError(f"trajectory: no goal is active at step {time_index}")
        return move_cube.evaluate_state(Pose(goal), Pose(actual_position), self.GOAL_DIFFICULTY)

    def trajectory_to_json(self, trajectory: Trajectory) -> str:
        """Return a trajectory as JSON text."""
        return to_json(trajectory)


class DiceGoalError(InvalidGoalError):
    """Error for a goal that does not consist of 25 positions with three numbers each."""


class OutOfArenaError(DiceGoalError):
    """Error for a position at which a die is outside the arena or partly below the table's surface.

    Attributes:
        position: (3,) position of the die [m].
    """

    def __init__(self, position: Sequence[float]):
        super().__init__(f"goal: each die must be inside the arena, got one at {tuple(position)}")
        self.position = position


class RearrangeDice(Task):
    """Task of pushing 25 dice into a pattern.

    A goal is a list of 25 positions (x, y, z) [m]. The dice are interchangeable. The cost is the number of
    camera pixels that show a die outside the goal; see `evaluate_state`. A goal can be written as text:
    ``#`` marks a cell outside the arena, ``.`` a free cell and ``X`` a die.
    """

    InvalidGoalError = DiceGoalError
    OutOfArenaError = OutOfArenaError
    ARENA_RADIUS = 0.19
    """Radius of the circle that must contain all dice of a goal [m]."""
    NUM_DICE = 25
    DIE_WIDTH = DIE_WIDTH
    TOLERANCE = 0.004
    """Width of a target minus the width of a die [m]. A target is a cube that must contain a die."""
    TARGET_WIDTH = DIE_WIDTH + TOLERANCE
    N_CELLS_PER_ROW = int(2 * ARENA_RADIUS / DIE_WIDTH)
    """Number of cells per row of the grid from which goals are drawn. A cell is as wide as a die."""
    FACE_CORNERS = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))
    """Corner indices of the six faces of a box in circular order, with the sign of x changing slowest."""
    CHAR_OUTSIDE, CHAR_EMPTY, CHAR_FILLED = "#.X"

    def __init__(self, name: str):
        super().__init__(name)
        self._rng = random.Random()
        self.utils = self
        """The functions for patterns, which trifinger_simulation defines in a module ``utils``."""

    def _cell_center_position(self, cell: tuple[int, int]) -> tuple[float, float, float]:
        """Return the position of the center of a die that lies in a cell (row, column) [m]."""
        x, y = ((index - self.N_CELLS_PER_ROW / 2) * DIE_WIDTH + DIE_WIDTH / 2 for index in cell)
        return x, y, DIE_WIDTH / 2

    def _is_cell_position_inside_arena(self, position: ArrayLike) -> bool:
        """Return whether a die that lies flat at a position is inside the arena's circle."""
        signs = np.array(list(itertools.product((-1, 1), repeat=2)))
        corners = np.asarray(position)[:2] + signs * (DIE_WIDTH / 2)
        return bool((np.linalg.norm(corners, axis=1) <= self.ARENA_RADIUS).all())

    def _is_cell_inside_arena(self, cell: tuple[int, int]) -> bool:
        return self._is_cell_position_inside_arena(self._cell_center_position(cell))

    def seed(self, seed: int) -> None:
        """Seed the random generator for goals."""
        self._rng = random.Random(seed)

    def sample_goal(self) -> list[tuple[float, float, float]]:
        """Draw a goal: the centers of 25 dice in different cells of the grid [m]."""
        cells = [
            (row, column) for row in range(self.N_CELLS_PER_ROW) for column in range(self.N_CELLS_PER_ROW)
        ]
        inside = [cell for cell in cells if self._is_cell_inside_arena(cell)]
        return [self._cell_center_position(cell) for cell in self._rng.sample(inside, self.NUM_DICE)]

    def validate_goal(self, goal: DiceGoal) -> None:
        """Check that a goal has 25 positions inside the arena and above the table.

        Raises:
            InvalidGoalError: The goal does not have 25 positions with three numbers each.
            InvalidValueError: A value is not a finite number.
            OutOfArenaError: A die is outside the arena or partly below the table's surface.
        """
        try:
            lengths = [len(position) for position in goal]
        except TypeError:
            raise DiceGoalError(f"goal: must be a list of positions (x, y, z), got {goal!r}") from None
        if len(lengths) != self.NUM_DICE:
            raise DiceGoalError(f"goal: must have {self.NUM_DICE} positions, got {len(lengths)}")
        for index, position in enumerate(goal):
            what = f"position {index} of the goal"
            if lengths[index] != 3:
                raise DiceGoalError(f"{what}: must have 3 numbers, got {lengths[index]}")
            numbers(what, position, 3)
            if not self._is_cell_position_inside_arena(position) or not position[2] >= DIE_WIDTH / 2:
                raise OutOfArenaError(position)

    def goal_to_json(self, goal: DiceGoal) -> str:
        """Convert a goal to JSON text."""
        return to_json(goal)

    def json_goal_from_config(self, filename: str | PathLike[str]) -> str:
        """Return the ``goal`` of a JSON file as JSON text, or draw one if the file has none.

        Raises:
            GoalFileError: The file cannot be read or its goal is invalid.
        """
        return to_json(_read_goal(filename, lambda config: _given_or_drawn(self, config)))

    def evaluate_state(self, goal_masks: Sequence[np.ndarray], actual_masks: Sequence[np.ndarray]) -> float:
        """Return the number of pixels, over all cameras, that show a die outside the goal's mask.

        Args:
            goal_masks: Masks (height, width) from `generate_goal_mask`, one per camera; 0 outside the goal.
            actual_masks: Masks of the same cameras; 0 for pixels without a die.

        Raises:
            InvalidValueError: The masks differ in number or shape.
        """
        shapes = [[np.shape(mask) for mask in masks] for masks in (goal_masks, actual_masks)]
        if shapes[0] != shapes[1]:
            raise InvalidValueError(
                f"actual_masks: must have the shapes {shapes[0]} of goal_masks, got {shapes[1]}"
            )
        masks = zip(goal_masks, actual_masks, strict=True)
        return float(
            sum(np.count_nonzero(actual.astype(bool) & ~goal.astype(bool)) for goal, actual in masks)
        )

    def generate_goal_mask(
        self, camera_parameters: Iterable[CameraParameters], goal: DiceGoal
    ) -> list[np.ndarray]:
        """Return a mask of the goal for the image of each camera.

        Targets are cubes of width `TARGET_WIDTH`. Occlusion by the robot and the arena is ignored.

        Args:
            camera_parameters: Calibrations of the cameras.
            goal: Positions of the targets in the world [m].

        Returns:
            uint8 (height, width) for each camera: 255 for pixels of a target, otherwise 0.
        """
        from PIL import Image, ImageDraw

        signs = np.array(list(itertools.product((-1, 1), repeat=3)))
        corners = (np.asarray(goal)[:, None] + signs * (self.TARGET_WIDTH / 2)).reshape(-1, 3)
        masks = []
        for camera in camera_parameters:
            image = Image.new("L", (camera.width, camera.height))
            draw = ImageDraw.Draw(image)
            # Truncated to whole pixels as in trifinger_simulation, so that the costs are equal.
            for box in camera.project(corners).astype(int).reshape(-1, 8, 2):
                for face in self.FACE_CORNERS:
                    outline = [tuple(box[corner]) for corner in face]
                    draw.polygon(outline, fill=255)
                    draw.line([*outline, outline[0]], fill=255)
            masks.append(np.array(image))
        return masks

    def visualize_2d(self, target_positions: DiceGoal) -> None:
        """Show the arena and the targets from above in a matplotlib window."""
        import matplotlib.pyplot as plt

        radius, width = self.ARENA_RADIUS, self.TARGET_WIDTH
        _, axes = plt.subplots()
        axes.set(xlim=(-radius, radius), ylim=(-radius, radius), aspect="equal")
        for x, y, _ in target_positions:
            axes.add_patch(plt.Rectangle((x - width / 2, y - width / 2), width, width, color="green"))
        axes.add_patch(plt.Circle((0, 0), radius, color="black", fill=False))
        plt.show()

    def create_empty_pattern(self) -> str:
        """Return a pattern without dice, with one line for each row of cells."""
        cells = range(self.N_CELLS_PER_ROW)
        marks = {True: self.CHAR_EMPTY, False: self.CHAR_OUTSIDE}
        return "\n".join(
            "".join(marks[self._is_cell_inside_arena((row, column))] for column in cells) for row in cells
        )

    def create_pattern_template_file(self, filename: str | PathLike[str]) -> None:
        """Write a file with a pattern without dice, which the user can fill in and `parse_pattern` reads."""
        with open(filename, "w") as file:
            file.write(f"{self.create_empty_pattern()}\n\nText from the empty line on is ignored.\n")

    def parse_pattern(self, goal_pattern: Iterable[str]) -> list[tuple[float, float, float]]:
        """Convert the lines of a pattern, up to the first empty line, to a goal.

        Raises:
            GoalFileError: There are too many rows, the number of columns or dice is wrong, or a die is
                outside the arena.
        """
        goal, size = [], self.N_CELLS_PER_ROW
        for row, text in enumerate(goal_pattern):
            line = text.strip()
            if not line:
                break
            if row >= size:
                raise GoalFileError(f"pattern: must have at most {size} rows")
            if len(line) != size:
                raise GoalFileError(f"row {row} of the pattern: must have {size} characters, got {len(line)}")
            for column in (index for index, character in enumerate(line) if character == self.CHAR_FILLED):
                if not self._is_cell_inside_arena((row, column)):
                    raise GoalFileError(f"pattern: die in row {row}, column {column} is outside the arena")
                goal.append(self._cell_center_position((row, column)))
        if len(goal) != self.NUM_DICE:
            raise GoalFileError(f"pattern: must have {self.NUM_DICE} dice, got {len(goal)}")
        return goal

    def parse_pattern_file(self, f: TextIO) -> list[tuple[float, float, float]]:
        """Read a pattern from an open file and convert it to a goal; see `parse_pattern`."""
        return self.parse_pattern(f)


def _given_or_drawn(task: Any, config: dict[str, Any]) -> Any:
    """Return the valid goal of a goal file, or draw one if the file has none."""
    goal = config["goal"] if "goal" in config else task.sample_goal()
    task.validate_goal(goal)
    return goal


move_cube = MoveBox("move_cube", (CUBE_WIDTH,) * 3, lambda goal, actual: (goal.inv() * actual).magnitude())
move_cuboid = MoveBox("move_cuboid", CUBOID_SIZE, _between_long_axes)
move_cube_on_trajectory = MoveCubeOnTrajectory("move_cube_on_trajectory")
rearrange_dice = RearrangeDice("rearrange_dice")

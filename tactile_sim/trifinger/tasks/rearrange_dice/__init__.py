"""Task of pushing 25 dice into a pattern.

A goal is a list of 25 positions (x, y, z) [m]. The dice are interchangeable. The cost is the number of camera
pixels that show a die outside the goal; see `evaluate_state`.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.trifinger import errors
from tactile_sim.trifinger.errors import InvalidValueError

# Programs import the encoder from here.
from tactile_sim.trifinger.tasks.goal_files import NumpyEncoder, read_or_draw, to_json  # noqa: F401
from tactile_sim.trifinger.values import numbers

if TYPE_CHECKING:
    from tactile_sim.trifinger.camera import CameraParameters

EPISODE_LENGTH = 2 * 60 * 1000
"""Number of steps in an episode of 120 s."""
ARENA_RADIUS = 0.19
"""Radius of the circle that must contain all dice of a goal [m]."""
NUM_DICE = 25
DIE_WIDTH = 0.022
"""Length of a die's edges [m]."""
TOLERANCE = 0.004
"""Width of a target minus the width of a die [m]. A target is a cube that must contain a die."""
TARGET_WIDTH = DIE_WIDTH + TOLERANCE
N_CELLS_PER_ROW = int(2 * ARENA_RADIUS / DIE_WIDTH)
"""Number of cells per row of the grid from which goals are drawn. A cell is as wide as a die."""

Cell = tuple[int, int]
Goal = Sequence[Sequence[float]]

_rng = random.Random()
_SIGNS = np.array(list(itertools.product((-1, 1), repeat=3)))  # signs of a box's corners, x slowest
FACE_CORNERS = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))
"""Corner indices of the six faces of a box, in circular order around each face.

The first two faces are normal to x, the next two to y and the last two to z.
"""


class InvalidGoalError(errors.InvalidGoalError):
    """Error for a goal that does not consist of 25 positions with three numbers each."""


class OutOfArenaError(InvalidGoalError):
    """Error for a position at which a die is outside the arena or partly below the table's surface.

    Attributes:
        position: (3,) position of the die [m].
    """

    def __init__(self, position: Sequence[float]):
        super().__init__(f"goal: each die must be inside the arena, got one at {tuple(position)}")
        self.position = position


def _cell_center_position(cell: Cell) -> tuple[float, float, float]:
    """Return the position of the centre of a die that lies in a cell (row, column) [m]."""
    x, y = ((index - N_CELLS_PER_ROW / 2) * DIE_WIDTH + DIE_WIDTH / 2 for index in cell)
    return x, y, DIE_WIDTH / 2


def _is_cell_position_inside_arena(position: ArrayLike) -> bool:
    """Return whether a die that lies flat at a position is inside the circle with radius `ARENA_RADIUS`."""
    corners = np.asarray(position)[:2] + _SIGNS[::2, :2] * (DIE_WIDTH / 2)
    return bool((np.linalg.norm(corners, axis=1) <= ARENA_RADIUS).all())


def _is_cell_inside_arena(cell: Cell) -> bool:
    return _is_cell_position_inside_arena(_cell_center_position(cell))


def _get_grid_cells() -> list[Cell]:
    """Return all cells that are completely inside the circle with radius `ARENA_RADIUS`."""
    cells = itertools.product(range(N_CELLS_PER_ROW), range(N_CELLS_PER_ROW))
    return [cell for cell in cells if _is_cell_inside_arena(cell)]


def goal_to_json(goal: Goal) -> str:
    """Convert a goal to JSON text."""
    return to_json(goal)


def seed(seed: int) -> None:
    """Seed the random generator for goals."""
    global _rng
    _rng = random.Random(seed)


def sample_goal() -> list[tuple[float, float, float]]:
    """Draw a goal: the centres of 25 dice in different cells of the grid [m]."""
    return [_cell_center_position(cell) for cell in _rng.sample(_get_grid_cells(), NUM_DICE)]


def validate_goal(goal: Goal) -> None:
    """Check that a goal has 25 positions inside the arena and above the table.

    Args:
        goal: Positions (x, y, z) of the dice [m].

    Raises:
        InvalidGoalError: The goal does not have 25 positions with three numbers each.
        InvalidValueError: A value is not a finite number.
        OutOfArenaError: A die is outside the arena or partly below the table's surface.
    """
    try:
        lengths = [len(position) for position in goal]
    except TypeError:
        raise InvalidGoalError(f"goal: must be a list of positions (x, y, z), got {goal!r}") from None
    if len(lengths) != NUM_DICE:
        raise InvalidGoalError(f"goal: must have {NUM_DICE} positions, got {len(lengths)}")
    for index, position in enumerate(goal):
        if lengths[index] != 3:
            raise InvalidGoalError(f"position {index} of the goal: must have 3 numbers, got {lengths[index]}")
        numbers(f"position {index} of the goal", position, 3)
        if not _is_cell_position_inside_arena(position) or not position[2] >= DIE_WIDTH / 2:
            raise OutOfArenaError(position)


def json_goal_from_config(filename: str | PathLike[str]) -> str:
    """Return the ``goal`` of a JSON file as JSON text, or draw one if the file has none.

    Args:
        filename: JSON file.

    Raises:
        GoalFileError: The file cannot be read or its goal is invalid.
    """
    return goal_to_json(read_or_draw(filename, sample_goal, validate_goal))


def evaluate_state(goal_masks: Sequence[np.ndarray], actual_masks: Sequence[np.ndarray]) -> float:
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
    return float(
        sum(
            np.count_nonzero(np.logical_and(actual, np.logical_not(goal)))
            for goal, actual in zip(goal_masks, actual_masks, strict=True)
        )
    )


def visualize_2d(target_positions: Goal) -> None:
    """Show the arena and the targets from above in a matplotlib window."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots()
    axes.set(xlim=(-ARENA_RADIUS, ARENA_RADIUS), ylim=(-ARENA_RADIUS, ARENA_RADIUS), aspect="equal")
    for x, y, _ in target_positions:
        corner = (x - TARGET_WIDTH / 2, y - TARGET_WIDTH / 2)
        axes.add_patch(plt.Rectangle(corner, TARGET_WIDTH, TARGET_WIDTH, color="green"))
    axes.add_patch(plt.Circle((0, 0), ARENA_RADIUS, color="black", fill=False))
    plt.show()


def generate_goal_mask(camera_parameters: Sequence[CameraParameters], goal: Goal) -> list[np.ndarray]:
    """Return a mask of the goal for each camera image.

    Targets are cubes of width `TARGET_WIDTH`. Occlusion by the robot and the arena is ignored.

    Args:
        camera_parameters: Calibrations of the cameras.
        goal: Positions of the targets in the world [m].

    Returns:
        uint8 (height, width) for each camera: 255 for pixels of a target, otherwise 0.
    """
    from PIL import Image, ImageDraw

    masks = []
    for camera in camera_parameters:
        image = Image.new("L", (camera.width, camera.height))
        draw = ImageDraw.Draw(image)
        corners = np.asarray(goal)[:, None] + _SIGNS * (TARGET_WIDTH / 2)
        # Truncated to whole pixels as in trifinger_simulation, so that the costs are equal.
        pixels = camera.project(corners.reshape(-1, 3)).astype(int).reshape(-1, 8, 2)
        for box in pixels:
            for face in FACE_CORNERS:
                outline = [tuple(box[corner]) for corner in face]
                draw.polygon(outline, fill=255)
                draw.line([*outline, outline[0]], fill=255)
        masks.append(np.array(image))
    return masks

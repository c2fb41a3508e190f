"""Task: push 25 dice into a pattern.

A goal is a list of as many positions (x, y, z) [m]; the dice are alike, any die may lie at any of them. The
cost is counted in camera images: pixels that show a die where none shall be, see :func:`evaluate_state`.
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

# Programs look for the encoder here, too.
from tactile_sim.trifinger.tasks.goal_files import NumpyEncoder, read_or_draw, to_json  # noqa: F401
from tactile_sim.trifinger.values import numbers

if TYPE_CHECKING:
    from tactile_sim.trifinger.camera import CameraParameters

EPISODE_LENGTH = 2 * 60 * 1000
"""Steps in an episode, 120 s."""
ARENA_RADIUS = 0.19
"""Of the circle in which goals lie [m]."""
NUM_DICE = 25
DIE_WIDTH = 0.022
"""Length of a die's edges [m]."""
TOLERANCE = 0.004
"""How much wider than a die its target is [m]."""
TARGET_WIDTH = DIE_WIDTH + TOLERANCE
N_CELLS_PER_ROW = int(2 * ARENA_RADIUS / DIE_WIDTH)
"""Cells along a side of the grid on which goals are drawn; a die fits a cell."""

Cell = tuple[int, int]
Goal = Sequence[Sequence[float]]

_rng = random.Random()
_SIGNS = np.array(list(itertools.product((-1, 1), repeat=3)))  # of a box's corners, x slowest
FACE_CORNERS = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))
"""Corners of a box's faces, round each: two across x, two across y, two across z."""


class InvalidGoalError(errors.InvalidGoalError):
    """A goal that is not 25 positions of three numbers."""


class OutOfArenaError(InvalidGoalError):
    """A position at which a die would stick out of the arena."""

    def __init__(self, position: Sequence[float]):
        super().__init__(f"a die at {tuple(position)} would not be inside the arena")
        self.position = position


def _cell_center_position(cell: Cell) -> tuple[float, float, float]:
    """The centre of a die that lies on a cell (row, column) [m]."""
    x, y = ((index - N_CELLS_PER_ROW / 2) * DIE_WIDTH + DIE_WIDTH / 2 for index in cell)
    return x, y, DIE_WIDTH / 2


def _is_cell_position_inside_arena(position: ArrayLike) -> bool:
    """Whether a die that lies flat at a position is within the circle."""
    corners = np.asarray(position)[:2] + _SIGNS[::2, :2] * (DIE_WIDTH / 2)
    return bool((np.linalg.norm(corners, axis=1) <= ARENA_RADIUS).all())


def _is_cell_inside_arena(cell: Cell) -> bool:
    return _is_cell_position_inside_arena(_cell_center_position(cell))


def _get_grid_cells() -> list[Cell]:
    """All cells that are within the circle."""
    cells = itertools.product(range(N_CELLS_PER_ROW), range(N_CELLS_PER_ROW))
    return [cell for cell in cells if _is_cell_inside_arena(cell)]


def goal_to_json(goal: Goal) -> str:
    """A goal as JSON text."""
    return to_json(goal)


def seed(seed: int) -> None:
    """From here on the same goals come again."""
    global _rng
    _rng = random.Random(seed)


def sample_goal() -> list[tuple[float, float, float]]:
    """Draws 25 cells of the grid; their centres [m]."""
    return [_cell_center_position(cell) for cell in _rng.sample(_get_grid_cells(), NUM_DICE)]


def validate_goal(goal: Goal) -> None:
    """Refuses a goal of another shape or with a die outside of the arena or in the table.

    Raises:
        InvalidGoalError: it is not 25 positions of three numbers.
        InvalidValueError: a ``ValueError``; a number is none, or not finite.
        OutOfArenaError: a die is not inside the arena.
    """
    try:
        lengths = [len(position) for position in goal]
    except TypeError:
        raise InvalidGoalError(f"a goal is a list of positions (x, y, z), not {goal!r}") from None
    if len(lengths) != NUM_DICE:
        raise InvalidGoalError(f"the goal has {len(lengths)} positions, not {NUM_DICE}")
    for index, position in enumerate(goal):
        if lengths[index] != 3:
            raise InvalidGoalError(f"position {index} of the goal has {lengths[index]} numbers, not 3")
        numbers(f"position {index} of the goal", position, 3)
        if not _is_cell_position_inside_arena(position) or not position[2] >= DIE_WIDTH / 2:
            raise OutOfArenaError(position)


def json_goal_from_config(filename: str | PathLike[str]) -> str:
    """The ``goal`` of a JSON file, or a drawn one where it has none, as JSON.

    Raises:
        GoalFileError: a ``RuntimeError``; the file cannot be read or its goal is not valid.
    """
    return goal_to_json(read_or_draw(filename, sample_goal, validate_goal))


def evaluate_state(goal_masks: Sequence[np.ndarray], actual_masks: Sequence[np.ndarray]) -> float:
    """The number of pixels that show a die and are not in the goal's mask, over all cameras.

    Args:
        goal_masks: per camera a mask (height, width) of :func:`generate_goal_mask`, 0 where no die may be.
        actual_masks: masks of the same shapes and order, 0 where no die is seen.

    Raises:
        InvalidValueError: a ``ValueError``; the masks differ in number or shape.
    """
    shapes = [[np.shape(mask) for mask in masks] for masks in (goal_masks, actual_masks)]
    if shapes[0] != shapes[1]:
        raise InvalidValueError(
            f"the goal's masks are of the shapes {shapes[0]}, the actual ones {shapes[1]}"
        )
    return float(
        sum(
            np.count_nonzero(np.logical_and(actual, np.logical_not(goal)))
            for goal, actual in zip(goal_masks, actual_masks, strict=True)
        )
    )


def visualize_2d(target_positions: Goal) -> None:
    """Shows the arena from above, the targets as squares, in a window of matplotlib."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots()
    axes.set(xlim=(-ARENA_RADIUS, ARENA_RADIUS), ylim=(-ARENA_RADIUS, ARENA_RADIUS), aspect="equal")
    for x, y, _ in target_positions:
        corner = (x - TARGET_WIDTH / 2, y - TARGET_WIDTH / 2)
        axes.add_patch(plt.Rectangle(corner, TARGET_WIDTH, TARGET_WIDTH, color="green"))
    axes.add_patch(plt.Circle((0, 0), ARENA_RADIUS, color="black", fill=False))
    plt.show()


def generate_goal_mask(camera_parameters: Sequence[CameraParameters], goal: Goal) -> list[np.ndarray]:
    """How the goal looks in each camera: uint8 (height, width), 255 where a target is seen, else 0.

    Targets are boxes of ``TARGET_WIDTH``; robot and arena hide nothing of them.
    """
    from PIL import Image, ImageDraw

    masks = []
    for camera in camera_parameters:
        image = Image.new("L", (camera.width, camera.height))
        draw = ImageDraw.Draw(image)
        corners = np.asarray(goal)[:, None] + _SIGNS * (TARGET_WIDTH / 2)
        # Whole pixels, cut off as trifinger_simulation does, so that costs compare.
        pixels = camera.project(corners.reshape(-1, 3)).astype(int).reshape(-1, 8, 2)
        for box in pixels:
            for face in FACE_CORNERS:
                outline = [tuple(box[corner]) for corner in face]
                draw.polygon(outline, fill=255)
                draw.line([*outline, outline[0]], fill=255)
        masks.append(np.array(image))
    return masks

"""Task: carry the cube from one goal to the next.

A trajectory is a list of ``(t, position)``: from step t on, the cube's centre shall be at that position [m]::

    [(0, (0, 0, 0.0325)), (5000, (0.04, 0, 0.0325)), (20000, (0.04, -0.1, 0.0325))]

The last goal stays until the episode ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

import numpy as np

from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.tasks import move_cube

# Programs look for the encoder here, too.
from tactile_sim.trifinger.tasks.goal_files import NumpyEncoder, read_or_draw, to_json  # noqa: F401
from tactile_sim.trifinger.values import numbers

Position = Sequence[float] | np.ndarray
TrajectoryStep = tuple[int, Position]
Trajectory = Sequence[TrajectoryStep]

EPISODE_LENGTH = 2 * 60 * 1000
"""Steps in an episode, 120 s."""
FIRST_GOAL_DURATION = 30 * 1000
"""Steps for which a drawn trajectory's first goal holds."""
GOAL_DURATION = 10 * 1000
"""Steps for which each later one holds."""
GOAL_DIFFICULTY = 3
"""Of ``move_cube``: how a drawn trajectory's positions are drawn, and how costs are counted."""
INITIAL_CUBE_POSITION = (0, 0, move_cube.CUBE_WIDTH / 2)
"""Where the cube is when an episode begins [m]."""


def get_active_goal(trajectory: Trajectory, time_index: int) -> Position | None:
    """The position wanted at a step; ``None`` before the first goal."""
    active = None
    for start, position in trajectory:
        if start > time_index:
            break
        active = position
    return active


def seed(seed: int) -> None:
    """From here on the same goals come again, those of ``move_cube`` too: it draws them."""
    move_cube.seed(seed)


def sample_goal() -> Trajectory:
    """Draws a trajectory that is as long as an episode."""
    starts = [0, *range(FIRST_GOAL_DURATION, EPISODE_LENGTH, GOAL_DURATION)]
    return [(start, move_cube.sample_goal(GOAL_DIFFICULTY).position) for start in starts]


def validate_goal(trajectory: Trajectory) -> None:
    """Refuses a trajectory that does not start at 0, goes back in time or leaves the goal space.

    Raises:
        InvalidValueError: a ``ValueError``; the steps are not in order, or a position is none.
        InvalidGoalError: a position is outside of the goal space of ``move_cube``.
    """
    try:
        steps = [(start, position) for start, position in trajectory]
    except (TypeError, ValueError):
        raise InvalidValueError(f"a trajectory is a list of (step, position), not {trajectory!r}") from None
    if not steps:
        raise InvalidValueError("the trajectory is empty")
    previous = -1.0
    for index, (step, position) in enumerate(steps):
        start = float(numbers(f"step of goal {index}", step))
        if index == 0 and start != 0:
            raise InvalidValueError(f"the first goal starts at step {step}, not at 0")
        if start <= previous:
            raise InvalidValueError(f"goal {index} starts at step {step}, not after the one before it")
        previous = start
        move_cube.validate_goal(move_cube.Pose(numbers(f"position of goal {index}", position, 3)))


def json_goal_from_config(filename: str | PathLike[str]) -> str:
    """The ``goal`` of a JSON file, or a drawn trajectory where it has none, as JSON.

    Raises:
        GoalFileError: a ``RuntimeError``; the file cannot be read or its goal is not valid.
    """
    return trajectory_to_json(read_or_draw(filename, sample_goal, validate_goal))


def evaluate_state(trajectory: Trajectory, time_index: int, actual_position: Position) -> float:
    """The cost of the cube's position [m] at a step: that of ``move_cube`` towards the goal that then holds.

    Raises:
        InvalidValueError: a ``ValueError``; no goal holds yet at that step.
    """
    goal = get_active_goal(trajectory, time_index)
    if goal is None:
        raise InvalidValueError(f"the trajectory has no goal at step {time_index}")
    return move_cube.evaluate_state(move_cube.Pose(goal), move_cube.Pose(actual_position), GOAL_DIFFICULTY)


def trajectory_to_json(trajectory: Trajectory) -> str:
    """A trajectory as JSON text."""
    return to_json(trajectory)

"""Task of carrying the cube along a sequence of goals.

A trajectory is a list of ``(t, position)``. From step ``t`` on, ``position`` is the desired position of the
cube's centre [m]::

    [(0, (0, 0, 0.0325)), (5000, (0.04, 0, 0.0325)), (20000, (0.04, -0.1, 0.0325))]

The last goal is active until the episode ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

import numpy as np

from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.tasks import move_cube

# Programs import the encoder from here.
from tactile_sim.trifinger.tasks.goal_files import NumpyEncoder, read_or_draw, to_json  # noqa: F401
from tactile_sim.trifinger.values import numbers

Position = Sequence[float] | np.ndarray
TrajectoryStep = tuple[int, Position]
Trajectory = Sequence[TrajectoryStep]

EPISODE_LENGTH = 2 * 60 * 1000
"""Number of steps in an episode of 120 s."""
FIRST_GOAL_DURATION = 30 * 1000
"""Number of steps for which the first goal of a drawn trajectory is active."""
GOAL_DURATION = 10 * 1000
"""Number of steps for which each later goal of a drawn trajectory is active."""
GOAL_DIFFICULTY = 3
"""Difficulty level of ``move_cube`` that is used to draw goals and to compute costs."""
INITIAL_CUBE_POSITION = (0, 0, move_cube.CUBE_WIDTH / 2)
"""Position of the cube's centre in the world at the start of an episode [m]."""


def get_active_goal(trajectory: Trajectory, time_index: int) -> Position | None:
    """Return the desired position (3,) at a step [m], or ``None`` before the first goal.

    Args:
        trajectory: Goals of the episode.
        time_index: Time index of the step.
    """
    active = None
    for start, position in trajectory:
        if start > time_index:
            break
        active = position
    return active


def seed(seed: int) -> None:
    """Seed the random generator for goals, which is shared with ``move_cube``."""
    move_cube.seed(seed)


def sample_goal() -> Trajectory:
    """Draw a trajectory with random goals for an entire episode."""
    starts = [0, *range(FIRST_GOAL_DURATION, EPISODE_LENGTH, GOAL_DURATION)]
    return [(start, move_cube.sample_goal(GOAL_DIFFICULTY).position) for start in starts]


def validate_goal(trajectory: Trajectory) -> None:
    """Check that a trajectory starts at step 0, has increasing steps and stays in the goal space.

    Args:
        trajectory: Goals of the episode.

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
        move_cube.validate_goal(move_cube.Pose(numbers(f"position of goal {index}", position, 3)))


def json_goal_from_config(filename: str | PathLike[str]) -> str:
    """Return the ``goal`` of a JSON file as JSON text, or draw a trajectory if the file has none.

    Args:
        filename: JSON file.

    Raises:
        GoalFileError: The file cannot be read or its goal is invalid.
    """
    return trajectory_to_json(read_or_draw(filename, sample_goal, validate_goal))


def evaluate_state(trajectory: Trajectory, time_index: int, actual_position: Position) -> float:
    """Return the cost of a position, which is that of ``move_cube`` for the goal that is active at the step.

    Args:
        trajectory: Goals of the episode.
        time_index: Time index of the step.
        actual_position: (3,) position of the cube in the world [m].

    Raises:
        InvalidValueError: No goal is active at this step.
    """
    goal = get_active_goal(trajectory, time_index)
    if goal is None:
        raise InvalidValueError(f"trajectory: no goal is active at step {time_index}")
    return move_cube.evaluate_state(move_cube.Pose(goal), move_cube.Pose(actual_position), GOAL_DIFFICULTY)


def trajectory_to_json(trajectory: Trajectory) -> str:
    """Return a trajectory as JSON text."""
    return to_json(trajectory)

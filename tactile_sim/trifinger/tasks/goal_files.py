"""Read goals from JSON files."""

from __future__ import annotations

import json
from collections.abc import Callable
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from tactile_sim.trifinger.errors import GoalFileError, InvalidGoalError, InvalidValueError

Goal = TypeVar("Goal")


class NumpyEncoder(json.JSONEncoder):
    """JSON encoder that writes arrays as lists."""

    def default(self, obj: object) -> object:
        """Convert an array to a list; ``json`` calls this for types that it does not support."""
        return obj.tolist() if isinstance(obj, np.ndarray) else super().default(obj)


def to_json(value: object) -> str:
    """Convert a value that may contain arrays to JSON text."""
    return json.dumps(value, cls=NumpyEncoder)


def read_goal(filename: str | PathLike[str], choose: Callable[[dict[str, Any]], Goal]) -> Goal:
    """Read a goal file.

    Args:
        filename: JSON file.
        choose: Function that converts the content of the file to a goal.

    Returns:
        The result of ``choose``.

    Raises:
        GoalFileError: The file cannot be read or does not contain a valid goal.
    """
    try:
        with open(filename) as file:
            config = json.load(file)
        if not isinstance(config, dict):
            raise InvalidValueError("it must contain a JSON object")
        return choose(config)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, InvalidGoalError) as error:
        reason = f"key {error} is missing" if type(error) is KeyError else str(error)
        raise GoalFileError(f"{filename}: cannot read a goal: {reason}") from error


def read_or_draw(
    filename: str | PathLike[str], draw: Callable[[], Goal], validate: Callable[[Goal], None]
) -> Goal:
    """Return the ``goal`` of a goal file, or draw one if the file has none.

    Args:
        filename: JSON file.
        draw: Function that draws a goal.
        validate: Function that raises an error for an invalid goal.

    Raises:
        GoalFileError: The file cannot be read or its goal is invalid.
    """

    def choose(config: dict[str, Any]) -> Goal:
        goal = config["goal"] if "goal" in config else draw()
        validate(goal)
        return goal

    return read_goal(filename, choose)

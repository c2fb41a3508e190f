"""Goals from JSON files."""

from __future__ import annotations

import json
from collections.abc import Callable
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from tactile_sim.trifinger.errors import GoalFileError, InvalidGoalError, InvalidValueError

Goal = TypeVar("Goal")


class NumpyEncoder(json.JSONEncoder):
    """Encode arrays as lists."""

    def default(self, obj: object) -> object:
        """Return a list for an array; called by ``json`` for types that it does not support."""
        return obj.tolist() if isinstance(obj, np.ndarray) else super().default(obj)


def to_json(value: object) -> str:
    """Return the JSON text of a value that may contain arrays."""
    return json.dumps(value, cls=NumpyEncoder)


def read_goal(filename: str | PathLike[str], choose: Callable[[dict[str, Any]], Goal]) -> Goal:
    """Read a goal file.

    Args:
        filename: JSON file.
        choose: Converts the content of the file to a goal.

    Returns:
        The goal.

    Raises:
        GoalFileError: The file cannot be read or has no valid goal.
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
        draw: Draws a goal.
        validate: Raises an error for an invalid goal.

    Raises:
        GoalFileError: The file cannot be read or its goal is invalid.
    """

    def choose(config: dict[str, Any]) -> Goal:
        goal = config["goal"] if "goal" in config else draw()
        validate(goal)
        return goal

    return read_goal(filename, choose)

"""Goals in JSON files: read from them, or drawn as they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from tactile_sim.trifinger.errors import GoalFileError, InvalidGoalError, InvalidValueError

Goal = TypeVar("Goal")


class NumpyEncoder(json.JSONEncoder):
    """Writes arrays as lists."""

    def default(self, obj: object) -> object:
        """Called by ``json`` for what it does not know."""
        return obj.tolist() if isinstance(obj, np.ndarray) else super().default(obj)


def to_json(value: object) -> str:
    """JSON text of what may hold arrays."""
    return json.dumps(value, cls=NumpyEncoder)


def read_goal(filename: str | PathLike[str], choose: Callable[[dict[str, Any]], Goal]) -> Goal:
    """What a function makes of the content of a goal file.

    Raises:
        GoalFileError: a ``RuntimeError``; the file cannot be read, or the function refuses it.
    """
    try:
        with open(filename) as file:
            config = json.load(file)
        if not isinstance(config, dict):
            raise InvalidValueError("this is no JSON object")
        return choose(config)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, InvalidGoalError) as error:
        reason = f"there is no {error}" if type(error) is KeyError else str(error)
        raise GoalFileError(f"{filename}: no goal can be read from this file: {reason}") from error


def read_or_draw(
    filename: str | PathLike[str], draw: Callable[[], Goal], validate: Callable[[Goal], None]
) -> Goal:
    """The ``goal`` of a goal file, or a drawn one where it has none; errors as of `read_goal`."""

    def choose(config: dict[str, Any]) -> Goal:
        goal = config["goal"] if "goal" in config else draw()
        validate(goal)
        return goal

    return read_goal(filename, choose)

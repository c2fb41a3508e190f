"""What arguments may be: each check gives the value as it is used, or raises CommandError and names it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tactile_sim.errors import CommandError


def is_index(value: Any, count: int) -> bool:
    """Whether a value is one of the whole numbers 0 to count - 1."""
    return is_whole(value) and 0 <= value < count


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number; true and false are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def count(name: str, value: Any) -> int:
    """A number of things, 0 or more."""
    if not is_whole(value) or value < 0:
        raise CommandError(f"{name}: needs a whole number of at least 0, but is {value!r}")
    return int(value)


def distance(name: str, value: Any) -> float:
    """A distance [m], 0 or more; infinite is one."""
    number = numbers(value)
    if number.shape != () or not number >= 0:
        raise CommandError(f"{name}: needs a distance of 0 or more [m], but is {value!r}")
    return float(number)


def positions(name: str, value: Any) -> np.ndarray:
    """A position (3,), or many (m, 3), of finite numbers [m]."""
    points = numbers(value)
    if points.ndim not in (1, 2) or points.shape[-1] != 3 or not np.isfinite(points).all():
        told = f"has the shape {points.shape}" if points.size > 3 else f"is {value!r}"
        raise CommandError(f"{name}: needs a position (3,) or (m, 3), finite numbers [m], but {told}")
    return points


def numbers(value: Any) -> np.ndarray:
    """A value as float64; a single NaN where it is not made of numbers."""
    try:
        return np.asarray(value, float)
    except (TypeError, ValueError):
        return np.array(np.nan)

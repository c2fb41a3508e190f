"""Checks that return the converted argument, or raise a CommandError that names the argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from tactile_sim.errors import CommandError


def is_index(value: Any, count: int) -> bool:
    """Return whether a value is an integer from 0 to count - 1."""
    return is_whole(value) and 0 <= value < count


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer (a boolean is not)."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def count(name: str, value: Any) -> int:
    """Return ``value`` as an integer >= 0.

    Args:
        name: Name of the argument, for error messages.
        value: Value to check.

    Raises:
        CommandError: The value is negative or not an integer.
    """
    if not is_whole(value) or value < 0:
        raise CommandError(f"{name}: must be an integer >= 0, got {value!r}")
    return int(value)


def distance(name: str, value: Any) -> float:
    """Return ``value`` as a distance >= 0 [m]; it may be infinite.

    Args:
        name: Name of the argument, for error messages.
        value: Value to check.

    Raises:
        CommandError: The value is negative or not a number.
    """
    number = numbers(value)
    if number.shape != () or not number >= 0:
        raise CommandError(f"{name}: must be a distance >= 0 m, got {value!r}")
    return float(number)


def positions(name: str, value: Any) -> np.ndarray:
    """Return ``value`` as one position (3,) or several (m, 3) of finite numbers [m].

    Args:
        name: Name of the argument, for error messages.
        value: Value to check.

    Raises:
        CommandError: The value has another shape, or a number is not finite.
    """
    points = numbers(value)
    if points.ndim not in (1, 2) or points.shape[-1] != 3 or not np.isfinite(points).all():
        got = f"shape {points.shape}" if points.size > 3 else repr(value)
        raise CommandError(f"{name}: must be finite positions (3,) or (m, 3) [m], got {got}")
    return points


def numbers(value: Any) -> np.ndarray:
    """Convert a value to float64; return NaN if it is not numeric."""
    try:
        return np.asarray(value, float)
    except (TypeError, ValueError):
        return np.array(np.nan)

"""Check arguments. Error messages name the argument, the requirement and the value."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tactile_sim import arguments
from tactile_sim.trifinger.errors import InvalidValueError

numbers = partial(arguments.numbers, below=np.inf, error=InvalidValueError)
"""`arguments.numbers`, but accepting all finite numbers and raising InvalidValueError."""
count = partial(arguments.whole, error=InvalidValueError)
"""`arguments.whole`, but raising InvalidValueError."""


def function(what: str, value: Any) -> Callable[..., Any]:
    """Return a value if it is callable, or else raise InvalidValueError.

    Args:
        what: Name of the argument, for error messages.
        value: Value to check.
    """
    if not callable(value):
        raise InvalidValueError(f"{what}: must be a function, got {value!r}")
    return value


def sizes(what: str, values: Any, *shape: int) -> np.ndarray:
    """Convert values to an array of floats, which must be > 0. Arguments and errors are as in `numbers`."""
    array = numbers(what, values, *shape)
    if not (array > 0).all():
        raise InvalidValueError(f"{what}: must be > 0, got {values!r}")
    return array


def limits(what: str, values: Any, n: int, least: float = -np.inf) -> np.ndarray:
    """Convert a limit to an array (n,) with one value per joint.

    Args:
        what: Name of the argument, for error messages.
        values: One number for all joints, or (n,) numbers.
        n: Number of joints.
        least: Smallest valid number.

    Raises:
        InvalidValueError: The values have the wrong shape, are not finite real numbers, or are too small.
    """
    array = np.full(n, numbers(what, values)) if np.isscalar(values) else numbers(what, values, n)
    if (array < least).any():
        raise InvalidValueError(f"{what}: must be >= {least:g}, got {values!r}")
    return array


def quaternion(what: str, values: Any) -> np.ndarray:
    """Normalize a quaternion (4,) of any norm > 0.

    Args:
        what: Name of the argument, for error messages.
        values: Quaternion (x, y, z, w).

    Raises:
        InvalidValueError: The values are not four finite numbers, or all are 0.
    """
    array = numbers(what, values, 4)
    if not (norm := np.linalg.norm(array)):
        raise InvalidValueError(f"{what}: must be a quaternion other than 0, got {values!r}")
    return array / norm

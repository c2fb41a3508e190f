"""Check arguments. Error messages name the argument, the requirement and the value."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tactile_sim.trifinger.errors import InvalidValueError


def numbers(what: str, values: Any, *shape: int) -> np.ndarray:
    """Convert values to an array of floats.

    Args:
        what: Name of the argument, for error messages.
        values: Numbers of any real type.
        shape: Required shape; omit it for a single number.

    Raises:
        InvalidValueError: The values have the wrong shape or are not finite real numbers.
    """
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(0, object)
    if array.shape != shape or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        wanted = " x ".join(map(str, shape)) + " finite numbers" if shape else "a finite number"
        raise InvalidValueError(f"{what}: must be {wanted}, got {values!r}")
    return array.astype(float)


def sizes(what: str, values: Any, *shape: int) -> np.ndarray:
    """Convert values to an array of floats, which must be > 0. Arguments and errors are as in `numbers`."""
    array = numbers(what, values, *shape)
    if not (array > 0).all():
        raise InvalidValueError(f"{what}: must be > 0, got {values!r}")
    return array


def limits(what: str, values: Any, n: int) -> np.ndarray:
    """Convert a limit to an array (n,) with one value per joint.

    Args:
        what: Name of the argument, for error messages.
        values: One number for all joints, or (n,) numbers.
        n: Number of joints.

    Raises:
        InvalidValueError: The values have the wrong shape or are not finite real numbers.
    """
    return np.full(n, numbers(what, values)) if np.isscalar(values) else numbers(what, values, n)


def count(what: str, value: Any) -> int:
    """Convert a value to an integer, which must be >= 0.

    Args:
        what: Name of the argument, for error messages.
        value: Value to check.

    Raises:
        InvalidValueError: The value is negative or not an integer.
    """
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise InvalidValueError(f"{what}: must be an integer >= 0, got {value!r}")
    return number


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

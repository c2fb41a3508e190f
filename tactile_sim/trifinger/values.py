"""What programs give is checked where it comes in: one ValueError that names the argument."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tactile_sim.trifinger.errors import InvalidValueError


def numbers(what: str, values: Any, *shape: int) -> np.ndarray:
    """Values as an array of a shape; ValueError where they are not so many finite real numbers."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(0, object)
    if array.shape != shape or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        wanted = " x ".join(map(str, shape)) + " finite numbers are" if shape else "a finite number is"
        raise InvalidValueError(f"{what}: {wanted} needed, not {values!r}")
    return array.astype(float)


def sizes(what: str, values: Any, *shape: int) -> np.ndarray:
    """As `numbers`, but that all have to be above 0."""
    array = numbers(what, values, *shape)
    if not (array > 0).all():
        raise InvalidValueError(f"{what}: above 0 is needed, not {values!r}")
    return array


def limits(what: str, values: Any, n: int) -> np.ndarray:
    """(n,) of one number for all joints or one for each, as gains are; ValueError where they are not that."""
    return np.full(n, numbers(what, values)) if np.isscalar(values) else numbers(what, values, n)


def count(what: str, value: Any) -> int:
    """A whole number of 0 or more; ValueError for anything else."""
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise InvalidValueError(f"{what}: a whole number of 0 or more is needed, not {value!r}")
    return number


def quaternion(what: str, values: Any) -> np.ndarray:
    """(4,) a quaternion of any length but 0, made a unit one; ValueError where it is not that."""
    array = numbers(what, values, 4)
    if not (norm := np.linalg.norm(array)):
        raise InvalidValueError(f"{what}: a quaternion of zeros is no orientation")
    return array / norm

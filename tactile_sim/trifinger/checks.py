"""Errors of the TriFinger interface, and checks of its arguments.

Each error is a `TactileSimError` and a subclass of the built-in error that trifinger_simulation raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tactile_sim.common import schema
from tactile_sim.common.errors import TactileSimError


class InvalidValueError(TactileSimError, ValueError):
    """Error for an invalid argument, such as an unknown finger type."""


class MissingKeyError(InvalidValueError, KeyError):
    """Error for a mapping without a required key, such as a pose without ``orientation``."""

    __str__ = Exception.__str__  # KeyError would add quotes


class MissingPackageError(TactileSimError, ImportError):
    """Error for an optional package that is not installed."""


class MissingAttributeError(TactileSimError, AttributeError):
    """Error for an attribute of trifinger_simulation that this package does not have."""


numbers = partial(schema.numbers, below=np.inf, error=InvalidValueError)
"""`schema.numbers`, but accepting all finite numbers and raising InvalidValueError."""
count = partial(schema.whole, error=InvalidValueError)
"""`schema.whole`, but raising InvalidValueError."""


def function(what: str, value: Any) -> Callable[..., Any]:
    """Return a value if it is callable."""
    if not callable(value):
        raise InvalidValueError(f"{what}: must be a function, got {value!r}")
    return value


def sizes(what: str, values: Any, *shape: int) -> np.ndarray:
    """Convert values to an array of floats, which must be > 0."""
    array = numbers(what, values, *shape)
    if not (array > 0).all():
        raise InvalidValueError(f"{what}: must be > 0, got {values!r}")
    return array


def limits(what: str, values: Any, n: int, least: float = -np.inf) -> np.ndarray:
    """Convert one number for all joints, or one for each of n joints, to an array (n,)."""
    array = np.full(n, numbers(what, values)) if np.isscalar(values) else numbers(what, values, n)
    if (array < least).any():
        raise InvalidValueError(f"{what}: must be >= {least:g}, got {values!r}")
    return array


def quaternion(what: str, values: Any) -> np.ndarray:
    """Normalize a quaternion (4,) of any norm > 0."""
    array = numbers(what, values, 4)
    if not (norm := np.linalg.norm(array)):
        raise InvalidValueError(f"{what}: must be a quaternion other than 0, got {values!r}")
    return array / norm


def wxyz(orientation: Any) -> np.ndarray:
    """Convert a quaternion (x, y, z, w) of any norm > 0 to a unit quaternion (w, x, y, z)."""
    return np.roll(quaternion("orientation", orientation), 1)


def color(what: str, values: Sequence[float]) -> np.ndarray:
    """Convert red, green, blue and alpha to an array (4,) of numbers from 0 to 1."""
    rgba = numbers(what, values, 4)
    if rgba.min() < 0.0 or rgba.max() > 1.0:
        raise InvalidValueError(f"{what}: must be from 0 to 1, got {rgba.tolist()}")
    return rgba

"""Checks of arguments of the Python interface.

Most functions return the converted argument, or raise an error that names the argument and the value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tactile_sim.errors import CommandError, TactileSimError, suggest
from tactile_sim.schema import Check, Flag, Integer

LARGEST = 1e10
"""Exclusive upper limit of valid magnitudes. MuJoCo treats states with larger ones as unstable (mjMAXVAL)."""
MOST = 2**31 - 1
"""Largest valid integer; engines use 32-bit indices."""
MOST_SHOWN = 8
"""Largest number of elements of an array whose values an error message shows."""
FLOATS = np.dtype(np.float64), np.dtype(np.float32)
"""Floating-point types that compiled functions read and write."""


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer (a boolean is not)."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_index(value: Any, count: int) -> bool:
    """Return whether a value is an integer from 0 to count - 1."""
    return is_whole(value) and 0 <= value < count


def whole(
    name: str, value: Any, least: int = 0, most: int = MOST, error: type[TactileSimError] = CommandError
) -> int:
    """Return ``value`` as an integer from ``least`` to ``most``."""
    if type(value) is int and least <= value <= most:
        return value
    return valid(name, value, Integer(least, most), error)


def indices(name: str, value: Any, count: int) -> list[int]:
    """Return ``value`` as a list of integers from 0 to count - 1."""
    listed = isinstance(value, Sequence) or isinstance(value, np.ndarray) and value.ndim == 1
    if not listed or not all(is_index(entry, count) for entry in value):
        raise CommandError(f"{name}: must be a sequence of indices from 0 to {count - 1}, got {value!r}")
    return [int(entry) for entry in value]


def valid(name: str, value: Any, check: Check, error: type[TactileSimError] = CommandError) -> Any:
    """Validate ``value`` with a check from `tactile_sim.schema`, and return the converted value."""
    try:
        return check(value)
    except ValueError as fault:
        raise error(f"{name}: {fault}") from None


def as_array(value: Any) -> np.ndarray:
    """Convert real numbers to a new float64 array; return an array of shape (0, 0, 0) for other values.

    Masked arrays are other values, because the values that they mask have no meaning.
    """
    try:
        array = np.asarray([None] if isinstance(value, np.ma.MaskedArray) else value)
    except (TypeError, ValueError, RuntimeError):  # rows of different lengths, or a tensor on a GPU
        array = np.empty(0, object)
    return array.astype(float) if array.dtype.kind in "iuf" else np.empty((0, 0, 0))


def as_number(value: Any) -> float:
    """Convert one real number to a float; return NaN for anything else."""
    array = as_array(value)
    return float(array) if array.shape == () else np.nan


def described(value: Any) -> str:
    """Describe a value for an error message: numeric arrays by shape, long other arrays by type and shape."""
    array = as_array(value)
    if isinstance(value, np.ma.MaskedArray):
        return f"a masked array of shape {value.shape}; use filled()"
    if isinstance(value, np.ndarray) and value.dtype.kind not in "iuf" and value.size > MOST_SHOWN:
        return f"{value.dtype} of shape {value.shape}"
    return f"shape {array.shape}" if array.ndim and array.size else repr(value)


def numbers(
    name: str,
    value: Any,
    *shape: int,
    below: float = LARGEST,
    unit: str = "",
    error: type[TactileSimError] = CommandError,
) -> np.ndarray:
    """Return ``value`` as a new array of finite numbers."""
    array = as_array(value)
    valid = np.abs(array) < below
    if array.shape != shape or not valid.all():
        wanted, got = f"finite numbers of shape {shape}" if shape else "a finite number", described(value)
        if array.shape == shape:
            place = np.argwhere(~valid)[0].tolist()
            name, got = f"{name}{place or ''}", f"{array[~valid][0]:g}"
        limit = f" below {below:g}" if below < np.inf else ""
        raise error(f"{name}: must be {wanted}{limit}{unit and f' {unit}'}, got {got}")
    return array


def require_controls(controls: np.ndarray) -> None:
    """Check the controls of actuators, which users can modify in place.

    Args:
        controls: (nu,) controls, or (n, nu) for n environments.
    """
    if not np.vdot(controls, controls) < LARGEST**2:  # faster than a comparison of each control
        numbers("ctrl", controls, *controls.shape)


def require_arrays(**arrays: tuple[Any, tuple[int, ...]]) -> None:
    """Check the arguments of compiled functions, which read them without bounds checks."""
    for name, (value, shape) in arrays.items():
        if not isinstance(value, np.ndarray) or value.shape != shape or value.dtype not in FLOATS:
            raise CommandError(f"{name}: must be an array of floats {shape}, got {described(value)}")


def float_type(name: str, value: Any) -> np.dtype:
    """Return ``value`` as a floating-point dtype, float32 or float64."""
    try:
        dtype = np.dtype(value)
    except (TypeError, ValueError):
        dtype = np.dtype(object)
    if dtype not in FLOATS:
        raise CommandError(f"{name}: must be float32 or float64, got {described(value)}")
    return dtype


def orientation(name: str, value: Any) -> np.ndarray:
    """Return ``value`` as a nonzero quaternion (4,), without normalizing it."""
    array = numbers(name, value, 4)
    if np.linalg.norm(array) < 1e-6:
        raise CommandError(
            f"{name}: must not be all zeros, got {array.tolist()}; no rotation is x: 0, y: 0, z: 0, w: 1"
        )
    return array


def distance(name: str, value: Any) -> float:
    """Return ``value`` as a distance >= 0 [m]; it may be infinite."""
    number = as_number(value)
    if not number >= 0:
        raise CommandError(f"{name}: must be a distance >= 0 m, got {value!r}")
    return number


def distance_array(name: str, value: Any, count: int) -> np.ndarray:
    """Return ``value``, one distance or several, as an array (count,) of distances >= 0 [m]."""
    array = as_array(value)
    if array.shape not in ((), (count,)) or not (array >= 0).all():
        got = value if array.ndim == 0 else array[~(array >= 0)][:1] if array.shape == (count,) else array
        raise CommandError(f"{name}: must be distances >= 0 m, one or {count}, got {described(got)}")
    return np.full(count, array)


def positions(name: str, value: Any) -> np.ndarray:
    """Return ``value`` as one position (3,) or several (m, 3) of finite numbers [m]."""
    points = as_array(value)
    if points.ndim not in (1, 2) or points.shape[-1] != 3 or not np.isfinite(points).all():
        raise CommandError(f"{name}: must be finite positions (3,) or (m, 3) [m], got {described(value)}")
    return points


def switch(name: str, value: Any) -> bool:
    """Return ``value`` as a boolean."""
    return valid(name, bool(value) if isinstance(value, np.bool_) else value, Flag())


def known(what: str, name: Any, names: Collection[str], error: type[TactileSimError] = CommandError) -> str:
    """Return ``name`` if it is one of ``names``."""
    if not isinstance(name, str) or name not in names:
        raise error(f"{what} {name!r}{suggest(name, names)}")
    return name


def by_name(name: str, value: Any) -> Mapping[str, Any]:
    """Return ``value`` as a mapping of names to values; None becomes an empty mapping."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise CommandError(f"{name}: must be a mapping of names to values, got {described(value)}")
    return value

"""Check and convert field values: numbers of any shape, structs, and omitted fields."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from tactile_sim.common.errors import suggest
from tactile_sim.wire.types import Primitive, Struct, WireError, shown

MISSING = object()
"""Marker for an omitted field, which gets its ROS default."""


def numbers(primitive: Primitive, value: Any) -> np.ndarray:
    """Convert a value to an array of the same shape, with the dtype of ``primitive``.

    Raises:
        WireError: Values are not numbers, have the wrong type (such as floats for integers), or are out
            of range.
    """
    if isinstance(value, bytes | bytearray) and primitive.dtype.itemsize == 1:
        value = np.frombuffer(value, primitive.dtype)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise WireError(f"expected {primitive.name} values, got rows of different lengths") from error
    dtype = primitive.dtype
    if array.dtype == dtype:
        return array
    kind, wanted = array.dtype.kind, dtype.kind
    if not array.size or (wanted == "f" and kind in "fiu"):
        return array.astype(dtype)
    if wanted in "iu" and kind in "iu":
        limits = np.iinfo(dtype)
        if int(array.min()) < limits.min or int(array.max()) > limits.max:
            raise WireError(
                f"must be from {limits.min} to {limits.max} ({primitive.name}), got values from {array.min()}"
                f" to {array.max()}"
            )
        return array.astype(dtype)
    if primitive.name == "octet" and kind == "S" and array.dtype.itemsize == 1:
        return array.view(np.uint8)
    raise WireError(f"expected {primitive.name} values, got {_describe(value, array)}")


def _describe(value: Any, array: np.ndarray) -> str:
    """Describe an invalid value in an error message: its type and content, or the dtype of its elements."""
    if array.dtype.kind in "OUS" and not isinstance(value, np.ndarray):
        return shown(value)
    return f"{array.dtype} values"


def fields_of(kind: Struct, value: Any) -> list[Any]:
    """Return the values of a struct's fields in wire order; MISSING for fields that a mapping omits."""
    if isinstance(value, Mapping):
        found = [value.get(name, MISSING) for name, _, _ in kind.fields]
        if sum(field is not MISSING for field in found) != len(value):
            names = [name for name, _, _ in kind.fields]
            unknown = next(str(name) for name in value if name not in names)
            raise WireError(f"{kind.name} has no field {unknown!r}{suggest(unknown, names)}")
        return found
    if value is None or isinstance(
        value, str | bytes | bool | int | float | list | tuple | np.ndarray | np.generic
    ):
        raise WireError(f"expected {kind.name} as a mapping or message, got {shown(value)}")
    try:
        return [getattr(value, name) for name, _, _ in kind.fields]
    except AttributeError as error:
        raise WireError(
            f"expected {kind.name}, got {type(value).__name__} without all of its fields: {error}"
        ) from error


def default_row(kind: Any, default: Any = None) -> np.ndarray:
    """Return the default value of a uniform type: a row (width,), or a number for a primitive.

    Args:
        kind: A uniform struct, an array or a primitive.
        default: Default of an array or primitive; structs contain the defaults of their fields.
    """
    return _struct_defaults(kind) if isinstance(kind, Struct) else numbers(kind.uniform, default)


@cache
def _struct_defaults(kind: Struct) -> np.ndarray:
    return np.concatenate([np.atleast_1d(default_row(inner, value)) for _, inner, value in kind.fields])

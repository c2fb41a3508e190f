"""Many structs given as arrays of their fields: what a column may be, and how it becomes numbers."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from tactile_sim.errors import suggest
from tactile_sim.wire.types import (
    TIME_TYPES,
    Array,
    Primitive,
    Sequence,
    String,
    Struct,
    WireError,
    shown,
)

MISSING = object()
NANOSECONDS = 1_000_000_000


class Columns(SimpleNamespace):
    """A sequence of structs as one array or list per field, instead of one object per element.

    ``Columns(body1=["a", "b"], position=points)`` with ``points`` (2, 3) is two elements. A field may also
    be the same for all (``frame_id="world"``, ``scale=(0.1, 0.1, 0.1)``), a nested struct is a mapping or
    Columns again, and what is left out has its ROS default.
    """

    def __len__(self) -> int:
        """Rows of the first field that has any; a field that is the same for all has none."""
        for value in vars(self).values():
            if isinstance(value, np.ndarray | list | tuple | Columns) and (rows := len(value)):
                return rows
        return 0


class Same:
    """A column with one value for every row."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def numbers(primitive: Primitive, value: Any) -> np.ndarray:
    """``value`` as an array of the primitive's type: same shape, nothing lost but precision."""
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
                f"a value is outside the range of {primitive.name} ({limits.min} to {limits.max})"
            )
        return array.astype(dtype)
    if primitive.name == "octet" and kind == "S" and array.dtype.itemsize == 1:
        return array.view(np.uint8)
    raise WireError(f"expected {primitive.name} values, got {_describe(value, array)}")


def _describe(value: Any, array: np.ndarray) -> str:
    """What a user passed, in few words."""
    if array.dtype.kind in "OUS" and not isinstance(value, np.ndarray):
        return shown(value)
    return f"{array.dtype} values"


def fields_of(kind: Struct, value: Any) -> list[Any]:
    """The value's fields in the struct's order; MISSING for those that a mapping or Columns leaves out."""
    if isinstance(value, dict | Columns):
        given = value if isinstance(value, dict) else vars(value)
        found = [given.get(name, MISSING) for name, _, _ in kind.fields]
        if sum(column is not MISSING for column in found) != len(given):
            names = [name for name, _, _ in kind.fields]
            unknown = next(str(name) for name in given if name not in names)
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
            f"expected {kind.name}, got {type(value).__name__}, which lacks a field: {error}"
        ) from error


def default_row(kind: Any, default: Any = None) -> np.ndarray:
    """The default values of a uniform struct, array or primitive in one row (a number for a primitive)."""
    return _struct_defaults(kind) if isinstance(kind, Struct) else numbers(kind.uniform, default)


@cache
def _struct_defaults(kind: Struct) -> np.ndarray:
    return np.concatenate([np.atleast_1d(default_row(inner, value)) for _, inner, value in kind.fields])


def gather(kind: Any, value: Any, columns: list[Any]) -> None:
    """Append one column per leaf of ``kind``: an array or list with a row per element, or Same."""
    if kind.uniform is not None:
        columns.append(_block(kind, value))
    elif isinstance(kind, String):
        columns.append(Same(value) if isinstance(value, str) else _rows(value, "strings"))
    elif isinstance(kind, Sequence):
        columns.append(_rows(value, "arrays"))
    elif kind.name in TIME_TYPES and _is_integer(value):
        for column in np.divmod(np.asarray(value, dtype=np.int64), NANOSECONDS):
            columns.append(column if column.ndim else Same(column))
    else:
        _gather_fields(kind, value, columns)


def _gather_fields(kind: Struct, value: Any, columns: list[Any]) -> None:
    for (name, inner, default), column in zip(kind.fields, fields_of(kind, value), strict=True):
        if column is MISSING:
            columns += _default_columns(inner, default)
            continue
        try:
            gather(inner, column, columns)
        except WireError as error:
            raise error.inside(name) from None


def _default_columns(kind: Any, default: Any) -> tuple[Same, ...]:
    """One column per leaf of what was left out."""
    if isinstance(kind, Struct):
        return _struct_default_columns(kind)
    return (Same(default_row(kind, default) if kind.uniform else default),)


@cache
def _struct_default_columns(kind: Struct) -> tuple[Same, ...]:
    if kind.uniform:
        return (Same(default_row(kind)),)
    return tuple(column for _, inner, value in kind.fields for column in _default_columns(inner, value))


def _is_integer(value: Any) -> bool:
    return (isinstance(value, int | np.integer | np.ndarray)) and np.asarray(value).dtype.kind in "iu"


def _rows(value: Any, what: str) -> Any:
    if isinstance(value, list | tuple | np.ndarray):
        return value
    raise WireError(f"expected a list of {what}, one per element, got {shown(value)}")


def _block(kind: Any, value: Any) -> Any:
    """A column of numbers: (n, width), or (n,) for a primitive; Same if it has no rows."""
    if type(value) is np.ndarray and value.dtype == kind.uniform.dtype and value.shape[1:] == kind.shape:
        if value.ndim > len(kind.shape):
            return value
    if value is MISSING:
        return Same(default_row(kind))
    if isinstance(kind, Struct) and not isinstance(value, np.ndarray | list | tuple):
        return _joined(kind, value)
    array = numbers(kind.uniform, value)
    shape = kind.shape
    if array.shape == shape:
        return Same(array)
    if array.shape[1:] == shape and array.ndim == len(shape) + 1:
        return array
    if not array.size and array.ndim:
        return np.zeros((0, *shape), array.dtype)
    named = "array" if isinstance(kind, Array) else kind.name
    rows = ", ".join(["n", *map(str, shape)]) + ("," if not shape else "")
    raise WireError(f"expected {named} values of shape ({rows}), got {array.shape}")


def _joined(kind: Struct, value: Any) -> Any:
    """The columns of a uniform struct's fields side by side."""
    parts: list[Any] = []
    for (name, inner, default), column in zip(kind.fields, fields_of(kind, value), strict=True):
        try:
            parts.append(Same(default_row(inner, default)) if column is MISSING else _block(inner, column))
        except WireError as error:
            raise error.inside(name) from None
    counts = {len(part) for part in parts if not isinstance(part, Same)}
    if len(counts) > 1:
        raise WireError(f"the fields of {kind.name} have different numbers of rows: {sorted(counts)}")
    rows = counts.pop() if counts else None
    joined = np.empty((1 if rows is None else rows, kind.width), kind.uniform.dtype)
    start = 0
    for (_, inner, _), part in zip(kind.fields, parts, strict=True):
        stop = start + inner.width
        block = part.value if isinstance(part, Same) else part
        joined[:, start:stop] = block if np.ndim(block) == 2 else np.reshape(block, (-1, stop - start))
        start = stop
    return Same(joined[0]) if rows is None else joined


def row_count(columns: list[Any], paths: list[str]) -> int:
    """The number of elements that all columns agree on."""
    count, first = None, ""
    for column, path in zip(columns, paths, strict=True):
        if isinstance(column, Same):
            continue
        if count is None:
            count, first = len(column), path
        elif len(column) != count:
            raise WireError(f"{len(column)} rows where {first!r} has {count}", path)
    if count is None:
        raise WireError(
            "no column has rows, so the number of elements is unknown: give one field an array or list"
        )
    return count

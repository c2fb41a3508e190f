"""Build the objects into which messages are decoded: records, columns and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from tactile_sim.wire.types import Array, Primitive, Struct


class Record(SimpleNamespace):
    """A decoded struct with one attribute per field."""


class Columns(SimpleNamespace):
    """A sequence of decoded structs, stored as one array, list or Columns per field.

    Accessing a field of all structs, as in ``m.transforms.child_frame_id``, is fast. Indexing and iterating,
    as in ``for transform in m.transforms``, create a :class:`Record` for each struct. Slicing creates
    Columns.
    """

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def __getitem__(self, index: int | slice) -> Any:
        made = Columns if isinstance(index, slice) else Record
        return made(**{name: values[index] for name, values in vars(self).items()})

    def __iter__(self) -> Iterator[Record]:
        return (self[index] for index in range(len(self)))


def is_row(kind: Any) -> bool:
    """Return whether a type is decoded as a row: a flat struct with several numbers of one type."""
    return isinstance(kind, Struct) and kind.uniform is not None and all(
        isinstance(inner, Primitive) for _, inner, _ in kind.fields
    ) and len(kind.fields) > 1  # fmt: skip


def builder(kind: Any) -> Callable[[Iterator[Any]], Any]:
    """Return a function that builds a decoded value of this type from an iterator over its leaf values."""
    if is_row(kind) or isinstance(kind, Array):
        width, dtype = kind.width, kind.uniform.dtype

        def build_row(flat: Iterator[Any]) -> Any:
            return np.array([next(flat) for _ in range(width)], dtype)

        return build_row
    if isinstance(kind, Struct):
        fields = [(name, builder(inner)) for name, inner, _ in kind.fields]

        def build_struct(flat: Iterator[Any]) -> Any:
            return Record(**{name: build(flat) for name, build in fields})

        return build_struct
    if isinstance(kind, Primitive) and kind.name == "octet":
        return lambda flat: bytes((next(flat),))
    return next


def column_builder(kind: Any) -> Callable[[Iterator[Any]], Any]:
    """Return a function that builds Columns of this type from an iterator over the columns of its leaves."""
    if not isinstance(kind, Struct) or is_row(kind):
        return next
    if kind.uniform is not None:
        return lambda columns: _split(kind, next(columns))
    fields = [(name, column_builder(inner)) for name, inner, _ in kind.fields]
    return lambda columns: Columns(**{name: build(columns) for name, build in fields})


def _split(kind: Struct, block: np.ndarray) -> Columns:
    """Split an array (n, width) with the numbers of n structs into Columns with a view for each field."""
    parts, start = {}, 0
    for name, inner, _ in kind.fields:
        stop = start + inner.width
        part = block[:, start] if isinstance(inner, Primitive) else block[:, start:stop]
        parts[name] = _split(inner, part) if isinstance(inner, Struct) and not is_row(inner) else part
        start = stop
    return Columns(**parts)

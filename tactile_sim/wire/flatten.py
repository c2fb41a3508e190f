"""Flatten a mapping, message or row into a list of numbers, strings and sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tactile_sim.wire.types import (
    NANOSECONDS,
    TIME_TYPES,
    Array,
    Primitive,
    Sequence,
    String,
    Struct,
    WireError,
    shown,
)
from tactile_sim.wire.values import MISSING, default_row, fields_of

Put = Callable[[Any, list[Any]], None]


def putter(kind: Any, default: Any) -> Put:
    """Return a function ``put(value, flat)`` that appends the leaves of a value to the list ``flat``."""
    if isinstance(kind, Primitive):
        return _primitive_putter(kind, default)
    if isinstance(kind, Array):
        return _row_putter(kind, kind.element.name, default_row(kind, default).tolist())
    if isinstance(kind, String | Sequence):
        return lambda value, flat: flat.append(default if value is MISSING else value)
    return _struct_putter(kind)


def _primitive_putter(kind: Primitive, default: Any) -> Put:
    if kind.name == "boolean":

        def put(value: Any, flat: list[Any]) -> None:
            if value is not True and value is not False:
                if value is MISSING:
                    value = default
                elif not isinstance(value, np.bool_):
                    raise WireError(f"expected boolean, got {shown(value)}")
            flat.append(value)

    elif kind.name == "octet":

        def put(value: Any, flat: list[Any]) -> None:
            value = default if value is MISSING else value
            flat.append(value[0] if isinstance(value, bytes) and len(value) == 1 else value)

    else:

        def put(value: Any, flat: list[Any]) -> None:
            flat.append(default if value is MISSING else value)

    return put


def _row_putter(kind: Any, name: str, default: list[Any]) -> Put:
    """Return a function as in `putter` whose value must be a row of ``kind.width`` numbers, or MISSING."""
    width = kind.width

    def put(value: Any, flat: list[Any]) -> None:
        if value is MISSING:
            flat += default
            return
        if isinstance(value, np.ndarray):
            if value.shape != (width,):
                raise WireError(f"expected {name} values of shape ({width},), got {value.shape}")
            value = value.tolist()
        try:
            given = len(value)
        except TypeError:
            raise WireError(f"expected {width} {name} values, got {shown(value)}") from None
        if given != width:
            raise WireError(f"expected {width} {name} values, got {given}")
        flat += value

    return put


def _struct_putter(kind: Struct) -> Put:
    puts = [(name, putter(inner, default)) for name, inner, default in kind.fields]
    row = _row_putter(kind, kind.name, default_row(kind).tolist()) if kind.uniform else None
    is_time = kind.name in TIME_TYPES

    def put(value: Any, flat: list[Any]) -> None:
        if value is MISSING:
            for _, put_field in puts:
                put_field(MISSING, flat)
            return
        if row is not None and isinstance(value, np.ndarray | list | tuple):
            row(value, flat)
            return
        if is_time and isinstance(value, int | np.integer):
            flat += divmod(int(value), NANOSECONDS)
            return
        for (name, put_field), inner in zip(puts, fields_of(kind, value), strict=True):
            try:
                put_field(inner, flat)
            except WireError as error:
                raise error.inside(name) from None

    return put

"""Define placeholders for the variable fields of a message template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class Placeholder:
    """A field of a message template that is filled in for each message.

    A column is an index into the columns of the arrays ``keys`` (n, k) or ``values`` (n, v) that are passed
    to ``MessageTemplate.fill``. Inside a :class:`Repeat`, each element of the sequence uses its own row of
    these arrays. Outside of it, the first row is used.
    """


@dataclass(frozen=True)
class Stamp(Placeholder):
    """The stamp of the message, from the argument ``stamp`` of ``MessageTemplate.fill``."""


STAMP = Stamp()


@dataclass(frozen=True)
class IntColumn(Placeholder):
    """An integer or boolean from a column of ``keys``, truncated to the size of the field."""

    column: int


@dataclass(frozen=True)
class Value(Placeholder):
    """A real number, or an array or struct of real numbers, from consecutive columns of ``values``.

    ``column`` is the first of these columns.
    """

    column: int


@dataclass(frozen=True)
class Lookup(Placeholder):
    """One of several constant values of any type, selected by an index in a column of ``keys``.

    Negative indices count from the end: -1 is the last value.
    """

    column: int
    values: Sequence[Any]


@dataclass(frozen=True)
class RowRange(Placeholder):
    """A sequence of float64, or of structs of float64, copied from consecutive rows of ``points``.

    Attributes:
        begin: Column of ``keys`` that contains the index of the first row.
        count: Column of ``keys`` that contains the number of rows.
    """

    begin: int
    count: int


@dataclass(frozen=True)
class Payload(Placeholder):
    """A sequence of numbers, or of structs of one numeric type, copied from ``fill(data=...)``.

    A payload must not be inside a Repeat.
    """


@dataclass(frozen=True)
class Repeat(Placeholder):
    """A sequence of structs, one for each row of ``keys`` and ``values``.

    A template can have only one Repeat.
    """

    fields: Mapping[str, Any]

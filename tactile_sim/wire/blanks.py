"""The places in a form that are left to be filled in, one kind for each way to fill them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class Blank:
    """What stands for a value in the fields of a form.

    A column is one of the keys (n, k) or of the values (n, v) that the form is filled with. The row is that
    of the element, and outside an :class:`Each` the first.
    """


@dataclass(frozen=True)
class Stamp(Blank):
    """The time of the message."""


STAMP = Stamp()


@dataclass(frozen=True)
class Key(Blank):
    """An integer or boolean: this column of the keys, cut to the size of the field."""

    column: int


@dataclass(frozen=True)
class Value(Blank):
    """A real number, or an array or struct of such: the values from this column on."""

    column: int


@dataclass(frozen=True)
class Pick(Blank):
    """One of these things, whatever the type: the one whose index is in this column of the keys.

    Negative ones count from the end: -1 is the last.
    """

    column: int
    things: Sequence[Any]


@dataclass(frozen=True)
class Slice(Blank):
    """A sequence of float64 or of structs of such: so many rows of the points, from two columns of the keys.

    begin, count: the columns that say where the rows begin and how many they are.
    """

    begin: int
    count: int


@dataclass(frozen=True)
class Whole(Blank):
    """A sequence of numbers or of structs of equal numbers: the data as it is. One a form, outside Each."""


@dataclass(frozen=True)
class Each(Blank):
    """A sequence of structs, one for each row. One a form."""

    fields: Mapping[str, Any]

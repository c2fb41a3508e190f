"""The elements of a sequence that is given as columns: each segment of all elements is prepared once."""

from __future__ import annotations

from typing import Any

import numpy as np

from tactile_sim.wire.columns import Same
from tactile_sim.wire.layout import Run, Segment
from tactile_sim.wire.pieces import Parts, Write, check_strings, joiner, write_strings
from tactile_sim.wire.types import WireError


class Constant:
    """Neighbouring segments that are the same in every element: made once per offset modulo 8 they meet."""

    def __init__(self) -> None:
        self.members: list[tuple[Segment, Write | None, list[Any]]] = []
        self.made: list[bytes | None] = [None] * 8

    def write(self, parts: Parts, position: int, index: int) -> int:
        made = self.made[position & 7]
        if made is None:
            pieces: Parts = []
            end = position
            for segment, write, values in self.members:
                if segment.run is not None:
                    end = Rows(segment.run, values, 1).write(pieces, end, 0)
                else:
                    end = write_variable(pieces, end, segment, write, [column.value for column in values])
            made = self.made[position & 7] = b"".join(pieces)
        parts.append(made)
        return position + len(made)


class Rows:
    """A run of all elements, made as one array for each offset modulo 8 it meets."""

    def __init__(self, run: Run, columns: list[Any], count: int) -> None:
        self.run, self.columns, self.count = run, columns, count
        self.made: list[memoryview | None] = [None] * 8

    def write(self, parts: Parts, position: int, index: int) -> int:
        start = position & 7
        made, size = self.made[start], self.run.sizes[start]
        if made is None:
            made = self.made[start] = self.rows(start, 0, self.count).data
        parts.append(made[index * size : index * size + size])
        return position + size

    def rows(self, start: int, first: int, last: int) -> np.ndarray:
        """The run of the elements in this range, as bytes, as if each began at ``start``."""
        array = np.zeros(last - first, self.run.dtypes[start])
        for name, column in zip(array.dtype.names or (), self.columns, strict=True):
            array[name] = column.value if isinstance(column, Same) else column[first:last]
        return array.view(np.uint8)

    def write_all(self, parts: Parts, position: int) -> int:
        """Append all elements of a struct that is nothing but this run.

        From the second on, all elements begin at the same offset modulo their alignment: two blocks do.
        """
        first = position & 7
        behind = (first + self.run.sizes[first]) & 7
        split = 0 if self.run.dtypes[first] == self.run.dtypes[behind] else 1
        parts.append(self.rows(first, 0, split))
        parts.append(self.rows(behind, split, self.count))
        return position + split * self.run.sizes[first] + (self.count - split) * self.run.sizes[behind]


class Strings:
    """Neighbouring strings of all elements."""

    def __init__(self, segment: Segment, columns: list[Any], count: int) -> None:
        rows = [(c.value,) * count if isinstance(c, Same) else c for c in columns]
        self.values = list(zip(*rows, strict=True))
        try:
            self.join = joiner(sum(max(map(len, row)) for row in rows))
        except TypeError:
            self._check(segment.paths)
            raise
        self.paths = segment.paths

    def write(self, parts: Parts, position: int, index: int) -> int:
        try:
            data = self.join(self.values[index], position & 3)
        except (AttributeError, TypeError, UnicodeEncodeError):
            self._check(self.paths)
            raise
        parts.append(data)
        return position + len(data)

    def _check(self, paths: tuple[str, ...]) -> None:
        for index, texts in enumerate(self.values):
            try:
                check_strings(texts, paths)
            except WireError as error:
                raise error.inside(index) from None


class Sequences:
    """One sequence field of all elements."""

    def __init__(self, segment: Segment, write: Write, column: Any) -> None:
        self.segment, self.write_value, self.values = segment, write, column

    def write(self, parts: Parts, position: int, index: int) -> int:
        try:
            return write_variable(parts, position, self.segment, self.write_value, [self.values[index]])
        except WireError as error:
            raise error.inside(index) from None


def steps_of(
    parts: list[tuple[Segment, Write | None]], columns: list[Any], count: int
) -> list[Constant | Rows | Strings | Sequences]:
    """How to write each element of a sequence given as columns."""
    steps: list[Constant | Rows | Strings | Sequences] = []
    for segment, write in parts:
        own = columns[segment.first : segment.last]
        if all(isinstance(column, Same) for column in own):
            constant = steps[-1] if steps else None
            if not isinstance(constant, Constant):
                constant = Constant()
                steps.append(constant)
            constant.members.append((segment, write, own))
        elif segment.run is not None:
            steps.append(Rows(segment.run, own, count))
        elif write is None:
            steps.append(Strings(segment, own, count))
        else:
            steps.append(Sequences(segment, write, own[0]))
    return steps


def write_variable(
    parts: Parts, position: int, segment: Segment, write: Write | None, values: list[Any]
) -> int:
    """Append strings or a sequence."""
    if write is None:
        return write_strings(parts, position, tuple(values), segment.paths)
    try:
        return write(parts, position, values[0])
    except WireError as error:
        raise error.inside(segment.paths[0]) from None

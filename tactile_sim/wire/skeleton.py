"""Sequences whose texts and lengths stay the same from message to message: only their numbers are new."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from tactile_sim.wire.columns import Same
from tactile_sim.wire.layout import Segment
from tactile_sim.wire.pieces import Parts, write_count, write_strings
from tactile_sim.wire.types import String

FEWEST = 4
"""Below so many elements, writing them one by one is as fast."""

Shape = tuple[tuple[Any, ...], ...]
"""Of each column of texts the texts, of each of sequences the lengths, by element; one entry where all are
the same."""


class Skeleton:
    """All elements of a sequence with their texts and counts in place, and where their numbers go."""

    def __init__(self, segments: tuple[Segment, ...], shape: Shape, count: int, start: int) -> None:
        pieces: Parts = [bytes(start)]
        position = start
        slots = [slot for segment in segments for slot in _slots(segment)]
        places: list[list[range]] = [[] for _ in slots]
        for index in range(count):
            column = slot = 0
            for segment in segments:
                if segment.run is not None:
                    lengths = [1] * len(segment.run.blocks)
                elif segment.sequence is None:
                    stop = column + len(segment.paths)
                    texts = tuple(column[index % len(column)] for column in shape[column:stop])
                    position = write_strings(pieces, position, texts)
                    column = stop
                    continue
                else:
                    lengths = [shape[column][index % len(shape[column])]]
                    position = write_count(pieces, position, lengths[0])
                    column += 1
                first = position
                for length in lengths:
                    _, width, item = slots[slot]
                    if length:
                        position += -position % item
                        places[slot].append(range(position // item, position // item + length * width))
                        position += length * width * item
                    slot += 1
                pieces.append(bytes(position - first))
        self._end = position
        self._start = start
        self._bytes = np.frombuffer(b"".join([*pieces, bytes(-position & 7)]), np.uint8)
        self._targets = [
            (dtype, np.fromiter(chain(*place), np.intp))
            for (dtype, *_), place in zip(slots, places, strict=True)
        ]
        self._count = count

    def fill(self, columns: list[Any]) -> memoryview:
        """The elements with these numbers, a column for each block and sequence."""
        made = self._bytes.copy()
        for (dtype, places), column in zip(self._targets, columns, strict=True):
            if len(places):
                target = made.view(dtype)
                if isinstance(column, Same):
                    target[places.reshape(self._count, -1)] = column.value
                else:
                    target[places] = column.reshape(-1)
        return made[self._start : self._end].data


def _slots(segment: Segment) -> list[tuple[np.dtype, int, int]]:
    """Type, width and bytes of the numbers that a segment has room for."""
    if segment.run is not None:
        kinds = [(block.primitive.dtype, block.width) for block in segment.run.blocks]
    elif segment.sequence is not None:
        kinds = [(segment.sequence.element.uniform.dtype, segment.sequence.element.width)]
    else:
        kinds = []
    return [(dtype, width, dtype.itemsize) for dtype, width in kinds]


_remembered = lru_cache(maxsize=256)(Skeleton)


def write_filled(
    parts: Parts, position: int, segments: tuple[Segment, ...], columns: list[Any], count: int
) -> int:
    """Append all elements of a sequence given as columns, whose sequences are of numbers.

    Raises:
        TypeError, ValueError: where a column is not what it should be.
    """
    shape: list[tuple[Any, ...]] = []
    numbers: list[Any] = []
    for segment in segments:
        own = columns[segment.first : segment.last]
        if segment.run is not None:
            numbers += own
        elif segment.sequence is None:
            shape += [(column.value,) if isinstance(column, Same) else tuple(column) for column in own]
        elif isinstance(own[0], Same) and not len(own[0].value):
            shape.append((0,))
            numbers.append(own[0])
        else:
            shape.append(tuple(map(len, own[0])))
            numbers.append(_joined(segment.sequence.element, own[0]))
    data = _remembered(segments, tuple(shape), count, position & 7).fill(numbers)
    parts.append(data)
    return position + len(data)


def has_places(segment: Segment) -> bool:
    """Whether the numbers of a segment have places that texts and lengths alone decide."""
    sequence = segment.sequence
    return sequence is None or (
        sequence.bound is None
        and not isinstance(sequence.element, String)
        and sequence.element.uniform is not None
    )


def _joined(element: Any, column: Any) -> np.ndarray:
    """The sequences of all elements behind each other."""
    joined = np.concatenate(column)
    if joined.dtype != element.uniform.dtype or joined.shape[1:] != element.shape:
        raise TypeError("not arrays of the type on the wire")
    return joined

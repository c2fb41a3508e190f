"""Sequences whose texts stay the same from one message to the next: only their numbers are written anew."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tactile_sim.wire.columns import Same
from tactile_sim.wire.layout import Segment
from tactile_sim.wire.pieces import Parts, write_strings

FEWEST = 8
"""Below so many elements, writing them one by one is as fast."""


class Skeleton:
    """All elements of a sequence with their texts in place, and where their numbers go."""

    def __init__(
        self, segments: tuple[Segment, ...], texts: tuple[tuple[str, ...], ...], count: int, start: int
    ) -> None:
        pieces: Parts = [bytes(start)]
        position = start
        places: list[list[int]] = [
            [] for segment in segments if segment.run is not None for _ in segment.run.blocks
        ]
        for index in range(count):
            column, block_index = 0, 0
            for segment in segments:
                if segment.run is None:
                    width = len(segment.paths)
                    row = tuple(texts[column + k][index % len(texts[column + k])] for k in range(width))
                    position = write_strings(pieces, position, row)
                    column += width
                    continue
                first = position
                for block in segment.run.blocks:
                    item = block.primitive.dtype.itemsize
                    position += -position % item
                    places[block_index].append(position // item)
                    position += item * block.width
                    block_index += 1
                pieces.append(bytes(position - first))
        self._end = position
        self._start = start
        self._bytes = np.frombuffer(b"".join([*pieces, bytes(-position & 7)]), np.uint8)
        blocks = [block for segment in segments if segment.run is not None for block in segment.run.blocks]
        self._targets = [
            (
                block.primitive.dtype,
                np.array(place)[:, None] + np.arange(block.width) if block.shape else np.array(place),
            )
            for block, place in zip(blocks, places, strict=True)
        ]

    def fill(self, columns: list[Any]) -> memoryview:
        """The elements with these numbers, a column for each block."""
        made = self._bytes.copy()
        for (dtype, places), column in zip(self._targets, columns, strict=True):
            made.view(dtype)[places] = column.value if isinstance(column, Same) else column
        return made[self._start : self._end].data


_remembered = lru_cache(maxsize=64)(Skeleton)


def write_filled(
    parts: Parts, position: int, segments: tuple[Segment, ...], columns: list[Any], count: int
) -> int:
    """Append all elements of a sequence given as columns, whose segments are runs and texts only."""
    texts: list[tuple[str, ...]] = []
    rows: list[Any] = []
    for segment in segments:
        own = columns[segment.first : segment.last]
        if segment.run is not None:
            rows += own
        else:
            texts += [(column.value,) if isinstance(column, Same) else tuple(column) for column in own]
    data = _remembered(segments, tuple(texts), count, position & 7).fill(rows)
    parts.append(data)
    return position + len(data)

"""Where fields lie in CDR bytes: the leaves of a struct, and runs of leaves whose size is fixed.

CDR (version 1, little endian) aligns each number to its own size, counted from the start of the message. So
the padding inside a run depends on the offset modulo 8 at which it starts, and on nothing else.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from tactile_sim.wire.types import Primitive, Sequence, String, Struct


@dataclass(frozen=True)
class Block:
    """A leaf of fixed size: one number (``shape`` is ``()``) or a row of equal ones (``(k,)``)."""

    path: str
    primitive: Primitive
    shape: tuple[int, ...]

    @property
    def width(self) -> int:
        return self.shape[0] if self.shape else 1


@dataclass(frozen=True)
class Variable:
    """A leaf whose size depends on its value: a string or a sequence."""

    path: str
    kind: String | Sequence


def leaves(kind: Any, path: str = "") -> list[Block | Variable]:
    """The leaves of a struct in the order on the wire; a uniform struct is one block."""
    if kind.uniform is not None:
        return [Block(path, kind.uniform, kind.shape)]
    if isinstance(kind, Struct):
        prefix = f"{path}." if path else ""
        return [leaf for name, inner, _ in kind.fields for leaf in leaves(inner, prefix + name)]
    return [Variable(path, kind)]


class Run:
    """Blocks that follow each other: packed at once, for one struct or for many."""

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = blocks
        self.values = sum(block.width for block in blocks)
        places = [self._place(start) for start in range(8)]
        self.packers = [self._packer(offsets, size) for offsets, size in places]
        self.sizes = [size for _, size in places]
        self.dtypes = [
            np.dtype(
                {
                    "names": [f"f{i}" for i in range(len(blocks))],
                    "formats": [(block.primitive.dtype, block.shape) for block in blocks],
                    "offsets": offsets,
                    "itemsize": size,
                }
            )
            for offsets, size in places
        ]

    def _place(self, start: int) -> tuple[list[int], int]:
        """The blocks' offsets behind ``start`` and the size of all, with the padding in front of each."""
        offsets, position = [], start
        for block in self.blocks:
            item = block.primitive.dtype.itemsize
            position += -position % item
            offsets.append(position - start)
            position += item * block.width
        return offsets, position - start

    def _packer(self, offsets: list[int], size: int) -> struct.Struct:
        form, end = "<", 0
        for block, offset in zip(self.blocks, offsets, strict=True):
            form += f"{offset - end}x{block.width}{block.primitive.code}"
            end = offset + block.primitive.dtype.itemsize * block.width
        return struct.Struct(form)


@dataclass(frozen=True)
class Segment:
    """A part of a struct that is written in one go: a run, neighbouring strings, or one sequence.

    ``first`` and ``last`` bound its leaves, ``start`` and ``stop`` its place in the flat list of one value.
    """

    first: int
    last: int
    start: int
    stop: int
    run: Run | None
    paths: tuple[str, ...]
    sequence: Sequence | None


def segments(parts: list[Block | Variable]) -> list[Segment]:
    """Group the leaves of a struct into the fewest segments."""
    groups: list[list[int]] = []
    for index, leaf in enumerate(parts):
        before = parts[groups[-1][-1]] if groups else None
        joins = (isinstance(leaf, Block) and isinstance(before, Block)) or (
            isinstance(leaf, Variable) and isinstance(before, Variable)
            and isinstance(leaf.kind, String) and isinstance(before.kind, String)
        )  # fmt: skip
        if joins:
            groups[-1].append(index)
        else:
            groups.append([index])
    found, start = [], 0
    for group in groups:
        members = [parts[i] for i in group]
        run = Run([m for m in members if isinstance(m, Block)]) if isinstance(members[0], Block) else None
        head = members[0]
        sequence = head.kind if isinstance(head, Variable) and isinstance(head.kind, Sequence) else None
        stop = start + (run.values if run else len(group))
        paths = tuple(m.path for m in members)
        found.append(Segment(group[0], group[-1] + 1, start, stop, run, paths, sequence))
        start = stop
    return found

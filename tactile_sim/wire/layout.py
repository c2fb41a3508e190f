"""Divide a struct in CDR bytes into leaf fields, and group fixed-size leaf fields into runs.

CDR (version 1, little endian) aligns each number to its own size, counted from the start of the message.
The padding inside a run therefore depends only on the offset modulo 8 at which the run starts.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from tactile_sim.wire.types import Primitive, Sequence, String, Struct


@dataclass(frozen=True)
class Block:
    """A fixed-size leaf: one number (shape ``()``) or a row of numbers of one type (``(k,)``)."""

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
    """Return the leaf fields of a struct in wire order.

    A struct whose fields all have the same numeric type is a single block.
    """
    if kind.uniform is not None:
        return [Block(path, kind.uniform, kind.shape)]
    if isinstance(kind, Struct):
        prefix = f"{path}." if path else ""
        return [leaf for name, inner, _ in kind.fields for leaf in leaves(inner, prefix + name)]
    return [Variable(path, kind)]


class Run:
    """Adjacent blocks that are packed or unpacked in one call.

    ``packers``, ``sizes`` and ``dtypes`` have one entry for each start offset modulo 8.
    """

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = blocks
        self.values = sum(block.width for block in blocks)
        self._places = [self._place(start) for start in range(8)]
        self.packers = [self._packer(offsets, size) for offsets, size in self._places]
        self.sizes = [size for _, size in self._places]

    @cached_property
    def dtypes(self) -> list[np.dtype]:
        """Structured numpy dtype of the run for each start offset, with one field f0, f1, ... per block."""
        return [
            np.dtype(
                {
                    "names": [f"f{i}" for i in range(len(self.blocks))],
                    "formats": [(block.primitive.dtype, block.shape) for block in self.blocks],
                    "offsets": offsets,
                    "itemsize": size,
                }
            )
            for offsets, size in self._places
        ]

    def _place(self, start: int) -> tuple[list[int], int]:
        """Return the offset of each block from ``start`` and the total size, both with padding [bytes]."""
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


def segments(kind: Any) -> list[Run | Variable]:
    """Split a struct, in wire order, into runs of fixed-size leaves and individual strings or sequences."""
    found: list[Run | Variable] = []
    for fixed, group in groupby(leaves(kind), lambda leaf: isinstance(leaf, Block)):
        members: list[Any] = list(group)
        found += [Run(members)] if fixed else members
    return found

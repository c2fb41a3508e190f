"""Boxes in a tree: what is not near is passed over at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel


class Tree(NamedTuple):
    """Boxes around things, in depth-first order: a node's children stand behind it.

    To walk over what is near, go from node to node; where one is not near, go on at its `SKIP`.
    """

    boxes: np.ndarray
    """(nodes, 6) centre and half sizes [m]."""
    links: np.ndarray
    """(nodes, 3) the node behind all that is in this one; for leaves, begin and end of their things."""
    order: np.ndarray
    """(n,) the things, leaf by leaf."""


SKIP, BEGIN, END = range(3)
"""Columns of `Tree.links`."""
PAD = 1e-9
"""Boxes are larger than what is in them by this [m], so that rounding hides nothing."""


def build(low: np.ndarray, high: np.ndarray, leaf: int) -> Tree:
    """A tree over boxes with corners low and high (n, 3) [m], n > 0, with up to `leaf` of them in a leaf."""
    return Tree(*_build(np.ascontiguousarray(low, float), np.ascontiguousarray(high, float), leaf))


def join(trees: Sequence[Tree]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boxes and links of trees one behind another, their things too, and where each tree's nodes begin."""
    first = np.cumsum([0, *(len(tree.boxes) for tree in trees)])
    things = np.cumsum([0, *(len(tree.order) for tree in trees)])
    links = [tree.links + [first[k], things[k], things[k]] for k, tree in enumerate(trees)]
    boxes = [np.empty((0, 6)), *(tree.boxes for tree in trees)]
    return np.concatenate(boxes), np.concatenate([np.empty((0, 3), np.int64), *links]), first


@kernel
def _build(low, high, leaf):
    """Halves the things at the median along the longest axis of their centres."""
    n = len(low)
    centres = 0.5 * (low + high)
    order = np.arange(n)
    boxes, links = np.empty((2 * n, 6)), np.empty((2 * n, 3), np.int64)
    todo = np.empty((128, 2), np.int64)
    todo[0, 0], todo[0, 1] = 0, n
    waiting, nodes = 1, 0
    while waiting:
        waiting -= 1
        begin, end = todo[waiting]
        axis = _bound(low, high, centres, order[begin:end], boxes[nodes])
        links[nodes, BEGIN], links[nodes, END] = begin, end
        nodes += 1
        if end - begin > leaf:
            part = order[begin:end]
            order[begin:end] = part[np.argsort(centres[:, axis][part])]
            middle = (begin + end) // 2
            todo[waiting, 0], todo[waiting, 1] = middle, end
            todo[waiting + 1, 0], todo[waiting + 1, 1] = begin, middle
            waiting += 2
    for i in range(nodes - 1, -1, -1):
        after = i + 1
        while after < nodes and links[after, BEGIN] < links[i, END]:
            after = links[after, SKIP]
        links[i, SKIP] = after
    for i in range(nodes):
        if links[i, SKIP] > i + 1:
            links[i, END] = links[i, BEGIN]
    return boxes[:nodes].copy(), links[:nodes].copy(), order


@kernel
def _bound(low, high, centres, things, out):
    """Writes the box around things into out (6,); returns the axis along which their centres spread most."""
    widest, axis = -1.0, 0
    for k in range(3):
        least, most, first, last = np.inf, -np.inf, np.inf, -np.inf
        for i in things:
            least, most = min(least, low[i, k]), max(most, high[i, k])
            first, last = min(first, centres[i, k]), max(last, centres[i, k])
        out[k], out[3 + k] = 0.5 * (least + most), 0.5 * (most - least) + PAD
        if last - first > widest:
            widest, axis = last - first, k
    return axis

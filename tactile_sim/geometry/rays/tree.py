"""Bounding volume hierarchies: trees of axis-aligned boxes, for skipping distant items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel


class Tree(NamedTuple):
    """A tree of boxes around items. Its nodes are in depth-first order, so a node's subtree follows it.

    To visit nearby items, go through the nodes in order. If a node is too far away, continue at the node
    given by column `SKIP` of its row in ``links``.
    """

    boxes: np.ndarray
    """(nodes, 6) centre and half sizes of each node's box [m]."""
    links: np.ndarray
    """(nodes, 3) for each node, the next node outside its subtree and its range [begin, end) in ``order``.

    The range is empty for nodes that are not leaves.
    """
    order: np.ndarray
    """(n,) indices of the items, leaf by leaf."""


SKIP, BEGIN, END = range(3)
"""Columns of `Tree.links`."""
PAD = 1e-9
"""Margin by which boxes are enlarged to allow for rounding errors [m]."""


def build(low: np.ndarray, high: np.ndarray, leaf: int) -> Tree:
    """Build a tree over the boxes of n items.

    Args:
        low: (n, 3) lower corner of each item's box [m]; n > 0.
        high: (n, 3) upper corner of each item's box [m].
        leaf: Largest number of items in a leaf.
    """
    return Tree(*_build(np.ascontiguousarray(low, float), np.ascontiguousarray(high, float), leaf))


def join(trees: Sequence[Tree]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Concatenate trees into common arrays.

    Args:
        trees: Trees to concatenate. The items are numbered consecutively over all trees.

    Returns:
        boxes: (nodes, 6) boxes of all trees.
        links: (nodes, 3) links of all trees; they refer to the common arrays.
        first: (trees + 1,) first node of each tree; the last entry is the total number of nodes.
    """
    first = np.cumsum([0, *(len(tree.boxes) for tree in trees)])
    items = np.cumsum([0, *(len(tree.order) for tree in trees)])
    links = [tree.links + [first[k], items[k], items[k]] for k, tree in enumerate(trees)]
    boxes = [np.empty((0, 6)), *(tree.boxes for tree in trees)]
    return np.concatenate(boxes), np.concatenate([np.empty((0, 3), np.int64), *links]), first


@kernel
def _build(low, high, leaf):
    """Build the arrays of a `Tree`; the arguments are as in `build`.

    Each node is split in two at the median along the axis on which the centres of its items spread the most.
    """
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
def _bound(low, high, centres, items, out):
    """Write the bounding box of items to ``out``; return the axis on which their centres spread the most.

    Args:
        low: (n, 3) lower corner of each item's box [m].
        high: (n, 3) upper corner of each box [m].
        centres: (n, 3) centre of each box [m].
        items: Indices of the items.
        out: (6,) output: centre and half sizes [m].
    """
    widest, axis = -1.0, 0
    for k in range(3):
        least, most, first, last = np.inf, -np.inf, np.inf, -np.inf
        for i in items:
            least, most = min(least, low[i, k]), max(most, high[i, k])
            first, last = min(first, centres[i, k]), max(last, centres[i, k])
        out[k], out[3 + k] = 0.5 * (least + most), 0.5 * (most - least) + PAD
        if last - first > widest:
            widest, axis = last - first, k
    return axis

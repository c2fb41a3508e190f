"""Trees of boxes around groups of nearby points or triangles, so that searches can skip distant ones."""

from __future__ import annotations

import numpy as np

LEAF, CHILDREN = 8, 4
"""Maximum number of points in a leaf and of children of a node."""
BITS = 10
"""Number of bits of each coordinate in the Morton code, by which the points are sorted."""

NODE = np.dtype(
    [
        ("x", float), ("y", float), ("z", float),
        ("hx", float), ("hy", float), ("hz", float),
        ("first", np.int64), ("last", np.int64), ("skip", np.int64),
    ]
)  # fmt: skip
"""A node of a tree; its children follow it. ``x`` to ``z`` and ``hx`` to ``hz`` are the centre and half-sizes
of its box [m]. [``first``, ``last``) is the range of its points in the order that `tree` returns; it is empty
for inner nodes. ``skip`` is the index of the next node outside its subtree."""


def tree(points: np.ndarray, half: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Build a tree of boxes over points or boxes, for fast searches near a location.

    Args:
        points: (n, 3) points, or centres of boxes [m].
        half: (n, 3) half-sizes of the boxes [m]; None for points.

    Returns:
        order: (n,) indices of the points, sorted so that nearby points are close to each other.
        nodes: Array of `NODE`; their ranges refer to ``order``.
    """
    if not len(points):
        return np.empty(0, np.int64), np.empty(0, NODE)
    low = points.min(axis=0)
    extent = max(float((points.max(axis=0) - low).max()), 1e-12)
    cells = np.minimum((points - low) * (2**BITS / extent), 2**BITS - 1).astype(np.int64)
    code = np.zeros(len(points), np.int64)
    for bit in range(BITS):  # the Morton order
        for axis in range(3):
            code |= (cells[:, axis] >> bit & 1) << (3 * bit + axis)
    order = np.argsort(code, kind="stable")

    low, high = (points, points) if half is None else (points - half, points + half)
    parts: list[np.ndarray] = []
    width = LEAF
    while True:
        start = np.arange(0, len(points), width)
        lower = np.minimum.reduceat(low[order], start)
        upper = np.maximum.reduceat(high[order], start)
        level = np.zeros(len(start), NODE)
        for axis, name in enumerate("xyz"):
            level[name] = 0.5 * (lower + upper)[:, axis]
            level["h" + name] = 0.5 * (upper - lower)[:, axis]
        level["first"], level["last"] = start, np.minimum(start + width, len(points))
        parts.append(level)
        if len(start) == 1:
            break
        width *= CHILDREN
    nodes, depth = np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    preorder = np.lexsort([-depth, nodes["first"]])
    nodes, inner = nodes[preorder], depth[preorder] > 0
    nodes["skip"] = np.searchsorted(nodes["first"], nodes["last"])
    nodes["last"][inner] = nodes["first"][inner]
    return order, nodes


def boxes_of(low: np.ndarray, high: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Compute boxes around other quantities of the points in each node of one or more trees.

    Args:
        low: (n, 3) lower ends of the quantities, in the order of the ranges of the nodes.
        high: (n, 3) upper ends.
        nodes: (k,) array of `NODE`, in which ranges and ``skip`` are those of the whole array.

    Returns:
        (k, 6) centres and half-sizes of the boxes.
    """
    if not len(nodes):
        return np.empty((0, 6))
    # The points of a node are those from its first to its last leaf.
    ranges = np.column_stack([nodes["first"], nodes["last"][nodes["skip"] - 1]]).ravel()
    lower = np.minimum.reduceat(np.append(low, low[:1], axis=0), ranges)[::2]
    upper = np.maximum.reduceat(np.append(high, high[:1], axis=0), ranges)[::2]
    return np.hstack([0.5 * (lower + upper), 0.5 * (upper - lower)])

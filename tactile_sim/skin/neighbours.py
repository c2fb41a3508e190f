"""Adjacency of taxels on the skin."""

from __future__ import annotations

import numpy as np


def neighbours(count: int, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the neighbours of each of `count` taxels from pairs (e, 2) of adjacent ones.

    Returns:
        The start of the list of each taxel (count + 1,) int64, and the concatenated lists, int32.
    """
    taxels = np.concatenate([edges[:, 0], edges[:, 1]])
    begin = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(taxels, minlength=count), out=begin[1:])
    order = np.argsort(taxels, kind="stable")
    return begin, np.concatenate([edges[:, 1], edges[:, 0]])[order].astype(np.int32)

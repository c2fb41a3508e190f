"""Adjacency of taxels on the skin."""

from __future__ import annotations

import numpy as np


def neighbors(count: int, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Convert pairs (e, 2) of adjacent taxels to a list of neighbors for each of ``count`` taxels.

    Returns:
        The start of each taxel's list in the second array (count + 1,) int64, and the concatenated lists of
        neighbors (2 e,) int32.
    """
    taxels = np.concatenate([edges[:, 0], edges[:, 1]])
    begin = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(taxels, minlength=count), out=begin[1:])
    order = np.argsort(taxels, kind="stable")
    return begin, np.concatenate([edges[:, 1], edges[:, 0]])[order].astype(np.int32)

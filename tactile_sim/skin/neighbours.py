"""Which taxels are near each other along the skin."""

from __future__ import annotations

import numpy as np
from numba import njit


def neighbourhoods(
    positions: np.ndarray, edges: np.ndarray, reach: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The taxels around each taxel, itself first: those within its reach that a path within it leads to.

    positions (n, 3) [m], edges (e, 2) between neighbours on the surface, reach (n,) [m]. Returns where each
    list begins (n + 1,) and the lists one after another.
    """
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    first = np.searchsorted(both[:, 0], np.arange(len(positions) + 1))
    beside = np.ascontiguousarray(both[:, 1])
    begin = np.zeros(len(positions) + 1, np.int64)
    _walk(positions, first, beside, reach, begin, np.empty(0, np.int32), True)
    np.cumsum(begin, out=begin)
    lists = np.empty(begin[-1], np.int32)
    _walk(positions, first, beside, reach, begin, lists, False)
    return begin, lists


@njit(cache=True)
def _walk(positions, first, beside, reach, begin, lists, count_only):
    """Breadth first from each taxel; writes either the length of its list into `begin`, or the list."""
    n = len(positions)
    seen_from = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    for start in range(n):
        queue[0] = start
        seen_from[start] = start
        head, tail = 0, 1
        while head < tail:
            taxel = queue[head]
            head += 1
            for e in range(first[taxel], first[taxel + 1]):
                q = beside[e]
                if seen_from[q] == start:
                    continue
                x = positions[q, 0] - positions[start, 0]
                y = positions[q, 1] - positions[start, 1]
                z = positions[q, 2] - positions[start, 2]
                if x * x + y * y + z * z <= reach[start] * reach[start]:
                    seen_from[q] = start
                    queue[tail] = q
                    tail += 1
        if count_only:
            begin[start + 1] = tail
        else:
            for k in range(tail):
                lists[begin[start] + k] = queue[k]

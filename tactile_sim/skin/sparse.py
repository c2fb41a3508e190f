"""Large arrays of which few elements are written."""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence

import numpy as np


def sparse_zeros(shape: Sequence[int], dtype: type) -> np.ndarray:
    """Return zeros that take memory only where they are written, in pages of usually 4 kB.

    NumPy requests pages of 2 MB for large arrays, so that a few elements in each take all the memory.
    """
    if not hasattr(mmap, "MADV_NOHUGEPAGE"):
        return np.zeros(shape, dtype)
    size = math.prod(shape) * np.dtype(dtype).itemsize
    try:
        pages = mmap.mmap(-1, max(size, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        pages.madvise(mmap.MADV_NOHUGEPAGE)
    except OSError:  # the kernel has no pages of 2 MB, or there is not enough memory
        return np.zeros(shape, dtype)
    return np.frombuffer(pages, dtype, math.prod(shape)).reshape(shape)

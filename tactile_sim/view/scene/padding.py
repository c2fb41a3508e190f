"""Pad arrays to a small set of lengths, because browsers recreate objects when their length changes."""

from __future__ import annotations

import numpy as np


def padded(values: np.ndarray) -> np.ndarray:
    """Pad an array by repeating its last row until the number of rows is a power of two.

    Args:
        values: Array (n, ...) with n >= 1.

    Returns:
        Array (m, ...), where m is the smallest power of two that is at least n.
    """
    size = 1 << (len(values) - 1).bit_length()
    return np.concatenate([values, np.repeat(values[-1:], size - len(values), axis=0)])

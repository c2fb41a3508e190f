"""Padding of arrays to few different lengths, because browsers recreate objects whose length changes."""

from __future__ import annotations

import numpy as np


def padded(values: np.ndarray) -> np.ndarray:
    """Repeat the last row up to the next power of two.

    Args:
        values: (n, ...) with n >= 1.

    Returns:
        (m, ...) with m a power of two.
    """
    size = 1 << (len(values) - 1).bit_length()
    return np.concatenate([values, np.repeat(values[-1:], size - len(values), axis=0)])

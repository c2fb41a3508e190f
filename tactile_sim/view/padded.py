"""Arrays whose length seldom changes, for browsers, which draw anew what changes in number."""

from __future__ import annotations

import numpy as np


def padded(values: np.ndarray) -> np.ndarray:
    """(n, ...) with the last repeated, up to a power of two; n: 1 or more."""
    size = 1 << (len(values) - 1).bit_length()
    return np.concatenate([values, np.repeat(values[-1:], size - len(values), axis=0)])

"""Conversion of poses and quaternions. MuJoCo and the core use the order wxyz; ROS uses xyzw."""

from __future__ import annotations

import numpy as np


def to_xyzw(quaternions: np.ndarray) -> np.ndarray:
    """Convert quaternions (..., 4) from wxyz to xyzw."""
    return np.roll(quaternions, -1, axis=-1)


def to_wxyz(quaternions: np.ndarray) -> np.ndarray:
    """Convert quaternions (..., 4) from xyzw to wxyz."""
    return np.roll(quaternions, 1, axis=-1)

"""Apply and invert OpenCV's lens distortion with three radial and two tangential coefficients.

A ray is given by (x/z, y/z) in the camera frame (x right, y down, z forwards). The formulas are from OpenCV,
"Camera Calibration and 3D Reconstruction".
"""

from __future__ import annotations

import numpy as np

_WIDEST = 3.0  # largest radius (x/z, y/z) of a ray, 72 degrees off the optical axis
_TABLE = 20_000
_ITERATIONS = 10


def distort(rays: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Apply the lens distortion to rays of a pinhole camera.

    Args:
        rays: (..., 2) undistorted rays.
        coefficients: (5,) k1, k2, p1, p2, k3.

    Returns:
        (..., 2) distorted rays.
    """
    square = (rays * rays).sum(axis=-1, keepdims=True)
    return rays * _radial(square, coefficients) + _tangential(rays, coefficients)


def undistort(rays: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Remove the lens distortion from rays; the inverse of `distort`.

    The fitted radial distortion is monotonic only up to some radius. Rays beyond it have no inverse.

    Args:
        rays: (..., 2) distorted rays.
        coefficients: (5,) k1, k2, p1, p2, k3.

    Returns:
        (..., 2) undistorted rays; NaN where there is no inverse.
    """
    radii = np.linspace(0, _WIDEST, _TABLE)
    bent = radii * _radial(radii**2, coefficients)
    falling = np.flatnonzero(np.diff(bent) <= 0)
    end = falling[0] + 1 if len(falling) else _TABLE
    out = rays
    for _ in range(_ITERATIONS):
        wanted = rays - _tangential(out, coefficients)
        radius = np.linalg.norm(wanted, axis=-1, keepdims=True)
        straight = np.interp(radius, bent[:end], radii[:end], right=np.nan)
        out = wanted * np.where(radius > 0, straight / np.maximum(radius, 1e-300), 1.0)
    return out


def _radial(square: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    k1, k2, _, _, k3 = coefficients
    return 1 + square * (k1 + square * (k2 + square * k3))


def _tangential(rays: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    _, _, p1, p2, _ = coefficients
    x, y = rays[..., 0], rays[..., 1]
    square = x * x + y * y
    return np.stack(
        [2 * p1 * x * y + p2 * (square + 2 * x * x), p1 * (square + 2 * y * y) + 2 * p2 * x * y], axis=-1
    )

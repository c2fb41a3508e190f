"""Camera matrices, and OpenCV's lens distortion with three radial and two tangential coefficients.

A ray is given by (x/z, y/z) in the camera frame (x right, y down, z forwards). The formulas are from OpenCV,
"Camera Calibration and 3D Reconstruction".
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import map_coordinates

_WIDEST = 3.0  # largest radius (x/z, y/z) of a ray, 72 degrees off the optical axis
_TABLE = 20_000
_ITERATIONS = 10


class Lens:
    """Camera matrix and distortion of a camera: which pinhole image to render, and how to distort it.

    Attributes:
        size: Width and height of the images [pixels].
        matrix: (3, 3) camera matrix [pixels]. Pixel centres have integer coordinates.
        coefficients: (5,) lens distortion coefficients k1, k2, p1, p2 and k3 of OpenCV.
        pinhole_size: Width and height of the pinhole image, which covers the entire field of view [pixels].
        bounds: Left, right, bottom and top bounds of the pinhole image; see `View.bounds`.
    """

    def __init__(self, matrix: np.ndarray, coefficients: np.ndarray, size: tuple[int, int]):
        self.matrix, self.coefficients, self.size = matrix, coefficients, size
        focal, center = matrix[[0, 1], [0, 1]], matrix[:2, 2]
        self._distorts = bool(coefficients.any())
        if self._distorts:
            pixels = np.stack(np.meshgrid(*map(np.arange, size)), axis=-1)
            rays = undistort((pixels - center) / focal, coefficients)
            # The rays pass through pixel centres; the image extends half a pixel beyond them. At the centre
            # it has the same resolution as the distorted image.
            first = np.nanmin(rays, axis=(0, 1))
            columns, rows = np.ceil((np.nanmax(rays, axis=(0, 1)) - first) * focal).astype(int) + 1
            self.pinhole_size = int(columns), int(rows)
            self._seen = np.isfinite(rays).all(axis=-1)
            places = np.where(self._seen[:, :, None], (rays - first) * focal, 0)
            self._places = places[:, :, 1], places[:, :, 0]
        else:
            first, self.pinhole_size = -center / focal, size
        (left, top), (right, bottom) = (
            first - 0.5 / focal,
            first + (np.array(self.pinhole_size) - 0.5) / focal,
        )
        self.bounds = float(left), float(right), float(-bottom), float(-top)

    def distorted(self, image: np.ndarray, order: int = 1, unseen: float = 0) -> np.ndarray:
        """Apply the lens distortion to a pinhole image.

        Args:
            image: (rows, columns) or (rows, columns, channels) image of `pinhole_size`.
            order: Order of the interpolation between pixels: 0 takes the nearest one, 1 is linear.
            unseen: Value of pixels that the lens model does not cover.
        """
        if not self._distorts:
            return image
        if image.ndim == 3:
            channels = [self.distorted(channel, order, unseen) for channel in np.moveaxis(image, -1, 0)]
            return np.stack(channels, axis=-1)
        return np.where(
            self._seen, map_coordinates(image, self._places, order=order, mode="nearest"), unseen
        ).astype(image.dtype)


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

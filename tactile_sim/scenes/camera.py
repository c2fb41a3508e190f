"""Cameras of a scene: pose on a body, intrinsics, lens distortion and rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import mujoco
import numpy as np
from scipy.ndimage import map_coordinates

from tactile_sim.scenes.renderer import Renderer, View

_WIDEST = 3.0  # largest radius (x/z, y/z) of a ray, 72 degrees off the optical axis
_TABLE = 20_000
_ITERATIONS = 10


class Lens:
    """Camera matrix and distortion of a camera: which pinhole image to render, and how to distort it.

    Attributes:
        size: Width and height of the images [pixels].
        matrix: (3, 3) camera matrix [pixels]. Pixel centers have integer coordinates.
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
            # The rays pass through pixel centers; the image extends half a pixel beyond them. At the center
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


TURN = np.array([0.0, 1.0, 0.0, 0.0])
"""Rotation (wxyz) from MuJoCo's camera frame (x right, y up, looking along -z) to the optical frame."""


@dataclass(frozen=True)
class Camera:
    """A camera on a body. Its optical frame is that of REP-103: x right, y down, z forward."""

    name: str
    body: int
    """Id of the body."""
    position: np.ndarray
    """(3,) position of the optical frame in the body's frame [m]."""
    quaternion: np.ndarray
    """(4,) orientation of the optical frame in the body's frame, wxyz."""
    width: int
    """Width of the images [pixels]."""
    height: int
    """Height of the images [pixels]."""
    matrix: np.ndarray
    """(3, 3) camera matrix [pixels]. Pixel centers have integer coordinates."""
    near: float
    """Distance of the near clipping plane [m]."""
    far: float
    """Distance of the far clipping plane [m]."""
    distortion: np.ndarray
    """(5,) lens distortion coefficients k1, k2, p1, p2 and k3 of OpenCV."""
    rate: float | None = None
    """Rate of the images [Hz of simulation time]; None: ``rates.images``."""
    depth: bool = False
    """Whether depth is also rendered."""

    @cached_property
    def lens(self) -> Lens:
        """Lens with the matrix and the distortion."""
        return Lens(self.matrix, self.distortion, (self.width, self.height))

    def image(self, renderer: Renderer) -> tuple[np.ndarray, np.ndarray | None]:
        """Render an image of the renderer's state.

        Returns:
            color: (height, width, 3) uint8, RGB.
            depth: (height, width) float32 distance along the optical axis [m], infinite where nothing is; or
                None.
        """
        lens, view = self.lens, self.view(*renderer.body_pose(self.body))
        color, depth = renderer.image(view, *lens.pinhole_size, self.depth)
        if depth is not None:
            depth = lens.distorted(depth, order=0, unseen=np.inf)
        return lens.distorted(color), depth

    def scaled(self, width: int) -> Camera:
        """Return this camera with smaller images of the same view, without depth."""
        height = max(round(self.height * width / self.width), 1)
        scale, matrix = np.array([width / self.width, height / self.height]), self.matrix.copy()
        matrix[[0, 1], [0, 1]] *= scale
        matrix[:2, 2] = (matrix[:2, 2] + 0.5) * scale - 0.5
        return replace(self, width=width, height=height, matrix=matrix, depth=False)

    def view(self, position: np.ndarray, rotation: np.ndarray) -> View:
        """Return the view of the pinhole image.

        Args:
            position: (3,) position of the body in the world [m].
            rotation: (3, 3) rotation from the body's frame to the world.
        """
        axes = np.empty(9)
        mujoco.mju_quat2Mat(axes, self.quaternion)
        right, down, forward = (rotation @ axes.reshape(3, 3)).T
        return View(
            position + rotation @ self.position, forward, -down, self.lens.bounds, self.near, self.far
        )


def pinhole_matrix(bounds: tuple[float, float, float, float], width: int, height: int) -> np.ndarray:
    """Return the camera matrix (3, 3) of an image with the bounds of `View.bounds`."""
    left, right, bottom, top = bounds
    x, y = width / (right - left), height / (top - bottom)
    return np.array([[x, 0.0, -left * x - 0.5], [0.0, y, top * y - 0.5], [0.0, 0.0, 1.0]])


def bounds_of_fovy(fovy: float, width: int, height: int) -> tuple[float, float, float, float]:
    """Return the bounds, as `View.bounds`, of an image with a vertical field of view [degrees]."""
    top = float(np.tan(np.radians(fovy) / 2))
    right = top * width / height
    return -right, right, -top, top


def bounds_of_camera(
    model: mujoco.MjModel, camera: int, width: int, height: int
) -> tuple[float, float, float, float]:
    """Return the bounds, as `View.bounds`, of the image of a camera in a model."""
    sensor = model.cam_sensorsize[camera]
    if not sensor.all():
        return bounds_of_fovy(float(model.cam_fovy[camera]), width, height)
    # MuJoCo measures the principal point to the left and upwards.
    focal, offset = model.cam_intrinsic[camera, :2], model.cam_intrinsic[camera, 2:] * (-1, 1)
    (left, bottom), (right, top) = (-sensor / 2 - offset) / focal, (sensor / 2 - offset) / focal
    return float(left), float(right), float(bottom), float(top)


def clipping_planes(model: mujoco.MjModel) -> tuple[float, float]:
    """Return the distances of MuJoCo's near and far clipping planes [m]."""
    extent, planes = float(model.stat.extent), model.vis.map
    return float(planes.znear) * extent, float(planes.zfar) * extent

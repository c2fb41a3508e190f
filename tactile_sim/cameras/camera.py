"""Cameras of a scene: pose on a body, intrinsics and rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import mujoco
import numpy as np

from tactile_sim.cameras.lens import Lens
from tactile_sim.cameras.renderer import Renderer, View

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
    """(3, 3) camera matrix [pixels]. Pixel centres have integer coordinates."""
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

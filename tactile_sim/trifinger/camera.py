"""Cameras of the TriFinger platform, rendered by MuJoCo.

`Camera` is a pinhole camera with a specified field of view. `CalibratedCamera` has the camera matrix and the
lens distortion of a real camera. Each camera belongs to a simulation, by default the one with id 0. On a
machine that cannot render, requesting an image raises `RenderingError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from tactile_sim.scenes.camera import Lens
from tactile_sim.scenes.renderer import View
from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.images.bayer import rbg_to_bayer_bg
from tactile_sim.trifinger.images.calibration import (  # noqa: F401 - part of the interface
    CALIBRATIONS,
    CAMERA_IDS,
    CLIPPING,
    PLATFORM,
    CameraParameters,
    calib_data_to_matrix,
    load_camera_parameters,
)
from tactile_sim.trifinger.images.renderers import renderer_of
from tactile_sim.trifinger.running import simulations
from tactile_sim.trifinger.values import numbers, quaternion, sizes


class BaseCamera:
    """Base class of cameras that render a simulation from a fixed pose."""

    def __init__(self, view: View, size: tuple[int, int], pybullet_client_id: int):
        """Create a camera.

        Args:
            view: Pose and frustum of the pinhole camera.
            size: Width and height of the rendered image [pixels].
            pybullet_client_id: Id of the simulation.
        """
        self._view = view
        self._drawn = self._size = size
        self._simulation = simulations.find(pybullet_client_id)

    def get_width(self) -> int:
        """Return the width of the images [pixels]."""
        return self._size[0]

    def get_height(self) -> int:
        """Return the height of the images [pixels]."""
        return self._size[1]

    def get_image(self, renderer: object = None) -> np.ndarray:
        """Return an image of the current state.

        Args:
            renderer: Ignored; trifinger_simulation uses it to select PyBullet's renderer.

        Returns:
            uint8 (height, width, 3), RGB.

        Raises:
            RenderingError: This machine cannot render.
        """
        shared = renderer_of(self._simulation)
        shared.set_state(self._simulation.physics.data)
        return shared.image(self._view, *self._drawn)[0]


class Camera(BaseCamera):
    """Pinhole camera whose optical axis passes through the centre of the image."""

    def __init__(
        self,
        camera_position: ArrayLike,
        camera_orientation: ArrayLike,
        image_size: tuple[int, int] = (270, 270),
        field_of_view: float = 52,
        near_plane_distance: float = 0.001,
        far_plane_distance: float = 100.0,
        pybullet_client_id: int = 0,
    ):
        """Create a camera.

        Args:
            camera_position: (3,) position in the world [m].
            camera_orientation: Quaternion (x, y, z, w). The camera looks along its z axis; y points down.
            image_size: Width and height [pixels].
            field_of_view: Vertical field of view [degrees].
            near_plane_distance: Distance of the near clipping plane [m].
            far_plane_distance: Distance of the far clipping plane [m].
            pybullet_client_id: Id of the simulation.

        Raises:
            InvalidValueError: An argument is invalid.
        """
        rotation = Rotation.from_quat(quaternion("camera_orientation", camera_orientation))
        if not 0 < numbers("field_of_view", field_of_view) < 180:
            raise InvalidValueError(f"field_of_view: must be > 0 and < 180 degrees, got {field_of_view}")
        width, height = _size(image_size)
        top = np.tan(np.deg2rad(field_of_view) / 2)
        right = top * width / height
        view = View(
            numbers("camera_position", camera_position, 3),
            rotation.apply((0, 0, 1)),
            rotation.apply((0, -1, 0)),
            (-right, right, -top, top),
            *_planes(near_plane_distance, far_plane_distance),
        )
        super().__init__(view, (width, height), pybullet_client_id)


class CalibratedCamera(BaseCamera):
    """Camera with the camera matrix and the lens distortion of a real camera.

    A pinhole image that covers the entire field of view is rendered and then distorted.
    """

    def __init__(
        self,
        camera_matrix: ArrayLike,
        distortion_coefficients: ArrayLike,
        tf_world_to_camera: ArrayLike,
        image_size: tuple[int, int],
        near_plane_distance: float,
        far_plane_distance: float,
        pybullet_client_id: int = 0,
    ):
        """Create a camera.

        Args:
            camera_matrix: (3, 3) matrix of the focal lengths and the principal point [pixels].
            distortion_coefficients: (5,) lens distortion coefficients k1, k2, p1, p2 and k3 of OpenCV.
            tf_world_to_camera: (4, 4) transform from the world to the camera frame.
            image_size: Width and height [pixels].
            near_plane_distance: Distance of the near clipping plane [m].
            far_plane_distance: Distance of the far clipping plane [m].
            pybullet_client_id: Id of the simulation.

        Raises:
            InvalidValueError: An argument is invalid.
        """
        matrix = numbers("camera_matrix", camera_matrix, 3, 3)
        coefficients = numbers("distortion_coefficients", distortion_coefficients, 5)
        transform = numbers("tf_world_to_camera", tf_world_to_camera, 4, 4)
        shown = _size(image_size)
        self._lens = Lens(matrix, coefficients, shown)
        axes, position = transform[:3, :3], -transform[:3, :3].T @ transform[:3, 3]
        view = View(
            position,
            axes[2],
            -axes[1],
            self._lens.bounds,
            *_planes(near_plane_distance, far_plane_distance),
        )
        super().__init__(view, self._lens.pinhole_size, pybullet_client_id)
        self._size = shown

    def distort_image(self, image: np.ndarray) -> np.ndarray:
        """Apply the lens distortion to an undistorted image.

        Args:
            image: (rows, columns, channels) pinhole image that `BaseCamera.get_image` renders. It covers the
                entire field of view of the distorted image.

        Returns:
            (height, width, channels) distorted image. Pixels that the lens model does not cover are black.
        """
        return self._lens.distorted(image)

    def get_image(self, renderer: object = None) -> np.ndarray:
        """Return an image of the current state; see `BaseCamera.get_image`."""
        return self.distort_image(super().get_image(renderer))


class CameraArray:
    """Several cameras that take images at the same time."""

    def __init__(self, cameras: Sequence[BaseCamera]):
        self.cameras = cameras

    def get_images(self, renderer: object = None) -> list[np.ndarray]:
        """Return the image of each camera; see `BaseCamera.get_image`."""
        return [camera.get_image(renderer) for camera in self.cameras]

    def get_bayer_images(self, renderer: object = None) -> list[np.ndarray]:
        """Return the image of each camera as a Bayer pattern; see `rbg_to_bayer_bg`."""
        return [rbg_to_bayer_bg(image) for image in self.get_images(renderer)]


class TriFingerCameras(CameraArray):
    """The three cameras of the platform as pinhole cameras, at the approximate poses of the real ones."""

    def __init__(self, **kwargs: Any):
        """Create the cameras.

        Args:
            kwargs: Arguments of `Camera` other than position and orientation; used for all three cameras.
        """
        places = (
            ([0.2496, 0.2458, 0.4190], [0.3760, 0.8690, -0.2918, -0.1354]),
            ([0.0047, -0.2834, 0.4558], [0.9655, -0.0098, -0.0065, -0.2603]),
            ([-0.2470, 0.2513, 0.3943], [-0.3633, 0.8686, -0.3141, 0.1220]),
        )
        super().__init__([Camera(position, orientation, **kwargs) for position, orientation in places])


def create_trifinger_camera_array(
    camera_parameters: Iterable[CameraParameters], pybullet_client_id: int = 0
) -> CameraArray:
    """Return the three calibrated cameras of the platform.

    Args:
        camera_parameters: Calibrations in the order of `CAMERA_IDS`.
        pybullet_client_id: Id of the simulation.

    Raises:
        InvalidValueError: The calibrations are not exactly camera60, camera180 and camera300, in this order.
    """
    calibrations = list(camera_parameters)
    if len(calibrations) != len(CAMERA_IDS):
        raise InvalidValueError(
            f"camera_parameters: must have {len(CAMERA_IDS)} calibrations, got {len(calibrations)}"
        )
    cameras = []
    for number, parameters in zip(CAMERA_IDS, calibrations, strict=True):
        if parameters.name != f"camera{number}":
            raise InvalidValueError(
                f"camera_parameters: must have the name 'camera{number}', got {parameters.name!r}"
            )
        cameras.append(
            CalibratedCamera(
                parameters.camera_matrix,
                parameters.distortion_coefficients,
                parameters.tf_world_to_camera,
                (parameters.width, parameters.height),
                *CLIPPING,
                pybullet_client_id=pybullet_client_id,
            )
        )
    return CameraArray(cameras)


def create_trifinger_camera_array_from_config(
    config_dir: Path, calib_filename_pattern: str = "camera{id}.yml", pybullet_client_id: int = 0
) -> CameraArray:
    """Load calibration files and return the three calibrated cameras of the platform.

    Args:
        config_dir: Folder that contains the calibration files.
        calib_filename_pattern: Name of the calibration files; ``{id}`` is replaced by 60, 180 and 300.
        pybullet_client_id: Id of the simulation.
    """
    parameters = load_camera_parameters(config_dir, calib_filename_pattern)
    return create_trifinger_camera_array(parameters, pybullet_client_id)


def _size(image_size: Sequence[int]) -> tuple[int, int]:
    """Check the size of an image and return its width and height as integers [pixels]."""
    width, height = sizes("image_size", image_size, 2)
    return int(width), int(height)


def _planes(near: float, far: float) -> tuple[float, float]:
    """Check the distances of the clipping planes [m] and return them as floats."""
    first, last = sizes("near_plane_distance", near), sizes("far_plane_distance", far)
    if not first < last:
        raise InvalidValueError(f"far_plane_distance: must be > near_plane_distance ({near}), got {far}")
    return float(first), float(last)

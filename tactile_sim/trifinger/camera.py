"""Cameras of the TriFinger platform, rendered by MuJoCo.

`Camera` is a pinhole camera with a specified field of view. `CalibratedCamera` has the camera matrix and the
lens distortion of a real camera. Each camera belongs to a simulation, by default the one with id 0. On a
machine that cannot render, requesting an image raises `RenderingError`. Invalid arguments raise
`InvalidValueError`.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import mujoco
import numpy as np
import yaml
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from tactile_sim.scenes.camera import Lens, distort
from tactile_sim.scenes.renderer import Renderer, View
from tactile_sim.trifinger.checks import InvalidValueError, numbers, quaternion, sizes
from tactile_sim.trifinger.sim_finger import SimFinger, find_simulation

CAMERA_IDS = (60, 180, 300)
"""Ids of the platform's three cameras, as in the names camera60, camera180 and camera300."""
CALIBRATIONS = Path(__file__).parent / "data" / "camera_params"
"""Folder that contains the calibration files of the platform's cameras.

Each camera id has three files: ``camera{id}_full.yml``, ``camera{id}_cropped.yml`` and
``camera{id}_cropped_and_downsampled.yml``.
"""
PLATFORM = "camera{id}_cropped_and_downsampled.yml"
"""Calibration files of the images that the platform provides."""
CLIPPING = 0.02, 2.0
"""Distances of the near and far clipping planes [m]."""


def calib_data_to_matrix(data: Mapping[str, Any]) -> np.ndarray:
    """Convert a mapping with ``rows``, ``cols`` and ``data``, as in ROS's calibrations, to a matrix."""
    return np.array(data["data"], dtype=float).reshape(data["rows"], data["cols"])


def _matrix_to_data(matrix: np.ndarray) -> dict[str, Any]:
    rows, columns = np.atleast_2d(matrix).shape
    return {"rows": rows, "cols": columns, "data": np.ravel(matrix).tolist()}


class CameraParameters(NamedTuple):
    """Calibration of a camera."""

    name: str
    width: int
    """Width of the images [pixels]."""
    height: int
    """Height of the images [pixels]."""
    camera_matrix: np.ndarray
    """(3, 3) focal lengths and principal point [pixels]. Pixel centers have integer coordinates."""
    distortion_coefficients: np.ndarray
    """(5,) lens distortion coefficients k1, k2, p1, p2 and k3, as defined by OpenCV."""
    tf_world_to_camera: np.ndarray
    """(4, 4) transform from the world to the camera frame (x right, y down, z forwards)."""

    @classmethod
    def load(cls, stream: TextIO) -> CameraParameters:
        """Load an open YAML file with ROS camera calibration keys and ``tf_world_to_camera``."""
        data = yaml.safe_load(stream)
        return cls(
            data["camera_name"],
            data["image_width"],
            data["image_height"],
            calib_data_to_matrix(data["camera_matrix"]),
            calib_data_to_matrix(data["distortion_coefficients"])[0],
            calib_data_to_matrix(data["tf_world_to_camera"]),
        )

    def dump(self, stream: TextIO) -> None:
        """Write a YAML file that `load` can read."""
        data = {
            "camera_name": self.name,
            "image_width": int(self.width),
            "image_height": int(self.height),
            "camera_matrix": _matrix_to_data(self.camera_matrix),
            "distortion_coefficients": _matrix_to_data(self.distortion_coefficients),
            "tf_world_to_camera": _matrix_to_data(self.tf_world_to_camera),
        }
        yaml.safe_dump(data, stream, sort_keys=False)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Return the column and row (n, 2) [pixels] at which points (n, 3) in the world [m] are seen."""
        seen = points @ self.tf_world_to_camera[:3, :3].T + self.tf_world_to_camera[:3, 3]
        rays = distort(seen[:, :2] / seen[:, 2:], self.distortion_coefficients)
        return rays @ self.camera_matrix[:2, :2].T + self.camera_matrix[:2, 2]


def load_camera_parameters(
    config_dir: Path, filename_pattern: str = "camera{id}.yml"
) -> tuple[CameraParameters, ...]:
    """Load the calibrations of the three cameras.

    Args:
        config_dir: Folder that contains the calibration files.
        filename_pattern: Name of the calibration files; ``{id}`` is replaced by 60, 180 and 300.
    """
    parameters = []
    for number in CAMERA_IDS:
        with open(Path(config_dir) / filename_pattern.format(id=number)) as file:
            parameters.append(CameraParameters.load(file))
    return tuple(parameters)


class BaseCamera:
    """Base class of cameras that render a simulation from a fixed pose."""

    def __init__(self, view: View, size: tuple[int, int], pybullet_client_id: int):
        """Create a camera from a pose and frustum, and from the width and height of images [pixels]."""
        self._view = view
        self._drawn = self._size = size
        self._simulation = find_simulation(pybullet_client_id)

    def get_width(self) -> int:
        """Return the width of the images [pixels]."""
        return self._size[0]

    def get_height(self) -> int:
        """Return the height of the images [pixels]."""
        return self._size[1]

    def get_image(self, renderer: object = None) -> np.ndarray:
        """Return an image of the current state: uint8 (height, width, 3), RGB.

        Args:
            renderer: Ignored; trifinger_simulation uses it to select PyBullet's renderer.

        Raises:
            RenderingError: This machine cannot render.
        """
        shared = _renderer_of(self._simulation)
        shared.set_state(self._simulation.physics.data)
        return shared.image(self._view, *self._drawn)[0]


class Camera(BaseCamera):
    """Pinhole camera whose optical axis passes through the center of the image."""

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
        """
        rotation = Rotation.from_quat(quaternion("camera_orientation", camera_orientation))
        if not 0 < numbers("field_of_view", field_of_view) < 180:
            raise InvalidValueError(f"field_of_view: must be > 0 and < 180 degrees, got {field_of_view}")
        width, height = _checked_size(image_size)
        top = np.tan(np.deg2rad(field_of_view) / 2)
        right = top * width / height
        view = View(
            numbers("camera_position", camera_position, 3),
            rotation.apply((0, 0, 1)),
            rotation.apply((0, -1, 0)),
            (-right, right, -top, top),
            *_checked_planes(near_plane_distance, far_plane_distance),
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
        """
        matrix = numbers("camera_matrix", camera_matrix, 3, 3)
        coefficients = numbers("distortion_coefficients", distortion_coefficients, 5)
        transform = numbers("tf_world_to_camera", tf_world_to_camera, 4, 4)
        shown = _checked_size(image_size)
        self._lens = Lens(matrix, coefficients, shown)
        axes, position = transform[:3, :3], -transform[:3, :3].T @ transform[:3, 3]
        planes = _checked_planes(near_plane_distance, far_plane_distance)
        view = View(position, axes[2], -axes[1], self._lens.bounds, *planes)
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
        """Create the cameras, with the arguments of `Camera` other than position and orientation."""
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
        camera_parameters: Calibrations of camera60, camera180 and camera300, in this order.
        pybullet_client_id: Id of the simulation.
    """
    calibrations = list(camera_parameters)
    wanted, got = [f"camera{number}" for number in CAMERA_IDS], [each.name for each in calibrations]
    if wanted != got:
        raise InvalidValueError(f"camera_parameters: must have the names {wanted}, got {got}")
    return CameraArray(
        [
            CalibratedCamera(
                parameters.camera_matrix,
                parameters.distortion_coefficients,
                parameters.tf_world_to_camera,
                (parameters.width, parameters.height),
                *CLIPPING,
                pybullet_client_id=pybullet_client_id,
            )
            for parameters in calibrations
        ]
    )


def create_trifinger_camera_array_from_config(
    config_dir: Path, calib_filename_pattern: str = "camera{id}.yml", pybullet_client_id: int = 0
) -> CameraArray:
    """Load calibration files and return the three calibrated cameras; see `load_camera_parameters`."""
    parameters = load_camera_parameters(config_dir, calib_filename_pattern)
    return create_trifinger_camera_array(parameters, pybullet_client_id)


def rbg_to_bayer_bg(image: np.ndarray) -> np.ndarray:
    """Convert an RGB image (height, width, 3) to the Bayer pattern (height, width, 1) OpenCV calls BG.

    Red and green pixels alternate in even rows (0, 2, ...), green and blue pixels in odd rows. OpenCV's
    ``COLOR_BAYER_BG2RGB`` converts the pattern back to RGB.
    """
    out = image[:, :, 1:2].copy()
    out[::2, ::2, 0] = image[::2, ::2, 0]
    out[1::2, 1::2, 0] = image[1::2, 1::2, 2]
    return out


_renderers: weakref.WeakKeyDictionary[SimFinger, tuple[mujoco.MjModel, Renderer]] = (
    weakref.WeakKeyDictionary()
)
"""The renderer of each simulation, which all of its cameras share, and the model for which it was made."""


def _renderer_of(simulation: SimFinger) -> Renderer:
    """Return the renderer for the simulation's current model."""
    model = simulation.physics.model
    known = _renderers.get(simulation)
    if known is None or known[0] is not model:
        if known is not None:
            known[1].close()
        known = _renderers[simulation] = (model, Renderer(model))
    return known[1]


def _checked_size(image_size: Sequence[int]) -> tuple[int, int]:
    width, height = sizes("image_size", image_size, 2)
    return int(width), int(height)


def _checked_planes(near: float, far: float) -> tuple[float, float]:
    first, last = sizes("near_plane_distance", near), sizes("far_plane_distance", far)
    if not first < last:
        raise InvalidValueError(f"far_plane_distance: must be > near_plane_distance ({near}), got {far}")
    return float(first), float(last)

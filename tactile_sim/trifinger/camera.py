"""The cameras of the TriFinger platform, whose pictures MuJoCo draws.

:class:`Camera` is a pinhole with a field of view, :class:`CalibratedCamera` has a real camera's matrix and
lens. Both belong to a simulation, by default to the first that was made. A machine that
cannot draw says so when the first picture is asked for.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import map_coordinates
from scipy.spatial.transform import Rotation

from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.images.calibration import (  # noqa: F401 - programs look for all of these here
    CALIBRATIONS,
    CAMERA_IDS,
    CameraParameters,
    calib_data_to_matrix,
    load_camera_parameters,
)
from tactile_sim.trifinger.images.lens import undistort
from tactile_sim.trifinger.images.renderer import Renderer, View
from tactile_sim.trifinger.running import simulations
from tactile_sim.trifinger.values import numbers, quaternion, sizes

if TYPE_CHECKING:
    from tactile_sim.trifinger.sim_finger import SimFinger

_renderers: weakref.WeakKeyDictionary[SimFinger, tuple[Any, Renderer]] = weakref.WeakKeyDictionary()


class BaseCamera:
    """A camera of a simulation."""

    def __init__(self, view: View, size: tuple[int, int], pybullet_client_id: int):
        """view: of the pinhole; size: width and height of what it draws; the number of its simulation."""
        self._view = view
        self._drawn = self._size = size
        self._simulation = simulations.find(pybullet_client_id)

    def get_width(self) -> int:
        """Of its pictures [pixels]."""
        return self._size[0]

    def get_height(self) -> int:
        """Of its pictures [pixels]."""
        return self._size[1]

    def get_image(self, renderer: object = None) -> np.ndarray:
        """What it sees now: uint8 (height, width, 3), red, green, blue.

        Args:
            renderer: not used; programs name PyBullet's here.

        Raises:
            RenderingError: this machine cannot draw.
        """
        physics = self._simulation.physics
        return _renderer(self._simulation).image(physics.data, self._view, *self._drawn)


class Camera(BaseCamera):
    """A pinhole whose picture is even about its middle."""

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
        """Arguments:

        camera_position: (3,) in the world [m].
        camera_orientation: quaternion (x, y, z, w); the camera looks along its z axis, y points down.
        image_size: width and height [pixels].
        field_of_view: angle from the lower to the upper edge [degrees].
        near_plane_distance, far_plane_distance: nothing nearer or farther is drawn [m].
        pybullet_client_id: the number of its simulation.
        """
        rotation = Rotation.from_quat(quaternion("camera_orientation", camera_orientation))
        if not 0 < numbers("field_of_view", field_of_view) < 180:
            raise InvalidValueError(f"field_of_view is {field_of_view}; give degrees above 0, below 180")
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
    """A real camera: its focal lengths, its centre and its lens.

    A pinhole's picture, large enough for the lens, is drawn first and then bent.
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
        """Arguments as of :class:`CameraParameters` and :class:`Camera`."""
        matrix = numbers("camera_matrix", camera_matrix, 3, 3)
        coefficients = numbers("distortion_coefficients", distortion_coefficients, 5)
        transform = numbers("tf_world_to_camera", tf_world_to_camera, 4, 4)
        shown = _size(image_size)
        focal, center = matrix[[0, 1], [0, 1]], matrix[:2, 2]
        pixels = np.stack(np.meshgrid(*map(np.arange, shown)), axis=-1)
        rays = undistort((pixels - center) / focal, coefficients)
        # The pinhole's picture reaches from the middle of its first pixel to that of its last, and half a
        # pixel further, at the middle's resolution.
        first = np.nanmin(rays, axis=(0, 1))
        size = np.ceil((np.nanmax(rays, axis=(0, 1)) - first) * focal).astype(int) + 1
        self._seen = np.isfinite(rays).all(axis=-1, keepdims=True)
        self._columns, self._rows = np.moveaxis(np.where(self._seen, (rays - first) * focal, 0), -1, 0)
        (left, top), (right, bottom) = first - 0.5 / focal, first + (size - 0.5) / focal
        axes, position = transform[:3, :3], -transform[:3, :3].T @ transform[:3, 3]
        view = View(
            position,
            axes[2],
            -axes[1],
            (left, right, -bottom, -top),
            *_planes(near_plane_distance, far_plane_distance),
        )
        super().__init__(view, (int(size[0]), int(size[1])), pybullet_client_id)
        self._size = shown

    def distort_image(self, image: np.ndarray) -> np.ndarray:
        """What the lens makes of the pinhole's picture (rows, columns, channels); black where no ray is."""
        places = (self._rows, self._columns)
        channels = [
            map_coordinates(channel, places, order=1, mode="nearest") for channel in np.moveaxis(image, -1, 0)
        ]
        return np.stack(channels, axis=-1) * self._seen

    def get_image(self, renderer: object = None) -> np.ndarray:
        """What it sees now, as in :meth:`BaseCamera.get_image`."""
        return self.distort_image(super().get_image(renderer))


class CameraArray:
    """Cameras whose pictures are taken together."""

    def __init__(self, cameras: Sequence[BaseCamera]):
        self.cameras = cameras

    def get_images(self, renderer: object = None) -> list[np.ndarray]:
        """What each sees now; see :meth:`BaseCamera.get_image`."""
        return [camera.get_image(renderer) for camera in self.cameras]

    def get_bayer_images(self, renderer: object = None) -> list[np.ndarray]:
        """The same as Bayer patterns; see :func:`rbg_to_bayer_bg`."""
        return [rbg_to_bayer_bg(image) for image in self.get_images(renderer)]


class TriFingerCameras(CameraArray):
    """The platform's three cameras, as pinholes at about the real ones' places."""

    def __init__(self, **kwargs: Any):
        """kwargs: of each :class:`Camera`, but for its place."""
        places = (
            ([0.2496, 0.2458, 0.4190], [0.3760, 0.8690, -0.2918, -0.1354]),
            ([0.0047, -0.2834, 0.4558], [0.9655, -0.0098, -0.0065, -0.2603]),
            ([-0.2470, 0.2513, 0.3943], [-0.3633, 0.8686, -0.3141, 0.1220]),
        )
        super().__init__([Camera(position, orientation, **kwargs) for position, orientation in places])


def create_trifinger_camera_array(
    camera_parameters: Iterable[CameraParameters], pybullet_client_id: int = 0
) -> CameraArray:
    """The three cameras of their calibrations, in the order of :data:`CAMERA_IDS`.

    Raises:
        InvalidValueError: a ``ValueError``; one is named otherwise.
    """
    cameras = []
    for number, parameters in zip(CAMERA_IDS, camera_parameters, strict=False):
        if parameters.name != f"camera{number}":
            raise InvalidValueError(f"the calibration of camera{number} is that of {parameters.name!r}")
        cameras.append(
            CalibratedCamera(
                parameters.camera_matrix,
                parameters.distortion_coefficients,
                parameters.tf_world_to_camera,
                image_size=(parameters.width, parameters.height),
                near_plane_distance=0.02,
                far_plane_distance=2.0,
                pybullet_client_id=pybullet_client_id,
            )
        )
    return CameraArray(cameras)


def create_trifinger_camera_array_from_config(
    config_dir: Path, calib_filename_pattern: str = "camera{id}.yml", pybullet_client_id: int = 0
) -> CameraArray:
    """The three cameras of the calibrations in a folder; see :func:`load_camera_parameters`."""
    parameters = load_camera_parameters(config_dir, calib_filename_pattern)
    return create_trifinger_camera_array(parameters, pybullet_client_id)


def rbg_to_bayer_bg(image: np.ndarray) -> np.ndarray:
    """One channel a pixel of an RGB picture, (height, width, 1): R G in even rows, G B in odd ones.

    OpenCV calls this pattern BG: ``COLOR_BAYER_BG2RGB`` makes a picture of it.
    """
    out = image[:, :, 1:2].copy()
    out[::2, ::2, 0] = image[::2, ::2, 0]
    out[1::2, 1::2, 0] = image[1::2, 1::2, 2]
    return out


def _size(image_size: Sequence[int]) -> tuple[int, int]:
    """Width and height of a picture in whole pixels; ValueError where it has none."""
    width, height = sizes("image_size", image_size, 2)
    return int(width), int(height)


def _planes(near: float, far: float) -> tuple[float, float]:
    """The distances between which things are drawn; ValueError where there is no room between."""
    first, last = sizes("near_plane_distance", near), sizes("far_plane_distance", far)
    if not first < last:
        raise InvalidValueError(f"far_plane_distance is {far}; give more than near_plane_distance, {near}")
    return float(first), float(last)


def _renderer(simulation: SimFinger) -> Renderer:
    """That of the simulation's model as it is now."""
    model = simulation.physics.model
    known = _renderers.get(simulation)
    if known is None or known[0] is not model:
        if known is not None:
            known[1].close()
        known = _renderers[simulation] = (model, Renderer(model))
    return known[1]

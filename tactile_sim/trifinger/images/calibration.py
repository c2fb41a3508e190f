"""Load and store the calibrations of the platform's cameras."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import yaml

from tactile_sim.scenes.camera import distort

CAMERA_IDS = (60, 180, 300)
"""Ids of the platform's three cameras, as in the names camera60, camera180 and camera300."""

CALIBRATIONS = Path(__file__).parents[1] / "data" / "camera_params"
"""Folder that contains the calibration files of the platform's cameras.

Each camera id has three files: ``camera{id}_full.yml``, ``camera{id}_cropped.yml`` and
``camera{id}_cropped_and_downsampled.yml``.
"""

PLATFORM = "camera{id}_cropped_and_downsampled.yml"
"""Calibration files of the images that the platform provides."""
CLIPPING = 0.02, 2.0
"""Distances of the near and far clipping planes [m]."""


def calib_data_to_matrix(data: Mapping[str, Any]) -> np.ndarray:
    """Convert a mapping with ``rows``, ``cols`` and ``data`` to a matrix.

    Args:
        data: Mapping in the format of ROS's camera calibrations.
    """
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
    """(3, 3) camera matrix with focal lengths and principal point [pixels].

    Pixel centres have integer coordinates.
    """
    distortion_coefficients: np.ndarray
    """(5,) lens distortion coefficients k1, k2, p1, p2 and k3, as defined by OpenCV."""
    tf_world_to_camera: np.ndarray
    """(4, 4) transform from the world to the camera frame (x right, y down, z forwards)."""

    @classmethod
    def load(cls, stream: TextIO) -> CameraParameters:
        """Load a calibration from a YAML file with ROS camera calibration keys and ``tf_world_to_camera``.

        Args:
            stream: Open YAML file.
        """
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
        """Write a YAML file that `load` can read.

        Args:
            stream: File open for writing.
        """
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
        """Project points onto the image.

        Args:
            points: (n, 3) points in the world [m].

        Returns:
            (n, 2) column and row of each point [pixels].
        """
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

    def load(number: int) -> CameraParameters:
        with open(Path(config_dir) / filename_pattern.format(id=number)) as file:
            return CameraParameters.load(file)

    return tuple(load(number) for number in CAMERA_IDS)

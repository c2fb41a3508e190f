"""Calibrations of the platform's cameras, and the files they lie in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import yaml

from tactile_sim.trifinger.images.lens import distort

CAMERA_IDS = (60, 180, 300)
"""Of the three cameras, in their order."""

CALIBRATIONS = Path(__file__).parents[1] / "data" / "camera_params"
"""Shipped calibrations of the three: ``camera60_full.yml``, ``_cropped``, ``_cropped_and_downsampled``."""


def calib_data_to_matrix(data: Mapping[str, Any]) -> np.ndarray:
    """The matrix of a mapping with ``rows``, ``cols`` and ``data``."""
    return np.array(data["data"], dtype=float).reshape(data["rows"], data["cols"])


def _matrix_to_data(matrix: np.ndarray) -> dict[str, Any]:
    rows, columns = np.atleast_2d(matrix).shape
    return {"rows": rows, "cols": columns, "data": np.ravel(matrix).tolist()}


class CameraParameters(NamedTuple):
    """A camera's calibration."""

    name: str
    width: int
    """Of its pictures [pixels]."""
    height: int
    camera_matrix: np.ndarray
    """(3, 3): focal lengths and centre [pixels]; whole numbers are the middles of pixels."""
    distortion_coefficients: np.ndarray
    """(5,): k1, k2, p1, p2, k3."""
    tf_world_to_camera: np.ndarray
    """(4, 4) transforms points in the world into the camera's frame: x right, y down, z forwards."""

    @classmethod
    def load(cls, stream: TextIO) -> CameraParameters:
        """The calibration of a YAML file: ROS's keys, and ``tf_world_to_camera``."""
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
        """Writes what :meth:`load` reads."""
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
        """Pixels (n, 2), column and row, at which points (n, 3) of the world [m] are seen."""
        seen = points @ self.tf_world_to_camera[:3, :3].T + self.tf_world_to_camera[:3, 3]
        rays = distort(seen[:, :2] / seen[:, 2:], self.distortion_coefficients)
        return rays @ self.camera_matrix[:2, :2].T + self.camera_matrix[:2, 2]


def load_camera_parameters(
    config_dir: Path, filename_pattern: str = "camera{id}.yml"
) -> tuple[CameraParameters, ...]:
    """Calibrations of the three cameras, from files of a folder; ``{id}`` stands for 60, 180, 300."""

    def load(number: int) -> CameraParameters:
        with open(Path(config_dir) / filename_pattern.format(id=number)) as file:
            return CameraParameters.load(file)

    return tuple(load(number) for number in CAMERA_IDS)

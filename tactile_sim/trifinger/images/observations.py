"""Data classes for observations from the platform's cameras and from object tracking."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(slots=True)
class ObjectPose:
    """Tracked pose of the object in the world."""

    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """(3,) position of the object in the world [m]."""
    orientation: np.ndarray = field(default_factory=lambda: np.zeros(4))
    """(4,) orientation of the object in the world, quaternion (x, y, z, w)."""
    confidence: float = 1.0
    """Tracking confidence; always 1 in simulation."""


@dataclass(slots=True)
class CameraObservation:
    """Image from one camera, with its time stamp."""

    image: np.ndarray | None = None
    """(height, width, 3) uint8 RGB image, or None if cameras are disabled."""
    timestamp: float | None = None
    """Simulation time at which the image was taken [s]."""


def _three_cameras() -> list[CameraObservation]:
    return [CameraObservation() for _ in range(3)]


@dataclass(slots=True)
class TriCameraObservation:
    """Images that the three cameras took at the same time."""

    cameras: list[CameraObservation] = field(default_factory=_three_cameras)
    """Observations of camera60, camera180 and camera300."""


@dataclass(slots=True)
class TriCameraObjectObservation:
    """Images of the three cameras and pose of the object, captured at the same time."""

    cameras: list[CameraObservation] = field(default_factory=_three_cameras)
    """Observations of camera60, camera180 and camera300."""
    object_pose: ObjectPose = field(default_factory=ObjectPose)
    filtered_object_pose: ObjectPose = field(default_factory=ObjectPose)
    """Filtered pose of the object; equal to ``object_pose`` in simulation."""

"""What the platform's cameras, and the tracking of the object in their pictures, tell."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(slots=True)
class ObjectPose:
    """Where the object is, in the world."""

    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """(3,) [m]"""
    orientation: np.ndarray = field(default_factory=lambda: np.zeros(4))
    """Quaternion (x, y, z, w)."""
    confidence: float = 1.0
    """How sure the tracking is; here always wholly."""


@dataclass(slots=True)
class CameraObservation:
    """One camera's picture."""

    image: np.ndarray | None = None
    """uint8 (height, width, 3), red, green, blue; ``None`` where pictures were not asked for."""
    timestamp: float | None = None
    """When it was taken [s]."""


def _three_cameras() -> list[CameraObservation]:
    return [CameraObservation() for _ in range(3)]


@dataclass(slots=True)
class TriCameraObservation:
    """What the three cameras saw at one time."""

    cameras: list[CameraObservation] = field(default_factory=_three_cameras)
    """Of camera60, camera180 and camera300."""


@dataclass(slots=True)
class TriCameraObjectObservation:
    """What the three cameras saw at one time, and where the object was then."""

    cameras: list[CameraObservation] = field(default_factory=_three_cameras)
    """Of camera60, camera180 and camera300."""
    object_pose: ObjectPose = field(default_factory=ObjectPose)
    filtered_object_pose: ObjectPose = field(default_factory=ObjectPose)
    """The same in simulation."""

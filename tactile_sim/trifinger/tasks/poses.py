"""Define poses, and convert them to and from mappings and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.trifinger.errors import InvalidValueError, MissingKeyError
from tactile_sim.trifinger.tasks.goal_files import to_json


class Pose:
    """Pose in the world.

    Attributes:
        position: (3,) position [m].
        orientation: (4,) orientation as a quaternion (x, y, z, w).
    """

    def __init__(self, position: ArrayLike = (0, 0, 0), orientation: ArrayLike = (0, 0, 0, 1)):
        self.position = np.array(position, float)
        self.orientation = np.array(orientation, float)

    def to_dict(self) -> dict[str, np.ndarray]:
        """Convert the pose to a mapping with ``position`` and ``orientation``."""
        return {"position": self.position, "orientation": self.orientation}

    def to_json(self) -> str:
        """Convert the pose to JSON text with the keys of `to_dict`."""
        return goal_to_json(self)

    @classmethod
    def from_dict(cls, pose_dict: Mapping[str, Any]) -> Pose:
        """Create a pose from a mapping with ``position`` and ``orientation``.

        Args:
            pose_dict: Mapping with ``position`` (3,) [m] and ``orientation``, quaternion (x, y, z, w).

        Raises:
            InvalidValueError: The mapping does not describe a pose. The error is also a ``ValueError``, and a
                ``KeyError`` if a key is missing.
        """
        try:
            return cls(pose_dict["position"], pose_dict["orientation"])
        except KeyError:
            raise MissingKeyError(_no_pose(pose_dict)) from None
        except (TypeError, ValueError):
            raise InvalidValueError(_no_pose(pose_dict)) from None

    @classmethod
    def from_json(cls, json_str: str) -> Pose:
        """Create a pose from JSON text that `to_json` returned."""
        return goal_from_json(json_str)


class PoseLike(Protocol):
    """Any object with the attributes of a pose, such as the object pose in a camera observation."""

    position: np.ndarray
    orientation: np.ndarray


def goal_to_json(goal: Pose) -> str:
    """Convert a pose to JSON text."""
    return to_json(goal.to_dict())


def goal_from_json(json_string: str) -> Pose:
    """Create a pose from JSON text with ``position`` and ``orientation``.

    Args:
        json_string: The JSON text.

    Raises:
        ValueError: The text does not describe a pose.
    """
    return Pose.from_dict(json.loads(json_string))


def as_pose(pose: PoseLike | Mapping[str, Any]) -> PoseLike:
    """Return a pose unchanged, or convert a mapping to a pose.

    Args:
        pose: A pose or a mapping.

    Raises:
        InvalidValueError: The argument is neither a pose nor a mapping that describes one.
    """
    if isinstance(pose, Mapping):
        return Pose.from_dict(pose)
    if not (hasattr(pose, "position") and hasattr(pose, "orientation")):
        raise InvalidValueError(_no_pose(pose))
    return pose


def _no_pose(value: object) -> str:
    return f"pose: must have a position (x, y, z) and an orientation (x, y, z, w), got {value!r}"

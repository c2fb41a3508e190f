"""Limits and default values for the TriFingerPro's joints and for the object on its platform."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from tactile_sim.trifinger.checks import MissingPackageError
from tactile_sim.trifinger.finger_types_data import get_initial_joint_positions
from tactile_sim.trifinger.tasks import CUBE_WIDTH

n_joints = 9
n_fingers = 3
max_torque_Nm = 0.397
"""Limit of the torque action [N m].

It is slightly above the maximum torque of the motors (0.396 N m). Therefore, this maximum passes checks even
after conversion to float32.
"""
max_velocity_radps = 10


@dataclass(frozen=True)
class Limits:
    """Limits and default values of an action or observation, as float32 arrays of its shape."""

    low: np.ndarray
    high: np.ndarray
    default: np.ndarray

    @property
    def gym(self) -> Any:
        """Limits as a ``spaces.Box`` of ``gym``, or of ``gymnasium`` if ``gym`` is not installed.

        Raises:
            MissingPackageError: Neither package is installed. The error is also an ``ImportError``.
        """
        for package in ("gym", "gymnasium"):
            try:
                spaces = importlib.import_module(f"{package}.spaces")
            except ImportError:
                continue
            return spaces.Box(low=self.low, high=self.high, dtype=np.float64)
        raise MissingPackageError("gymnasium is required, but not installed; run: pip install gymnasium")


def _limits(low: object, high: object, default: object) -> Limits:
    return Limits(*(np.array(values, dtype=np.float32) for values in (low, high, default)))


robot_torque = _limits([-max_torque_Nm] * n_joints, [max_torque_Nm] * n_joints, [0] * n_joints)
"""Limits of the joint torques (9,) [N m]."""
robot_position = _limits(
    [-0.33, 0.0, -2.7] * n_fingers,
    [1.0, 1.57, 0.0] * n_fingers,
    get_initial_joint_positions("trifingerpro"),
)
"""Limits of the joint positions (9,) [rad]."""
robot_velocity = _limits([-max_velocity_radps] * n_joints, [max_velocity_radps] * n_joints, [0] * n_joints)
"""Limits of the joint velocities (9,) [rad/s]."""
object_position = _limits([-0.3, -0.3, 0], [0.3, 0.3, 0.3], [0, 0, CUBE_WIDTH / 2])
"""Limits of the object's position (3,) in the world [m]."""
object_orientation = _limits([-1] * 4, [1] * 4, [0, 0, 0, 1])
"""Limits of the object's orientation (4,), quaternion (x, y, z, w)."""

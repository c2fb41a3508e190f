"""Limits and defaults of the TriFingerPro's joints and of the cube on its platform."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from tactile_sim.trifinger.errors import MissingPackageError
from tactile_sim.trifinger.finger_types_data import get_initial_joint_positions
from tactile_sim.trifinger.tasks import move_cube

n_joints = 9
n_fingers = 3
max_torque_Nm = 0.397
"""A little above what the motors give (0.396), so that this number rounded to float32 passes a check."""
max_velocity_radps = 10


@dataclass(frozen=True)
class Limits:
    """float32 arrays of one shape: the least, the greatest and the usual value of each element."""

    low: np.ndarray
    high: np.ndarray
    default: np.ndarray

    @property
    def gym(self) -> Any:
        """The limits as a ``spaces.Box`` of ``gym``, or where that is not installed, of ``gymnasium``.

        Raises:
            ImportError: neither is installed.
        """
        for package in ("gym", "gymnasium"):
            try:
                spaces = importlib.import_module(f"{package}.spaces")
            except ImportError:
                continue
            return spaces.Box(low=self.low, high=self.high, dtype=np.float64)
        raise MissingPackageError("spaces need gymnasium, which is not installed: pip install gymnasium")


def _limits(low: object, high: object, default: object) -> Limits:
    return Limits(*(np.array(values, dtype=np.float32) for values in (low, high, default)))


robot_torque = _limits([-max_torque_Nm] * n_joints, [max_torque_Nm] * n_joints, [0] * n_joints)
"""(9,) [N m]"""
robot_position = _limits(
    [-0.33, 0.0, -2.7] * n_fingers,
    [1.0, 1.57, 0.0] * n_fingers,
    get_initial_joint_positions("trifingerpro"),
)
"""(9,) [rad]"""
robot_velocity = _limits([-max_velocity_radps] * n_joints, [max_velocity_radps] * n_joints, [0] * n_joints)
"""(9,) [rad/s]"""
object_position = _limits([-0.3, -0.3, 0], [0.3, 0.3, 0.3], [0, 0, move_cube.CUBE_WIDTH / 2])
"""(3,) [m]"""
object_orientation = _limits([-1] * 4, [1] * 4, [0, 0, 0, 1])
"""(4,) quaternion (x, y, z, w)"""

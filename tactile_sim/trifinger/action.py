"""What a robot is asked to do in one time step."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


class Action:
    """Torques, positions, or both, of all joints; arrays (n_joints,)."""

    torque: np.ndarray
    """[N m]"""
    position: np.ndarray
    """Where the joints are to go [rad]; NaN: this joint's position is not controlled."""
    position_kp: np.ndarray
    """Gain of the position's error [N m/rad]; NaN: the usual one."""
    position_kd: np.ndarray
    """Gain of the velocity [N m s/rad]; NaN: the usual one."""

    def __init__(
        self, torque: ArrayLike, position: ArrayLike, kp: ArrayLike | None = None, kd: ArrayLike | None = None
    ):
        """kp and kd: ``position_kp`` and ``position_kd``; all NaN where they are left out."""
        self.torque = np.asarray(torque)
        self.position = np.asarray(position)
        self.position_kp = np.full(self.position.shape, np.nan) if kp is None else np.asarray(kp)
        self.position_kd = np.full(self.position.shape, np.nan) if kd is None else np.asarray(kd)

"""Actions, which are joint commands for one time step."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


class Action:
    """Torque and position commands for all joints, as arrays (n_joints,)."""

    torque: np.ndarray
    """Torques [N m]."""
    position: np.ndarray
    """Desired positions [rad]; NaN disables position control of a joint."""
    position_kp: np.ndarray
    """Position gains [N m/rad]; NaN selects the default."""
    position_kd: np.ndarray
    """Velocity gains [N m s/rad]; NaN selects the default."""

    def __init__(
        self, torque: ArrayLike, position: ArrayLike, kp: ArrayLike | None = None, kd: ArrayLike | None = None
    ):
        """Create an action.

        Args:
            torque: (n_joints,) torques [N m].
            position: (n_joints,) desired positions [rad]; NaN disables position control of a joint.
            kp: (n_joints,) position gains [N m/rad]; all NaN by default.
            kd: (n_joints,) velocity gains [N m s/rad]; all NaN by default.
        """
        self.torque = np.asarray(torque)
        self.position = np.asarray(position)
        self.position_kp = np.full(self.position.shape, np.nan) if kp is None else np.asarray(kp)
        self.position_kd = np.full(self.position.shape, np.nan) if kd is None else np.asarray(kd)

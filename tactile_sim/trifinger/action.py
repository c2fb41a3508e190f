"""Actions, which are joint commands for one time step."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.trifinger.errors import InvalidValueError


class Action:
    """Torque and position commands for all joints, as arrays (n_joints,)."""

    torque: np.ndarray
    """Joint torques, which are added to those of the position control [N m]."""
    position: np.ndarray
    """Desired joint positions [rad]; NaN disables position control of a joint."""
    position_kp: np.ndarray
    """Position gain of each joint [N m/rad]; NaN selects the default gain."""
    position_kd: np.ndarray
    """Velocity gain of each joint [N m s/rad]; NaN selects the default gain."""

    def __init__(
        self, torque: ArrayLike, position: ArrayLike, kp: ArrayLike | None = None, kd: ArrayLike | None = None
    ):
        """Create an action.

        Args:
            torque: (n_joints,) torques, which are added to those of the position control [N m].
            position: (n_joints,) desired positions [rad]; NaN disables position control of a joint.
            kp: (n_joints,) position gains [N m/rad]. NaN selects the default gain; None means all NaN.
            kd: (n_joints,) velocity gains [N m s/rad]. NaN selects the default gain; None means all NaN.

        Raises:
            InvalidValueError: An argument is a nested sequence whose rows have different lengths.
        """
        self.torque = _array("torque", torque)
        self.position = _array("position", position)
        self.position_kp = np.full(self.position.shape, np.nan) if kp is None else _array("kp", kp)
        self.position_kd = np.full(self.position.shape, np.nan) if kd is None else _array("kd", kd)


def _array(what: str, values: ArrayLike) -> np.ndarray:
    """Convert values to an array, and raise InvalidValueError if rows have different lengths.

    Shape and element type are checked when the action is applied.
    """
    try:
        return np.asarray(values)
    except ValueError:
        raise InvalidValueError(f"action.{what}: must be one number for each joint, got {values!r}") from None

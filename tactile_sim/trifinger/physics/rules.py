"""Action rules, which compute the applied motor torques from the desired action.

For each joint, the rules first compute::

    τ = torque + kp (q* - q) - kd q̇

Here, q and q̇ are the position and velocity of the joint. The desired action contains the torque, the
position q* and, optionally, the gains kp and kd. If q* is NaN, τ is only the desired torque. Then τ is
clamped to the maximum motor torque, reduced by the safety gain times q̇, and clamped again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from tactile_sim import _core
from tactile_sim.arguments import as_array, described
from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.finger_types_data import get_number_of_fingers

MAX_MOTOR_TORQUE = 0.396
"""Maximum torque of a motor [N m]."""
SAFETY_KD = (0.08, 0.08, 0.04)
"""Safety damping gains of a finger's joints [N m s/rad]."""
GAINS: Mapping[str, tuple[Sequence[float], Sequence[float]]] = {
    "pro": ((15.0, 15.0, 9.0), (0.5, 1.0, 0.5)),
    "": ((10.0, 10.0, 10.0), (0.1, 0.3, 0.001)),
}
"""Position gains [N m/rad] and velocity gains [N m s/rad] of a finger's joints.

The key ``pro`` is for finger types whose names end in ``pro``, and the empty key is for all others.
"""


class Rules:
    """Action rules of a robot, with their gains and the desired action.

    Attributes:
        n: Number of joints.
        gains: (4, n) array that may be modified. The rows are kp [N m/rad], kd [N m s/rad], the safety gain
            [N m s/rad] and the maximum torque [N m].
        desired: (4, n) array with the desired action. The rows are torque [N m], position [rad], kp and kd.
            Values that are not set are NaN.
        applied: (3, n) array with the torque [N m], kp and kd that were applied in the last step.
    """

    def __init__(self, finger_type: str):
        """Create rules with the default gains of a finger type.

        Raises:
            InvalidValueError: The finger type is unknown.
        """
        fingers = get_number_of_fingers(finger_type)
        self.n = 3 * fingers
        kp, kd = GAINS["pro" if finger_type.endswith("pro") else ""]
        self.gains = np.array([np.tile(row, fingers) for row in (kp, kd, SAFETY_KD, (MAX_MOTOR_TORQUE,) * 3)])
        self.desired = np.full((4, self.n), np.nan)
        self.applied = np.zeros((3, self.n))
        self.rest()

    def rest(self) -> None:
        """Set the desired action to zero torque without position control."""
        self.desired[:] = np.nan
        self.desired[0] = 0.0

    def desire(self, torque: ArrayLike, position: ArrayLike, kp: ArrayLike, kd: ArrayLike) -> None:
        """Set the desired action.

        Args:
            torque: (n,) torques, which are added to those of the position control [N m].
            position: (n,) desired positions [rad]; NaN disables position control.
            kp: (n,) position gains [N m/rad]; NaN selects the default.
            kd: (n,) velocity gains [N m s/rad]; NaN selects the default.

        Raises:
            InvalidValueError: An array has the wrong shape, or a torque is NaN. The action does not change.
        """
        desired = np.empty((4, self.n))
        for row, values in enumerate((torque, position, kp, kd)):
            if type(values) is not np.ndarray or values.dtype != float or values.shape != (self.n,):
                values = self._row(row, values)
            desired[row] = values
        if np.isnan(desired[0]).any():
            joint = int(np.isnan(desired[0]).argmax())
            raise InvalidValueError(
                f"action.torque: must be a number, got NaN for joint {joint}; use 0 for no torque"
            )
        self.desired = desired

    def _row(self, row: int, values: ArrayLike) -> np.ndarray:
        """Check the values for a row of ``desired`` and convert them to floats (n,).

        Raises:
            InvalidValueError: The values are not n real numbers.
        """
        what = ("torque", "position", "position_kp", "position_kd")[row]
        array = as_array(values)
        if array.shape != (self.n,):
            raise InvalidValueError(
                f"action.{what}: must be {self.n} numbers, one for each joint, got {described(values)}"
            )
        return array

    def apply(self, positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Compute the motor torques for the desired action and store them in ``applied``.

        Args:
            positions: (n,) joint positions [rad].
            velocities: (n,) joint velocities [rad/s].

        Returns:
            (n,) motor torques [N m]; a view of the first row of ``applied``.
        """
        _core.apply_rules(self.desired, self.gains, positions, velocities, self.applied)
        return self.applied[0]

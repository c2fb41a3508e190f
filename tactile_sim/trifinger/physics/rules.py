"""From the action that is desired to the one that is applied: position control and safety of the motors.

τ = torque + kp (q* - q) - kd q̇, the position control being 0 at joints whose position is NaN; then limited to
the motors' greatest torque, damped by the safety gains times q̇, and limited again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.compilation import kernel
from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.finger_types_data import get_number_of_fingers

MAX_MOTOR_TORQUE = 0.396
"""[N m]"""
SAFETY_KD = (0.08, 0.08, 0.04)
"""[N m s/rad] of the joints of a finger, as all gains."""
GAINS: Mapping[str, tuple[Sequence[float], Sequence[float]]] = {
    "pro": ((15.0, 15.0, 9.0), (0.5, 1.0, 0.5)),
    "": ((10.0, 10.0, 10.0), (0.1, 0.3, 0.001)),
}
"""Position and velocity gains by the end of a type's name."""


class Rules:
    """The rules of one robot and their gains, which may be changed: rows of one array.

    Attributes: ``n`` joints; ``gains`` (4, n): kp [N m/rad], kd, safety kd [N m s/rad] and greatest torques
    [N m]; ``desired`` (4, n): torque [N m], position [rad], kp and kd as they were asked for, NaN where
    nothing was; ``applied`` (3, n): torque, kp and kd that the rules made of them.
    """

    def __init__(self, finger_type: str):
        """The usual gains of a type; ValueError for an unknown one."""
        fingers = get_number_of_fingers(finger_type)
        self.n = 3 * fingers
        kp, kd = GAINS["pro" if finger_type.endswith("pro") else ""]
        self.gains = np.array([np.tile(row, fingers) for row in (kp, kd, SAFETY_KD, (MAX_MOTOR_TORQUE,) * 3)])
        self.desired = np.full((4, self.n), np.nan)
        self.applied = np.zeros((3, self.n))
        self.rest()

    def rest(self) -> None:
        """Desires nothing: no torque, no position."""
        self.desired[:] = np.nan
        self.desired[0] = 0.0

    def desire(self, torque: ArrayLike, position: ArrayLike, kp: ArrayLike, kd: ArrayLike) -> None:
        """Takes an action over, (n,) each; NaN: no position control, or the usual gain.

        Raises:
            ValueError: another number of joints, or a torque that is NaN. Nothing is taken over then.
        """
        desired = np.empty((4, self.n))
        for row, values in enumerate((torque, position, kp, kd)):
            if type(values) is not np.ndarray or values.dtype != float or values.shape != (self.n,):
                values = self._row(row, values)
            desired[row] = values
        if np.isnan(desired[0]).any():
            joint = int(np.isnan(desired[0]).argmax())
            raise InvalidValueError(f"action.torque of joint {joint} is NaN; give 0 where none is wanted")
        self.desired = desired

    def _row(self, row: int, values: ArrayLike) -> np.ndarray:
        """What is not (n,) floats as such; ValueError where it cannot be."""
        what = ("torque", "position", "position_kp", "position_kd")[row]
        array = np.asarray(values)
        if array.dtype.kind not in "iuf":
            raise InvalidValueError(
                f"action.{what} needs {self.n} numbers, one for each joint, not {values!r}"
            )
        if array.shape != (self.n,):
            raise InvalidValueError(
                f"action.{what} has the shape {array.shape}, the robot has {self.n} joints"
            )
        return array.astype(float)

    def apply(self, positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """(n,) torques [N m] for what is desired, at joint positions and velocities (n,)."""
        apply_rules(self.desired, self.gains, positions, velocities, self.applied)
        return self.applied[0]


@kernel("void(f8[:,::1], f8[:,::1], f8[::1], f8[::1], f8[:,::1])")
def apply_rules(desired, gains, positions, velocities, applied):
    """Fills applied (3, n) from desired and gains (4, n), as `Rules` names their rows."""
    for joint in range(desired.shape[1]):
        kp, kd = desired[2, joint], desired[3, joint]
        if np.isnan(kp):
            kp = gains[0, joint]
        if np.isnan(kd):
            kd = gains[1, joint]
        torque, velocity, most = desired[0, joint], velocities[joint], gains[3, joint]
        control = kp * (desired[1, joint] - positions[joint]) - kd * velocity
        if not np.isnan(control):
            torque += control
        torque = min(max(torque, -most), most) - gains[2, joint] * velocity
        applied[0, joint] = min(max(torque, -most), most)
        applied[1, joint] = kp
        applied[2, joint] = kd

"""The observed state of a robot, and a model of the push sensors in its tips."""

from __future__ import annotations

import numpy as np

SATURATION = 5.0
"""Approximate saturation force of the real robot's push sensors [N]."""
NO_CONTACT = 0.05
"""Reading of a push sensor without contact."""

PUSH_SENSORS = ("fingerpro", "trifingerpro")
"""Finger types whose push sensors react to contact, as in PyBullet. All others read `NO_CONTACT`."""


class Observation:
    """State of the joints and tips of a robot."""

    position: np.ndarray
    """(n_joints,) joint positions [rad]."""
    velocity: np.ndarray
    """(n_joints,) joint velocities [rad/s]."""
    torque: np.ndarray
    """(n_joints,) motor torques of the last step [N m]."""
    tip_force: np.ndarray
    """(n_fingers,) readings of the push sensors in the tips, from `NO_CONTACT` to 1.

    `SimFinger.tip_forces` returns the forces on the tips in newtons.
    """

    def __init__(self) -> None:
        """Create an empty observation."""
        self.position = self.velocity = self.torque = self.tip_force = np.empty(0)


def push_sensors(finger_type: str, forces: np.ndarray) -> np.ndarray:
    """Convert normal forces on the tips to push sensor readings.

    Args:
        finger_type: Finger type of the robot.
        forces: (n_fingers,) sum of the normal forces on each tip [N].

    Returns:
        (n_fingers,) readings from `NO_CONTACT` to 1.
    """
    if finger_type not in PUSH_SENSORS:
        return np.full(len(forces), NO_CONTACT)
    return np.minimum(forces / SATURATION + NO_CONTACT, 1.0)

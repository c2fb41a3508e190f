"""What a robot tells of itself in one time step."""

from __future__ import annotations

import numpy as np

SATURATION = 5.0
"""[N] that the real robot's push sensors measure at most, about."""
NO_CONTACT = 0.05
"""What they read without any touch."""

PUSH_SENSORS = ("fingerpro", "trifingerpro")
"""Types whose push sensors feel something, as in PyBullet; those of the others read `NO_CONTACT`."""


class Observation:
    """State of a robot's joints and tips."""

    position: np.ndarray
    """(n_joints,) [rad]"""
    velocity: np.ndarray
    """(n_joints,) [rad/s]"""
    torque: np.ndarray
    """(n_joints,) [N m]"""
    tip_force: np.ndarray
    """(n_fingers,) readings of the push sensors, `NO_CONTACT` to 1; `SimFinger.tip_forces` has newtons."""

    def __init__(self) -> None:
        """Empty; whoever makes it fills it."""
        self.position = self.velocity = self.torque = self.tip_force = np.empty(0)


def push_sensors(finger_type: str, forces: np.ndarray) -> np.ndarray:
    """(n_fingers,) what they read where the normal forces on each tip sum to these (n_fingers,) [N]."""
    if finger_type not in PUSH_SENSORS:
        return np.full(len(forces), NO_CONTACT)
    return np.minimum(forces / SATURATION + NO_CONTACT, 1.0)

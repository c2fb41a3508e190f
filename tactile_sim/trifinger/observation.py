"""What a robot tells of itself in one time step."""

from __future__ import annotations

import numpy as np

SATURATION = 5.0
"""[N] that the real robot's push sensors measure at most, about."""
NO_CONTACT = 0.05
"""What they read without any touch."""


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


def push_sensor(forces: np.ndarray) -> np.ndarray:
    """What push sensors read where all normal forces on each tip sum to these [N]."""
    return np.minimum(forces / SATURATION + NO_CONTACT, 1.0)

"""State and inputs of several environments."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from tactile_sim.arguments import LARGEST
from tactile_sim.engines.state_arrays import StateArrays

INPUTS = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "mocap_pos", "mocap_quat")
"""Names of the state and input arrays that determine the result of the next step."""


@dataclass
class BatchData(StateArrays):
    """State and inputs of n environments, with the names and order that MuJoCo uses."""

    qpos: np.ndarray
    """(n, nq) generalized positions [m, rad]."""
    qvel: np.ndarray
    """(n, nv) generalized velocities [m/s, rad/s]."""
    act: np.ndarray
    """(n, na) activations of stateful actuators."""
    ctrl: np.ndarray
    """(n, nu) controls of the actuators."""
    qfrc_applied: np.ndarray
    """(n, nv) generalized forces applied to joints [N m, N]."""
    mocap_pos: np.ndarray
    """(n, nmocap, 3) positions of the mocap bodies in the world [m]."""
    mocap_quat: np.ndarray
    """(n, nmocap, 4) orientations of the mocap bodies in the world, wxyz."""
    time: np.ndarray
    """(n, 1) time since the last reset of each environment [s]."""

    def copy(self) -> BatchData:
        """Return a copy of all arrays."""
        return BatchData(*(getattr(self, field.name).copy() for field in fields(self)))


def valid_rows(values: np.ndarray) -> np.ndarray:
    """Return a mask (n,) of the valid rows of ``values`` (n, k).

    A row is valid if all its elements are finite and their magnitudes are below `arguments.LARGEST`.
    """
    return (np.abs(values) < LARGEST).all(axis=1)

"""State and inputs of several environments."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from tactile_sim.arguments import LARGEST
from tactile_sim.engines.state_arrays import StateArrays

INPUTS = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "mocap_pos", "mocap_quat")
"""Names of the arrays that determine the next step."""


@dataclass
class BatchData(StateArrays):
    """State and inputs of n environments, with the names and order that MuJoCo uses."""

    qpos: np.ndarray
    """(n, nq) positions [m, rad]."""
    qvel: np.ndarray
    """(n, nv) velocities [m/s, rad/s]."""
    act: np.ndarray
    """(n, na) activations of stateful actuators."""
    ctrl: np.ndarray
    """(n, nu) controls."""
    qfrc_applied: np.ndarray
    """(n, nv) generalized forces applied to joints [N m, N]."""
    mocap_pos: np.ndarray
    """(n, nmocap, 3) positions of mocap bodies [m]."""
    mocap_quat: np.ndarray
    """(n, nmocap, 4) orientations of mocap bodies, wxyz."""
    time: np.ndarray
    """(n, 1) time since the last reset [s]."""

    def copy(self) -> BatchData:
        """Return a copy of all arrays."""
        return BatchData(*(getattr(self, field.name).copy() for field in fields(self)))


def valid_rows(values: np.ndarray) -> np.ndarray:
    """Return a mask (n,) of the rows of ``values`` (n, k) whose numbers are all finite and not too large."""
    return (np.abs(values) < LARGEST).all(axis=1)

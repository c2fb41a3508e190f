"""Convert readings to forces on the taxels: in body frames, or as pressure and shear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tactile_sim.skin import TOUCH_FUNCTIONS

if TYPE_CHECKING:
    from tactile_sim.simulation import Simulation
    from tactile_sim.snapshot import Snapshot


class TaxelForces:
    """Forces on the taxels of a simulation, independent of its touch function.

    If the touch function is a force, these are its readings, including the signal chain; the channel of
    ``normal`` acts along the taxel's normal. Otherwise (``slip``), they are the force vectors of the same
    step before any stage.
    """

    def __init__(self, simulation: Simulation):
        self._simulation = simulation
        self._bodies = simulation.skin_bodies[simulation.skin.body_index]
        self._normals = simulation.skin.normals
        self._axes = pad_axes(self._normals)

    def on_bodies(self, snapshot: Snapshot) -> np.ndarray:
        """Return forces (taxels, 3) in the frames of the bodies [N]."""
        function = TOUCH_FUNCTIONS[self._simulation.settings.skin.touch_function]
        if function.unit != "N" or function.channels not in (1, 3):
            return snapshot.sense("force_vector")
        readings = snapshot.taxels32.astype(float)
        if function.channels == 1:
            return -readings * self._normals
        if function.frame == "world":
            rotations = self._simulation.engine.body_rotations[self._bodies]
            return np.einsum("nji,nj->ni", rotations, readings)
        return readings

    def pressing(self, snapshot: Snapshot) -> np.ndarray:
        """Return the force (taxels,) on each taxel against its outward normal [N]."""
        return -np.einsum("ni,ni->n", self.on_bodies(snapshot), self._normals)

    def on_pads(self, snapshot: Snapshot) -> np.ndarray:
        """Return forces (taxels, 3) along the axes of each taxel, see `pad_axes` [N]."""
        return np.einsum("nij,nj->ni", self._axes, self.on_bodies(snapshot))


def pad_axes(normals: np.ndarray) -> np.ndarray:
    """Return the axes of taxels that are treated as flat pads, in body frames.

    Args:
        normals: Outward unit normals (n, 3).

    Returns:
        Axes x, y, z as rows (n, 3, 3). z points into the body, so that pressure is positive. x is the
        direction on the surface nearest to the body's x axis, or to its y axis if the normal is within 18
        degrees of x. y = z cross x.
    """
    along_x = np.abs(normals[:, 0]) > 0.95
    wanted = np.where(along_x[:, None], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    x = wanted - np.einsum("ni,ni->n", wanted, normals)[:, None] * normals
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.stack([x, np.cross(-normals, x), -normals], axis=1)

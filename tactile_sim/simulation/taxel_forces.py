"""What the taxels read, as forces, for those who know nothing else: on bodies, or as pressure and shear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tactile_sim.skin import TOUCH_FUNCTIONS

if TYPE_CHECKING:
    from tactile_sim.simulation import Simulation
    from tactile_sim.simulation.snapshot import Snapshot


class TaxelForces:
    """Forces of the taxels of a simulation, whatever its touch function tells.

    They are the readings, sensor stages included, where those are forces: the one channel of ``normal`` lies
    along the taxel's normal. Readings in another unit (``slip``) have no force in them: then it is the force
    vector of that very step, before any stage.
    """

    def __init__(self, simulation: Simulation):
        self._simulation = simulation
        self._bodies = simulation.skin_bodies[simulation.skin.pad_index]
        self._normals = simulation.skin.normals
        self._axes = pad_axes(self._normals)

    def on_bodies(self, snapshot: Snapshot) -> np.ndarray:
        """(taxels, 3) in the frame of each taxel's body [N]."""
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
        """(taxels,) the part that presses on each taxel, against its outward normal [N]."""
        return -np.einsum("ni,ni->n", self.on_bodies(snapshot), self._normals)

    def on_pads(self, snapshot: Snapshot) -> np.ndarray:
        """(taxels, 3) along the axes of each taxel as a flat pad, see `pad_axes` [N]."""
        return np.einsum("nij,nj->ni", self._axes, self.on_bodies(snapshot))


def pad_axes(normals: np.ndarray) -> np.ndarray:
    """Axes of taxels seen as flat pads, in the frames of their bodies.

    normals (n, 3): outward, unit. Returns (n, 3, 3), rows x, y, z: z into the body, so that what presses is
    positive; x the direction on the surface nearest to the body's x axis, or to its y axis where the normal
    lies within 18 degrees of x; y = z cross x.
    """
    along_x = np.abs(normals[:, 0]) > 0.95
    wanted = np.where(along_x[:, None], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    x = wanted - np.einsum("ni,ni->n", wanted, normals)[:, None] * normals
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.stack([x, np.cross(-normals, x), -normals], axis=1)

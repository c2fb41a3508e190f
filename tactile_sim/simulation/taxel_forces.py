"""Convert readings to forces in the frames of bodies or taxels, for standard message types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tactile_sim.skin import TOUCH_FUNCTIONS, TouchFunction

if TYPE_CHECKING:
    from tactile_sim.simulation import Simulation
    from tactile_sim.simulation.snapshot import Snapshot


class TaxelForces:
    """Forces on a simulation's taxels, for any touch function.

    Readings in newtons are used directly, with the effects of the signal chain. Those of the touch function
    ``normal`` have one channel, the force against the taxel's outward normal. If readings have another unit,
    as those of ``slip`` do, the force vectors of the same step are used instead, without the signal chain.
    """

    def __init__(self, simulation: Simulation):
        self._simulation = simulation
        skin = simulation.skin
        self._bodies = skin.pad_bodies[skin.pad_index]
        self._axes = skin.axes
        self._inward = -skin.normals
        self._directions: dict[str, np.ndarray | None] = {}
        """Results of `_direction` by the default touch function."""

    def on_bodies(self, snapshot: Snapshot, readings: np.ndarray | None = None) -> np.ndarray:
        """Return the force on each taxel in the frame of its body (taxels, 3) [N].

        Args:
            snapshot: Snapshot of the current state.
            readings: Readings (taxels, channels); those of the snapshot by default.
        """
        readings = snapshot.readings32 if readings is None else readings
        touch, *others = self._simulation.functions.by_quantity()
        out = self._on_bodies(snapshot, readings, TOUCH_FUNCTIONS[touch[0]])
        for name, rows in others:
            out[rows] = self._on_bodies(snapshot, readings, TOUCH_FUNCTIONS[name])[rows]
        return out

    def _on_bodies(self, snapshot: Snapshot, readings: np.ndarray, function: TouchFunction) -> np.ndarray:
        """Return the forces (taxels, 3) as if all pads used this touch function."""
        if function.unit != "N" or function.channels not in (1, 3):
            return snapshot.ideal_readings("force_vector")
        readings = readings[:, : function.channels].astype(float)
        if function.channels == 1:
            return readings * self._inward
        if function.frame == "taxel":
            return np.einsum("nji,nj->ni", self._axes, readings * [1.0, 1.0, -1.0])
        if function.frame == "world":
            rotations = self._simulation.engine.body_rotations[self._bodies]
            return np.einsum("nji,nj->ni", rotations, readings)
        return readings

    def inward(self, snapshot: Snapshot) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors (taxels, c) and (taxels or 1, c) whose products are the normal forces [N].

        Forces are positive against the outward normals of the taxels.
        """
        direction = self.direction()
        if direction is None:
            return self.on_bodies(snapshot), self._inward
        return snapshot.viewed, direction

    def direction(self) -> np.ndarray | None:
        """Return vectors (taxels or 1, channels) whose products with readings are normal forces, or None."""
        common = self._simulation.settings.skin.touch_function
        if common not in self._directions:
            self._directions[common] = self._direction()
        return self._directions[common]

    def _direction(self) -> np.ndarray | None:
        """Return the vectors whose products with readings are normal forces, if that is possible."""
        (name, _), *others = self._simulation.functions.by_quantity()
        function = TOUCH_FUNCTIONS[name]
        if others or function.unit != "N" or function.channels not in (1, 3) or function.frame == "world":
            return None
        if function.channels == 1 or function.frame == "taxel":
            return np.eye(function.channels)[-1:]
        return self._inward

    def pressing(self, snapshot: Snapshot) -> np.ndarray:
        """Return the normal force (taxels,) on each taxel, positive against its outward normal [N]."""
        return (np.multiply(*self.inward(snapshot))).sum(axis=1)

    def on_pads(self, snapshot: Snapshot) -> np.ndarray:
        """Return the force on each taxel along its two tangents and its inward normal (taxels, 3) [N]."""
        along = np.einsum("nij,nj->ni", self._axes, self.on_bodies(snapshot))
        return along * [1.0, 1.0, -1.0]

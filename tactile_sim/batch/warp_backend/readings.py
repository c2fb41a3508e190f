"""Compute the readings of a skin in MuJoCo Warp environments."""

from __future__ import annotations

from typing import Any

import numpy as np

from tactile_sim.batch.readings import Readings
from tactile_sim.batch.warp_backend.skin import WarpSkin
from tactile_sim.batch.warp_backend.worlds import WarpWorlds
from tactile_sim.simulation import Simulation
from tactile_sim.skin.many import ManyReadings


class WarpReadings(Readings):
    """Readings computed by Warp. Sampling and signal chains run on the CPU, as with backend ``mujoco``."""

    def __init__(self, simulation: Simulation, worlds: WarpWorlds, seed: int):
        """Create the skin on the device and the signal chains. Environment k uses the seed ``seed + k``."""
        settings = simulation.settings.skin
        self.skin = WarpSkin(
            simulation.skin, settings.touch_function, settings.response_function, worlds.device_contacts,
            simulation.settings.source,
        )  # fmt: skip
        self._environments, self._stale = worlds, False
        super().__init__(simulation, worlds, seed)

    @property
    def ideal(self) -> ManyReadings:
        """Readings of the recorded states, before sampling and signal chain; copied from a GPU if needed."""
        if self._stale:
            self._felt, self._stale = self._make_readings(), False
        return self._felt

    @property
    def sparse(self) -> bool:
        """Always False, so reductions visit all taxels."""
        return False

    @property
    def device_arrays(self) -> dict[str, Any]:
        """Device arrays, keyed by name; includes ``readings`` only without sampling and signal chain."""
        arrays = {"wrenches": self.skin.wrenches}
        return arrays | {"readings": self.skin.readings} if self.exact else arrays

    def update(self) -> None:
        """Compute the ideal readings of the recorded states."""
        self.skin.update(self._environments.recorded["xpos"], self._environments.recorded["xmat"])
        self._stale = True

    def _make_readings(self, channels: int = 0) -> ManyReadings:
        taxels, wrenches = self.skin.readings.numpy(), self.skin.wrenches.numpy()
        return ManyReadings(taxels, np.empty((0, 0), np.int32), np.empty(0, np.int32), wrenches)

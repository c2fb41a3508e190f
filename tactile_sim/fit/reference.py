"""Compute how a force on a taxel of an ideal skin spreads over a pad, and how cross-talk mixes loads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tactile_sim.config import Settings, match
from tactile_sim.errors import CommandError, suggest
from tactile_sim.fit.recording import Recording, pressed_taxels
from tactile_sim.signal_chain import SignalChain
from tactile_sim.simulation import Simulation
from tactile_sim.skin import Loads

FORCES = ("normal", "normal_force", "force_vector", "force_vector_taxel", "force_vector_global")
"""Touch functions whose readings include the normal force [N]."""


@dataclass(frozen=True)
class Reference:
    """Ideal skin of a pad with m taxels, with which a recording is compared."""

    pad: str
    normals: np.ndarray
    """(m, 3) outward normals of the taxels, in the frame of the pad's body."""
    positions: np.ndarray
    """(m, 3) positions of the taxels, in the frame of the pad's body [m]."""
    spread: np.ndarray
    """(m, m) readings of all taxels for a unit force on one taxel; row k is for a force on taxel k."""
    cross_talk: np.ndarray
    """(m, m) loads of all taxels after full cross-talk of a unit load; row k is for a load on taxel k."""
    sigma: float
    """Configured width of the cross-talk [m]; 0 limits it to the nearest neighbours."""
    stages: dict[str, dict[str, Any]]
    """Configured stages of the pad."""
    quantity: str
    """Touch function of the pad."""

    @classmethod
    def of(cls, settings: Settings, pad: str) -> Reference:
        """Compute the ideal skin of a configured pad.

        Args:
            settings: Configuration that contains the pad.
            pad: Name of the pad.

        Raises:
            TactileSimError: The pad or the scene is invalid.
        """
        simulation = Simulation(settings)
        skin, names = simulation.skin, [pad.name for pad in simulation.skin.pads]
        if pad not in names:
            raise CommandError(f"{settings.source}: no pad {pad!r}{suggest(pad, names)}")
        found = skin.pads[names.index(pad)]
        taxels = np.arange(found.start, found.stop)
        response = simulation.functions.responses[names.index(pad)]
        spread = np.zeros((len(taxels), len(taxels)))
        loads = Loads.empty(1)
        loads.body[:] = np.searchsorted(skin.body_ids, found.body_id)
        loads.radius[:] = 0.01
        for k, taxel in enumerate(taxels):
            loads.point[0], loads.normal[0] = skin.positions[taxel], -skin.normals[taxel]
            loads.patch[:] = np.searchsorted(skin.patch_offsets, taxel, side="right") - 1
            loads.force[0] = loads.force_world[0] = -skin.normals[taxel]
            felt = skin.readings_from_loads(loads, "force_vector", response)[taxels]
            spread[k] = -np.einsum("mc,mc->m", felt, skin.normals[taxels])
        table = simulation.stages  # including those of presets
        configured = match(table, names, settings.source, "pad").get(pad)
        stages = dict(table[configured]) if configured else {}
        width = stages.get("cross_talk", {}).get("sigma", 0.0)
        sigma = float(np.mean(width))  # the mean of a range
        kernel = {pad: {"cross_talk": {"share": 1.0, "sigma": sigma}}}
        chain = SignalChain(skin, kernel, simulation.engine.timestep)
        mixed = np.zeros_like(spread)
        for k, taxel in enumerate(taxels):
            reading = np.zeros((len(skin.positions), 1))
            reading[taxel] = 1.0
            mixed[k] = chain.read(0, reading)[taxels, 0]
        quantity = simulation.functions.quantities[names.index(pad)]
        return cls(pad, skin.normals[taxels], skin.positions[taxels], spread, mixed, sigma, stages, quantity)

    def require_force(self) -> None:
        """Check that the pad's readings include the normal force.

        Raises:
            CommandError: The readings do not include the normal force.
        """
        if self.quantity not in FORCES:
            raise CommandError(
                f"pad {self.pad!r}: its touch function must measure the normal force, as the reference does,"
                f" got {self.quantity!r}; use one of {', '.join(FORCES)}"
            )

    def loads(self, recording: Recording) -> tuple[np.ndarray, np.ndarray]:
        """Return the taxel loads (n, m) of a recording [N], and a mask (n,) of samples with known loads.

        Raises:
            CommandError: The recording has the wrong number of taxels, or it has only a force and the pad
                does not measure normal forces.
        """
        number = recording.readings.shape[1]
        if number != len(self.normals):
            raise CommandError(
                f"{recording.source}: pad {self.pad!r} has {len(self.normals)} taxels, got {number} readings"
            )
        if recording.loads is not None:
            return recording.loads, np.ones(len(recording.times), bool)
        assert recording.force is not None
        self.require_force()
        taxel = pressed_taxels(recording) if recording.taxel is None else recording.taxel
        loads = np.where((taxel >= 0)[:, None], recording.force[:, None] * self.spread[taxel], 0.0)
        return loads, taxel != -2

"""Estimate the memory that environments need."""

from __future__ import annotations

from pathlib import Path

import mujoco

from tactile_sim.engines.contacts import Contacts
from tactile_sim.errors import EngineError
from tactile_sim.simulation import Simulation
from tactile_sim.skin import TOUCH_FUNCTIONS

_CONTACTS = 32


def bytes_per_environment(simulation: Simulation) -> int:
    """Estimate the memory that one environment needs [bytes]."""
    model, skin = simulation.engine.model, simulation.skin
    channels = TOUCH_FUNCTIONS[simulation.settings.skin.touch_function].channels
    state = mujoco.mj_stateSize(model, int(mujoco.mjtState.mjSTATE_INTEGRATION))
    recorded = 12 * model.nbody + model.nv + model.nsensordata + 6 * len(skin.body_ids)
    contacts = _CONTACTS * (8 * Contacts.WIDTH + 4 * Contacts.IDS)
    chain, rate = simulation.signal_chain.of_pad(0), simulation.settings.rates.tactile
    kept = chain.bytes_per_environment(channels, rate)
    sampled = simulation.sampling is not None
    readings = 8 * (1 + sampled)
    if simulation.stages or sampled:
        readings += 4 if chain.staged.all() else 8
    return 8 * (state + recorded) + kept + contacts + len(skin.positions) * (4 + channels * readings)


def check_memory(num_envs: int, each: int, available: int | None) -> None:
    """Raise EngineError if the environments do not fit in memory.

    Args:
        num_envs: Number of environments.
        each: Memory per environment [bytes].
        available: Free memory [bytes]; None if unknown.
    """
    if available is not None and each * num_envs > available:
        raise EngineError(
            f"num_envs: {num_envs} environments need {each * num_envs / 2**30:.3g} GiB, but"
            f" {available / 2**30:.3g} GiB are free; use at most {available // each}"
        )


def free_memory() -> int | None:
    """Return the free memory [bytes], or None if the system does not report it."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None

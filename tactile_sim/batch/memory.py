"""Memory that environments need."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np

from tactile_sim.engines.contacts import Contacts
from tactile_sim.errors import EngineError
from tactile_sim.signal_chain import STAGES
from tactile_sim.simulation import Simulation
from tactile_sim.skin import TOUCH_FUNCTIONS

_CONTACTS = 32


def bytes_per_environment(simulation: Simulation) -> int:
    """Return about how much memory an environment needs, in bytes."""
    model, skin = simulation.engine.model, simulation.skin
    channels = TOUCH_FUNCTIONS[simulation.settings.skin.touch_function].channels
    state = mujoco.mj_stateSize(model, int(mujoco.mjtState.mjSTATE_INTEGRATION))
    recorded = 12 * model.nbody + model.nv + model.nsensordata + 6 * len(skin.body_ids)
    contacts = _CONTACTS * (8 * Contacts.WIDTH + 4 * Contacts.IDS)
    arrays = 1 + _kept_arrays(simulation)
    return 8 * (state + recorded) + contacts + len(skin.positions) * (4 + 8 * channels * arrays)


def _kept_arrays(simulation: Simulation) -> int:
    """Return about how many arrays of readings sampling and signal chain keep."""
    settings = simulation.settings
    stages = list(simulation.stages.values())
    kept = 1 if stages or simulation.sampling else 0  # the output
    kept += simulation.sampling is not None
    for name in {name for entry in stages for name in entry if STAGES[name].has_memory}:
        longest = max(float(np.max(entry.get(name, {}).get("time", 0.0))) for entry in stages)
        kept += 2 + math.ceil(longest * settings.rates.tactile) if name == "delay" else 2
    return kept


def check_memory(simulation: Simulation, num_envs: int) -> None:
    """Raise EngineError if memory does not hold the environments."""
    available = _available()
    each = bytes_per_environment(simulation)
    if available is not None and each * num_envs > available:
        raise EngineError(
            f"num_envs: {num_envs} environments need {each * num_envs / 2**30:.3g} GiB, but"
            f" {available / 2**30:.3g} GiB are free; use at most {available // each}"
        )


def _available() -> int | None:
    """Return the free memory in bytes, None where the system does not report it."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None

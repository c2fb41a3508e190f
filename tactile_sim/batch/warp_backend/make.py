"""Create the environments and readings of a batch on a Warp device."""

from __future__ import annotations

from tactile_sim.batch.memory import bytes_per_environment, check_memory, free_memory
from tactile_sim.batch.warp_backend.device import device_named
from tactile_sim.batch.warp_backend.elastic.arrays import MEMORY
from tactile_sim.batch.warp_backend.model import bytes_of_data
from tactile_sim.batch.warp_backend.readings import WarpReadings
from tactile_sim.batch.warp_backend.worlds import WarpWorlds
from tactile_sim.errors import EngineError
from tactile_sim.simulation import Simulation


def make(
    simulation: Simulation, num_envs: int, device: str | None, seed: int
) -> tuple[WarpWorlds, WarpReadings]:
    """Create the environments of a `Batch`, and the object that computes their readings, on a Warp device.

    Raises:
        EngineError: The device does not exist, the environments do not fit in its memory, or MuJoCo Warp does
            not support the scene.
        ConfigError: The touch or response function, or the measure of distance, is not supported.
    """
    chosen, model = device_named(device), simulation.engine.model
    each = bytes_of_data(model) + bytes_per_environment(simulation)
    if chosen.is_cuda and simulation.settings.skin.response_function == "elastic_foundation":
        each += MEMORY
    check_memory(num_envs, each, chosen.free_memory if chosen.is_cuda else free_memory())
    try:
        worlds = WarpWorlds(model, num_envs, chosen)
        return worlds, WarpReadings(simulation, worlds, seed)
    except RuntimeError as error:
        if "alloc" not in str(error):
            raise
        raise EngineError(f"num_envs: not enough memory on {chosen}, got {num_envs}; use fewer") from None

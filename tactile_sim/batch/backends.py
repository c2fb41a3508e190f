"""Backends that step the environments of a batch, and checks for unsupported arguments and configurations."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import mujoco

from tactile_sim.batch.readings import Readings
from tactile_sim.common.errors import ConfigError, EngineError
from tactile_sim.common.schema import known, whole
from tactile_sim.config import configured_scene
from tactile_sim.engines import Contacts, Environments
from tactile_sim.engines.environments import MujocoEnvironments
from tactile_sim.simulation import Simulation
from tactile_sim.skin import TOUCH_FUNCTIONS

_LOG = logging.getLogger("tactile_sim.batch")
BACKENDS = ("mujoco", "warp", "motrix")
"""Names of the backends."""
_CONTACTS = 32


def check_arguments(num_envs: int, backend: str, device: str | None, seed: int, threads: int) -> None:
    """Raise EngineError if an argument of `Batch` is invalid."""
    known("backend: no backend", backend, BACKENDS, EngineError)
    if device is not None and not isinstance(device, str):
        raise EngineError(f"device: must be a name such as 'cpu' or 'cuda:0', got {device!r}")
    if backend != "warp" and device not in (None, "cpu"):
        raise EngineError(f"device: backend {backend!r} runs on 'cpu', got {device!r}; leave it out")
    for name, value, least in (("num_envs", num_envs, 1), ("seed", seed, 0), ("threads", threads, 0)):
        whole(name, value, least, error=EngineError)


def check_configuration(simulation: Simulation, backend: str) -> None:
    """Raise TactileSimError if a configuration cannot be run in several environments."""
    checked = simulation.settings
    if checked.engine == "motrix" != backend:
        raise EngineError(
            f"{checked.source}: engine: is 'motrix', got backend {backend!r}; use backend='motrix'"
        )
    if checked.engine not in ("mujoco", "motrix"):
        raise EngineError(
            f"{checked.source}: engine: must be 'mujoco' or 'motrix' for several environments with skin, got"
            f" {checked.engine!r}; it steps one environment in Python"
        )
    if checked.command_timeout:
        raise ConfigError(
            f"{checked.source}: command_timeout: must be 0 for several environments, got"
            f" {checked.command_timeout:g}; write new controls instead"
        )
    if flexes := simulation.flex_pads:
        pad = simulation.skin.pads[flexes.pads[0]].name
        raise ConfigError(f"{checked.source}: skin.pads.{pad}.flex: is not supported in several environments")
    if own := simulation.functions.own:
        raise ConfigError(
            f"{checked.source}: skin.pads.{own[0]}: must not have its own touch_function or"
            " response_function in several environments, whose readings are one array; set"
            " skin.touch_function or skin.response_function"
        )


def make_backend(
    simulation: Simulation,
    made: mujoco.MjSpec | mujoco.MjModel | None,
    num_envs: int,
    backend: str,
    device: str | None,
    seed: int,
    threads: int,
) -> tuple[Environments, Readings]:
    """Create the environments of a `Batch` and the object that computes their readings.

    ``made`` is the scene if it was built in Python, and ``seed`` that of the first environment; the other
    arguments are those of `Batch`.

    Raises:
        TactileSimError: The backend is not installed, does not support the configuration or the device, or
            the environments do not fit in memory.
    """
    try:
        if backend == "warp":
            return _on_warp(simulation, num_envs, device, seed)
        each = bytes_per_environment(simulation)
        check_memory(num_envs, each, free_memory())
        if backend == "motrix":
            worlds = _in_motrix(simulation, made, num_envs, threads, each)
        else:
            worlds = MujocoEnvironments(simulation.engine.model, num_envs, threads)
        return worlds, Readings(simulation, worlds, seed)
    except MemoryError:
        raise EngineError(f"num_envs: not enough memory, got {num_envs}; use fewer") from None


def _on_warp(
    simulation: Simulation, num_envs: int, device: str | None, seed: int
) -> tuple[Environments, Readings]:
    try:
        from tactile_sim.batch.warp import elastic_arrays, environments
        from tactile_sim.batch.warp.skin import WarpReadings
    except ModuleNotFoundError as error:
        if error.name not in ("mujoco_warp", "warp"):
            raise
        raise EngineError(
            "backend: 'warp' needs the package mujoco-warp, which is not installed:"
            " python -m pip install 'mujoco-warp>=4.0'"
        ) from None
    chosen, model = environments.device_named(device), simulation.engine.model
    each = environments.bytes_of_data(model) + bytes_per_environment(simulation)
    if chosen.is_cuda and simulation.settings.skin.response_function == "elastic_foundation":
        each += elastic_arrays.MEMORY
    check_memory(num_envs, each, chosen.free_memory if chosen.is_cuda else free_memory())
    try:
        worlds = environments.WarpEnvironments(model, num_envs, chosen)
        return worlds, WarpReadings(simulation, worlds, seed)
    except RuntimeError as error:
        if "alloc" not in str(error):
            raise
        raise EngineError(f"num_envs: not enough memory on {chosen}, got {num_envs}; use fewer") from None


def _in_motrix(
    simulation: Simulation,
    made: mujoco.MjSpec | mujoco.MjModel | None,
    num_envs: int,
    threads: int,
    each: int,
) -> Environments:
    from tactile_sim.engines.motrix_environments import MotrixEnvironments, bytes_of_contacts

    settings = replace(simulation.settings, engine="motrix")
    spec, model = configured_scene(settings, made)
    assert spec is not None  # engine 'motrix' rejects compiled models
    check_memory(num_envs, each + bytes_of_contacts(model), free_memory())
    bodies = simulation.skin_bodies.tolist() if settings.contacts == "skin" else None
    worlds = MotrixEnvironments(spec, model, num_envs, threads, bodies)
    for line in worlds.unsupported:
        _LOG.warning("backend 'motrix': %s", line)
    return worlds


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
    """Raise EngineError if environments of ``each`` bytes do not fit in memory, of which None is unknown."""
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

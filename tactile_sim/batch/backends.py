"""Backends that step the environments of a batch, and checks for unsupported arguments and configurations."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import mujoco

from tactile_sim.arguments import known, whole
from tactile_sim.batch.memory import bytes_per_environment, check_memory, free_memory
from tactile_sim.batch.readings import Readings
from tactile_sim.config import configured_scene
from tactile_sim.engines.mujoco.worlds import Worlds
from tactile_sim.errors import ConfigError, EngineError
from tactile_sim.simulation import Simulation

if TYPE_CHECKING:
    from tactile_sim.batch.warp_backend.worlds import WarpWorlds
    from tactile_sim.engines.motrix.worlds import MotrixWorlds

_LOG = logging.getLogger("tactile_sim.batch")
BACKENDS = ("mujoco", "warp", "motrix")
"""Names of the backends."""


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
) -> tuple[Worlds | WarpWorlds | MotrixWorlds, Readings]:
    """Create the environments of a `Batch` and the object that computes their skin readings.

    Args:
        simulation: Simulation of the configuration.
        made: Scene built in Python; None if the configuration names a scene.
        num_envs: Number of environments.
        backend: Name of the backend.
        device: As in `Batch`.
        seed: Seed of the first environment.
        threads: As in `Batch`.

    Returns:
        The environments and their `Readings`, both in the classes of the backend.

    Raises:
        TactileSimError: The backend is not installed, does not support the configuration or the device, or
            the environments do not fit in memory.
    """
    try:
        if backend == "warp":
            return _on_warp(simulation, num_envs, device, seed)
        check_memory(num_envs, bytes_per_environment(simulation), free_memory())
        if backend == "motrix":
            return _in_motrix(simulation, made, num_envs, seed, threads)
        worlds = Worlds(simulation.engine.model, num_envs, threads)
        return worlds, Readings(simulation, worlds, seed)
    except MemoryError:
        raise EngineError(f"num_envs: not enough memory, got {num_envs}; use fewer") from None


def _on_warp(
    simulation: Simulation, num_envs: int, device: str | None, seed: int
) -> tuple[WarpWorlds, Readings]:
    try:
        from tactile_sim.batch.warp_backend.make import make
    except ModuleNotFoundError as error:
        if error.name not in ("mujoco_warp", "warp"):
            raise
        raise EngineError(
            "backend: 'warp' needs the package mujoco-warp, which is not installed:"
            " python -m pip install 'mujoco-warp>=4.0'"
        ) from None
    return make(simulation, num_envs, device, seed)


def _in_motrix(
    simulation: Simulation,
    made: mujoco.MjSpec | mujoco.MjModel | None,
    num_envs: int,
    seed: int,
    threads: int,
) -> tuple[MotrixWorlds, Readings]:
    try:
        from tactile_sim.engines.motrix.worlds import MotrixWorlds, bytes_of_contacts
    except ModuleNotFoundError:
        raise EngineError(
            f"backend: 'motrix' needs mujoco 3.17, got {mujoco.__version__};"
            " python -m pip install 'mujoco>=3.17'"
        ) from None
    settings = replace(simulation.settings, engine="motrix")
    spec, model = configured_scene(settings, made)
    assert spec is not None  # engine 'motrix' rejects compiled models
    each = bytes_per_environment(simulation) + bytes_of_contacts(model)
    check_memory(num_envs, each, free_memory())
    bodies = simulation.skin_bodies.tolist() if settings.contacts == "skin" else None
    worlds = MotrixWorlds(spec, model, num_envs, threads, bodies)
    for line in worlds.unsupported:
        _LOG.warning("backend 'motrix': %s", line)
    return worlds, Readings(simulation, worlds, seed)

"""Plug-ins for MuJoCo and MotrixSim."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import mujoco

from tactile_sim.engines.batch import Environments
from tactile_sim.engines.mujoco.engine import MujocoEngine
from tactile_sim.engines.plugin import EnginePlugin
from tactile_sim.engines.protocol import Engine
from tactile_sim.errors import EngineError


class MujocoPlugin(EnginePlugin):
    """Plug-in for MuJoCo."""

    requires_spec = False

    def make_engine(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, options: Any, bodies: Collection[int] | None
    ) -> Engine:
        """Create one environment; see `EnginePlugin.make_engine`."""
        return MujocoEngine(model)

    def make_environments(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, num_envs: int, threads: int
    ) -> Environments:
        """Create several environments; see `EnginePlugin.make_environments`."""
        try:
            from tactile_sim.engines.mujoco.batch import MujocoBatch
        except ModuleNotFoundError:
            raise EngineError(
                f"engine 'mujoco': several environments require mujoco 3.17, got {mujoco.__version__}; "
                "python -m pip install 'mujoco>=3.17'"
            ) from None
        return MujocoBatch(model, num_envs, threads)


class MotrixPlugin(EnginePlugin):
    """Plug-in for MotrixSim, which is an optional package."""

    def make_engine(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, options: Any, bodies: Collection[int] | None
    ) -> Engine:
        """Create one environment; see `EnginePlugin.make_engine`."""
        from tactile_sim.engines.motrix.engine import MotrixEngine

        return MotrixEngine(spec, model, bodies)

    def make_environments(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, num_envs: int, threads: int
    ) -> Environments:
        """Create several environments; see `EnginePlugin.make_environments`."""
        from tactile_sim.engines.motrix.batch import MotrixBatch

        return MotrixBatch(spec, model, num_envs, threads)

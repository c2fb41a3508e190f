"""What a batch of environments has in common, whichever engine steps it."""

from __future__ import annotations

from typing import NoReturn

from tactile_sim.engines.mujoco_sensors import MujocoSensors
from tactile_sim.engines.state import State
from tactile_sim.errors import EngineError


class _NotInABatch(EngineError, AttributeError):
    """Something that a single environment has and a batch has not."""


class Environments(MujocoSensors):
    """Several environments: what only a single one has is refused by name."""

    name: str
    limits: list[str] = []
    """What the engine leaves out of the scene, or cannot tell of it: a line each."""

    def __getattr__(self, name: str) -> NoReturn:
        if hasattr(State, name) or name == "integrate":
            raise _NotInABatch(
                f"engine {self.name!r} has no {name} for {self.num_envs} environments at once; load the scene"
                " with num_envs=1, or read the arrays of its data"
            )
        raise AttributeError(name)

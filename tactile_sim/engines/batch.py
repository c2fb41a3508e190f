"""What a batch of environments has in common, whichever engine steps it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from tactile_sim.engines.mujoco_sensors import MujocoSensors
from tactile_sim.engines.state import State
from tactile_sim.errors import EngineError


def environment_ids(envs: Sequence[int] | np.ndarray, count: int) -> np.ndarray:
    """Ascending numbers of some of ``count`` environments, told by numbers in any order or by a mask.

    Raises EngineError for what is neither.
    """
    chosen = np.asarray(envs)
    if chosen.dtype == bool and chosen.shape == (count,):
        return np.flatnonzero(chosen)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise EngineError(
            f"envs needs numbers of environments, such as [0, 2], or {count} booleans, but is {envs!r}"
        )
    for number in chosen.tolist():
        if not 0 <= number < count:
            raise EngineError(f"there is no environment {number}; there are 0 to {count - 1}")
    return np.unique(chosen).astype(int)


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

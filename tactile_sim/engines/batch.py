"""Base class of engines that step several environments together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from tactile_sim.engines.mjdata_engine import MjDataEngine
from tactile_sim.engines.mujoco.sensors import MujocoSensors
from tactile_sim.engines.protocol import EngineArrays
from tactile_sim.errors import EngineError


def environment_ids(envs: Sequence[int] | np.ndarray, count: int) -> np.ndarray:
    """Convert a selection of environments to ascending indices.

    Args:
        envs: Indices in any order, or a boolean mask (count,).
        count: Number of environments.

    Returns:
        Index of each selected environment once, in ascending order.

    Raises:
        EngineError: ``envs`` has an invalid type or shape, or an index is out of range.
    """
    try:
        chosen = np.asarray(envs)
    except ValueError:  # rows of different lengths
        chosen = np.empty((0, 0))
    if chosen.dtype == bool and chosen.shape == (count,):
        return np.flatnonzero(chosen)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise EngineError(
            f"envs: must be indices of environments, such as [0, 2], or {count} booleans, got {envs!r}"
        )
    for number in chosen.tolist():
        if not 0 <= number < count:
            raise EngineError(f"envs: index out of range, got {number}; give 0 to {count - 1}")
    return np.unique(chosen).astype(int)


class _NotInABatch(EngineError, AttributeError):
    """Error for an attribute that exists only in engines with a single environment."""


class Environments(MujocoSensors):
    """Base class of engines with several environments.

    Some attributes exist only in engines with a single environment. Accessing one of them raises an error
    that names the alternatives.
    """

    name: str
    unsupported: list[str] = []
    """Scene features that the engine ignores or cannot report, one line each."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in EngineArrays.__annotations__:
            self.__getattr__(name)
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> NoReturn:
        if hasattr(MjDataEngine, name) or name in ("integrate", *EngineArrays.__annotations__):
            raise _NotInABatch(
                f"engine {self.name!r} does not support {name!r} with several environments, got"
                f" {self.num_envs}; load the scene with num_envs=1, or read the arrays of its data"
            )
        raise AttributeError(name)

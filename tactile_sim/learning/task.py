"""Definition of a task: a configuration, a reward and a termination."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import mujoco
import numpy as np

from tactile_sim.batch import Batch, Observation

TOUCH: dict[str, Callable[[Observation], np.ndarray]] = {
    "none": lambda seen: np.empty((len(seen.time), 0)),
    "contact": lambda seen: seen.reduced("contact"),
    "center_of_pressure": lambda seen: np.nan_to_num(seen.reduced("center_of_pressure")),
    "wrench": lambda seen: seen.wrenches,
    "taxels": lambda seen: seen.readings,
}
"""Flat observations of a policy by name; each returns an array with a leading axis for the environments."""
OBSERVATIONS = (*TOUCH, "image")
"""Names of all observations. ``image`` is a dictionary of the state and of a tactile image."""


class Task:
    """Base class of tasks. `config` and `reward` must be given; all arrays have an axis for n environments.

    >>> class Hold(Task):
    ...     config = "hand"
    ...
    ...     def reward(self, batch, seen, action):
    ...         return seen.wrenches[:, :, 2].sum(axis=1)
    >>> environments = TaskVectorEnv(Hold(), 1024, touch="contact")
    """

    config: str | Path | Mapping[str, Any] | mujoco.MjSpec
    """Configuration or scene, as for `tactile_sim.batch.Batch`."""
    settings: Mapping[str, Any] | None = None
    """Configuration of a scene made in Python."""
    substeps: ClassVar[int] = 5
    """Time steps for each action."""
    episode_steps: ClassVar[int] = 500
    """Actions after which an episode is truncated."""

    def controls(self, batch: Batch, action: np.ndarray) -> np.ndarray:
        """Return the controls (n, nu) for actions (n, k) in [-1, 1]. By default they span ``ctrlrange``."""
        low, high = batch.simulation.engine.model.actuator_ctrlrange.T
        return low + 0.5 * (action + 1.0) * (high - low)

    def actions(self, batch: Batch) -> int:
        """Return the number k of actions; by default the number of actuators."""
        return int(batch.simulation.engine.model.nu)

    def state(self, batch: Batch, seen: Observation) -> np.ndarray:
        """Return the observations besides touch (n, m); by default joint positions and velocities."""
        positions, velocities, _ = seen.joint_states
        return np.concatenate([positions, velocities], axis=1)

    def reward(self, batch: Batch, seen: Observation, action: np.ndarray) -> np.ndarray:
        """Return the reward (n,) of the last actions (n, k), which led to the current state."""
        raise NotImplementedError

    def terminated(self, batch: Batch, seen: Observation) -> np.ndarray:
        """Return whether episodes end in the current state, (n,) bool; by default never."""
        return np.zeros(batch.num_envs, bool)

    def randomize(self, batch: Batch, envs: np.ndarray, random: np.random.Generator) -> None:
        """Change the initial state of environments that were reset, for example ``batch.qpos[envs]``."""

"""Base class of tasks, which define a configuration, a reward and a termination condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import mujoco
import numpy as np

from tactile_sim.batch import Batch, Observation
from tactile_sim.common.errors import ConfigError, EngineError

TOUCH: dict[str, Callable[[Observation], np.ndarray]] = {
    "none": lambda seen: np.empty((len(seen.time), 0)),
    "contact": lambda seen: seen.reduced("contact"),
    "center_of_pressure": lambda seen: np.nan_to_num(seen.reduced("center_of_pressure")),
    "wrench": lambda seen: seen.wrenches,
    "taxels": lambda seen: seen.readings,
}
"""For each name, a function that computes a tactile observation.

The functions return arrays with a leading axis for the environments. The caller flattens the other axes.
"""
NO_GYMNASIUM = EngineError(
    "tactile_sim.learning needs the package gymnasium, which is not installed:"
    " python -m pip install 'gymnasium>=1.0'"
)
OBSERVATIONS = (*TOUCH, "image")
"""Names of all tactile observations. With ``image``, observations are dictionaries, see `TaskVectorEnv`."""


def checked(task: Task, method: str, values: Any, *shapes: tuple[int | str, ...]) -> np.ndarray:
    """Return what a method of a task has returned as an array of one of the shapes; a name matches any size.

    Raises:
        ConfigError: The values have another shape, or are no numbers.
    """
    array = np.asarray(values)
    fits = any(
        len(shape) == array.ndim
        and all(
            isinstance(wanted, str) or size == wanted for size, wanted in zip(array.shape, shape, strict=True)
        )
        for shape in shapes
    )
    if not fits or array.dtype.kind not in "biuf":
        required = str(shapes[0]).replace("'", "")
        raise ConfigError(
            f"{type(task).__name__}.{method}: must return numbers of shape {required}, got {array.dtype} of"
            f" shape {array.shape}"
        )
    return array


class Task:
    """Base class of tasks. Subclasses must define `config` and `reward`.

    All arrays have a leading axis for the n environments. In the methods, ``batch`` contains the environments
    and ``seen`` is the `Observation` of their current state.

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
    """Configuration to use if `config` is a scene created in Python."""
    substeps: ClassVar[int] = 5
    """Number of time steps per action."""
    episode_steps: ClassVar[int] = 500
    """Number of actions after which an episode is truncated."""

    def controls(self, batch: Batch, action: np.ndarray) -> np.ndarray:
        """Return the controls (n, nu) for actions (n, k) in [-1, 1].

        By default, actions are scaled to ``ctrlrange``.
        """
        low, high = batch.simulation.engine.model.actuator_ctrlrange.T
        return low + 0.5 * (action + 1.0) * (high - low)

    def actions(self, batch: Batch) -> int:
        """Return the number k of values in an action; by default the number of actuators."""
        return int(batch.simulation.engine.model.nu)

    def state(self, batch: Batch, seen: Observation) -> np.ndarray:
        """Return the non-tactile observations (n, m); by default joint positions and velocities."""
        positions, velocities, _ = seen.joint_states
        return np.concatenate([positions, velocities], axis=1)

    def reward(self, batch: Batch, seen: Observation, action: np.ndarray) -> np.ndarray:
        """Return the reward for the last action, which led to the current state.

        Args:
            batch: The environments.
            seen: Observation of the current state.
            action: (n, k) last actions, in [-1, 1].

        Returns:
            (n,) rewards.
        """
        raise NotImplementedError

    def terminated(self, batch: Batch, seen: Observation) -> np.ndarray:
        """Return whether episodes end in the current state, (n,) bool; by default never."""
        return np.zeros(batch.num_envs, bool)

    def randomize(self, batch: Batch, envs: np.ndarray, random: np.random.Generator) -> None:
        """Randomize the initial state of environments after a reset; by default do nothing.

        Args:
            batch: The environments.
            envs: Indices of the environments that were reset. Modify, for example, ``batch.qpos[envs]``.
            random: Generator to use, so that results are reproducible.
        """

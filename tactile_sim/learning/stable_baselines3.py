"""Train with Stable-Baselines3 on environments that one `Batch` steps together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import gymnasium
import numpy as np
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from tactile_sim.common.errors import CommandError, ConfigError
from tactile_sim.learning.environments import TaskVectorEnv, of_environment


def make_vec_env(
    name: str, n_envs: int = 1, seed: int | None = None, env_kwargs: Mapping[str, Any] | None = None
) -> VecMonitor:
    """Create environments of a registered task, as the function of this name in Stable-Baselines3 does.

    They run in one process as one batch, and are wrapped in ``VecMonitor``.

    Args:
        name: ID of the task, such as ``tactile_sim/BallBalance-v0``.
        n_envs: Number of environments.
        seed: Seed of the first reset.
        env_kwargs: Arguments of `TaskVectorEnv`.

    Raises:
        ConfigError: The ID does not belong to a task of tactile_sim.
        TactileSimError: An argument is invalid.
    """
    try:
        environments = gymnasium.make_vec(name, n_envs, **(env_kwargs or {})).unwrapped
    except gymnasium.error.Error as error:
        raise ConfigError(f"make_vec_env: name: {error}; import the module that registers it") from None
    if not isinstance(environments, TaskVectorEnv):
        raise ConfigError(f"make_vec_env: name: {name!r} is not a task; register it with learning.register")
    adapter = BatchVecEnv(environments)
    adapter.seed(seed)
    return VecMonitor(adapter)


class BatchVecEnv(VecEnv):
    """A `TaskVectorEnv` as a vector environment of Stable-Baselines3.

    An environment whose episode ends is reset in the same step, and the last observation of the episode is
    ``infos[k]["terminal_observation"]``.
    """

    def __init__(self, environments: TaskVectorEnv):
        self.environments = environments
        self._actions = np.empty(0)
        super().__init__(
            environments.num_envs, environments.single_observation_space, environments.single_action_space
        )

    def reset(self) -> Any:
        """Reset all environments; return their observations."""
        observations, _ = self.environments.reset(seed=self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Store the actions (n, k) of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Step all environments; return observations, rewards (n,), ends (n,) and information."""
        observations, rewards, terminated, truncated, info = self.environments.step(self._actions)
        ended = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in ended]
        if ended.any():
            following = self.environments.restart(np.flatnonzero(ended))
            for env in np.flatnonzero(ended).tolist():
                infos[env] = {
                    "terminal_observation": of_environment(observations, env),
                    "TimeLimit.truncated": bool(truncated[env]),
                    "fault": bool(info["fault"][env]),
                }
            observations = following
        return observations, rewards.astype(np.float32), ended, infos

    def close(self) -> None:
        """Close the environments."""
        self.environments.close()

    def get_images(self) -> list[np.ndarray | None]:
        """Return an image (240, 320, 3) uint8 of each environment."""
        return list(self.environments.render() or [None] * self.num_envs)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of `environments`, once for each environment."""
        return [getattr(self.environments, attr_name)] * self._count(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of `environments`, which must be for all of them.

        Raises:
            CommandError: Indices are given.
        """
        if indices is not None:
            raise CommandError(f"set_attr: {attr_name}: all environments share it; omit indices")
        setattr(self.environments, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Raise an error, because the environments are one object."""
        raise CommandError(f"env_method: the environments are one batch; call environments.{method_name}")

    def env_is_wrapped(self, wrapper_class: type[gymnasium.Wrapper], indices: Any = None) -> list[bool]:
        """Return False for each environment: a batch has no wrappers."""
        return [False] * self._count(indices)

    def _count(self, indices: None | int | Iterable[int]) -> int:
        return len(list(self._get_indices(indices)))

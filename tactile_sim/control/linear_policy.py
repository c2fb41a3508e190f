"""A control policy that is linear in the observations and their changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np


class LinearPolicy:
    """Policy whose actions are linear in the normalized observation z and in its change z - s.

    The policy stores s, a copy of z that lags behind it like the output of a first-order low-pass filter.
    z - s is therefore a smoothed rate of change. If z contains positions, the policy is a PD controller.

    >>> policy = LinearPolicy.load("balance.npz")
    >>> action = policy(observation)
    """

    def __init__(self, weights: np.ndarray, mean: np.ndarray, scale: np.ndarray, lag: float = 0.2):
        """Create a policy that has not received any observations yet.

        Args:
            weights: (2 m + 1, k) weights of the features z (m), z - s (m) and 1 for k actions; or
                (n, 2 m + 1, k) for separate policies in n environments.
            mean: (m,) mean of the observations.
            scale: (m,) standard deviation of the observations.
            lag: Fraction of z - s that is added to s at each action, 0 to 1.
        """
        self.weights, self.mean, self.scale, self.lag = weights, mean, scale, lag
        self._memory: np.ndarray | None = None

    @classmethod
    def load(cls, path: str | Path) -> LinearPolicy:
        """Load a policy from a file that was written by `save`."""
        with np.load(path) as stored:
            return cls(stored["weights"], stored["mean"], stored["scale"], float(stored["lag"]))

    def save(self, path: str | Path) -> None:
        """Write the policy to an ``.npz`` file."""
        weights, mean, scale = (np.float32(array) for array in (self.weights, self.mean, self.scale))
        np.savez_compressed(path, weights=weights, mean=mean, scale=scale, lag=self.lag)

    def reset(self) -> None:
        """Forget earlier observations."""
        self._memory = None

    def features(self, observation: np.ndarray) -> np.ndarray:
        """Compute the features of observations and update the filtered observation.

        Args:
            observation: (..., m) observations.

        Returns:
            (..., 2 m + 1) features: the m normalized observations, their m differences from the filtered
            observations, and 1.
        """
        normalized = (observation - self.mean) / self.scale
        change = normalized - (normalized if self._memory is None else self._memory)
        self._memory = normalized - (1.0 - self.lag) * change
        return np.concatenate([normalized, change, np.ones((*normalized.shape[:-1], 1))], axis=-1)

    def __call__(self, observation: np.ndarray) -> np.ndarray:
        """Return the actions for observations, and update the filtered observation.

        Args:
            observation: (..., m) observations.

        Returns:
            (..., k) actions, clipped to [-1, 1].
        """
        features = self.features(observation)[..., None, :]
        return np.clip((features @ self.weights)[..., 0, :], -1.0, 1.0)

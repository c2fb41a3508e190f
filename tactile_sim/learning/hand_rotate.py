"""HandRotate: turn a ball with the fingers of ``hand``."""

from __future__ import annotations

import numpy as np

from tactile_sim.batch import Batch, Observation
from tactile_sim.learning.task import Task


class HandRotate(Task):
    """Task of turning a ball in the hand about the vertical axis without losing it.

    The actions are deviations of the 20 joint angles from the grasp, in units of 0.3 rad. The reward for each
    action is the angular velocity of the ball about the vertical axis [rad/s], at most 1, minus the speed of
    the ball [m/s], at most 1. An episode ends when the ball is more than 30 mm away from its initial
    position.
    """

    config = "hand"
    substeps = 10
    episode_steps = 400

    REACH = 0.3
    """Largest deviation of a joint angle from the grasp [rad]."""
    AWAY = 0.03
    """Distance from the initial position beyond which the ball counts as lost [m]."""

    def controls(self, batch: Batch, action: np.ndarray) -> np.ndarray:
        """Return the joint angles (n, nu) [rad]: the grasp plus the deviations commanded by the actions."""
        model = batch.simulation.engine.model
        low, high = model.actuator_ctrlrange.T
        return np.clip(model.key("grasp").ctrl + self.REACH * action, low, high)

    def reward(self, batch: Batch, seen: Observation, action: np.ndarray) -> np.ndarray:
        """Return the reward (n,): the ball's spin about the vertical axis minus its speed, each at most 1."""
        start = self._ball_dof(batch)
        rotation = batch.worlds.xmat[:, self._ball(batch)].reshape(-1, 3, 3)
        spin = np.einsum("nj,nj->n", rotation[:, 2], batch.qvel[:, start + 3 : start + 6])
        speed = np.linalg.norm(batch.qvel[:, start : start + 3], axis=1)
        return np.minimum(spin, 1.0) - np.minimum(speed, 1.0)

    def terminated(self, batch: Batch, seen: Observation) -> np.ndarray:
        """Return whether the ball has left the grasp, (n,) bool."""
        home = batch.simulation.engine.model.body("globe").pos
        return np.linalg.norm(batch.worlds.xpos[:, self._ball(batch)] - home, axis=1) > self.AWAY

    def randomize(self, batch: Batch, envs: np.ndarray, random: np.random.Generator) -> None:
        """Reset to the grasp with joint angles perturbed by up to 0.05 rad and a random ball orientation."""
        model = batch.simulation.engine.model
        batch.reset(envs, "grasp")
        joints = batch.simulation.commander.qpos
        batch.qpos[envs[:, None], joints] += random.uniform(-0.05, 0.05, (len(envs), len(joints)))
        quaternion = random.normal(size=(len(envs), 4))
        start = int(model.joint("globe_free").qposadr[0])
        batch.qpos[envs, start + 3 : start + 7] = quaternion / np.linalg.norm(
            quaternion, axis=1, keepdims=True
        )

    def _ball(self, batch: Batch) -> int:
        return batch.simulation.names.body_id("globe")

    def _ball_dof(self, batch: Batch) -> int:
        return int(batch.simulation.engine.model.joint("globe_free").dofadr[0])

"""The task BallBalance, in which a policy keeps a ball on a tray, guided by touch."""

from __future__ import annotations

import numpy as np

from tactile_sim.batch import Batch, Observation
from tactile_sim.learning.task import Task


class BallBalance(Task):
    """Task of keeping a ball on a tray whose base rocks.

    Besides touch, the policy observes only the angles that it commanded.

    The actions are target angles of the two tray joints, in units of 0.2 rad. The reward for each action is
    ``max(0, 1 - (d / a)^2)``, where d is the distance of the ball from the centre of the tray and a is half
    the width of the tray. An episode ends when the ball leaves the tray.
    """

    config = "balance"
    substeps = 5

    HALF_WIDTH = 0.12
    """Half the width of the tray [m]."""
    HEIGHT = 0.041
    """Height of the ball's centre above the tray's origin when the ball rests on the tray [m]."""
    ROCKING = 0.06
    """Largest amplitude of the base's rocking motion [rad]."""

    def state(self, batch: Batch, seen: Observation) -> np.ndarray:
        """Return the commanded angles (n, 2) [rad].

        The measured angles are left out, because they would reveal the load of the ball on the tray.
        """
        return batch.ctrl

    def reward(self, batch: Batch, seen: Observation, action: np.ndarray) -> np.ndarray:
        """Return the reward (n,), which falls from 1 at the centre of the tray to 0 at its edges."""
        distance = np.linalg.norm(self.ball_position(batch)[:, :2], axis=1) / self.HALF_WIDTH
        return np.maximum(0.0, 1.0 - distance**2)

    def terminated(self, batch: Batch, seen: Observation) -> np.ndarray:
        """Return whether the ball has left the tray, (n,) bool."""
        position = self.ball_position(batch)
        return (np.abs(position[:, :2]) > self.HALF_WIDTH).any(axis=1) | (position[:, 2] < 0.0)

    def randomize(self, batch: Batch, envs: np.ndarray, random: np.random.Generator) -> None:
        """Randomize the rocking of the base and start the ball near the centre with a random velocity."""
        model = batch.simulation.engine.model
        rate = np.sqrt(model.jnt_stiffness[:2] / model.dof_M0[:2])
        center = model.qpos_spring[:2]
        phase = random.uniform(0.0, 2.0 * np.pi, (len(envs), 2))
        amplitude = random.uniform(0.0, self.ROCKING, (len(envs), 2))
        batch.qpos[envs, :2] = center + amplitude * np.cos(phase)
        batch.qvel[envs, :2] = -rate * amplitude * np.sin(phase)
        batch.observe()  # computes the poses of the tray
        tray = batch.simulation.names.body_id("tray")
        offset = np.full((len(envs), 3), self.HEIGHT)
        offset[:, :2] = random.uniform(-0.06, 0.06, (len(envs), 2))
        rotation = batch.worlds.xmat[envs, tray].reshape(-1, 3, 3)
        batch.qpos[envs, 4:7] = batch.worlds.xpos[envs, tray] + np.einsum("nij,nj->ni", rotation, offset)
        batch.qvel[envs, 4:6] = random.normal(0.0, 0.05, (len(envs), 2))

    def ball_position(self, batch: Batch) -> np.ndarray:
        """Return the centre of the ball in the frame of the tray (n, 3) [m]."""
        names, worlds = batch.simulation.names, batch.worlds
        tray, ball = names.body_id("tray"), names.body_id("ball")
        rotation = worlds.xmat[:, tray].reshape(-1, 3, 3)
        return np.einsum("nij,ni->nj", rotation, worlds.xpos[:, ball] - worlds.xpos[:, tray])

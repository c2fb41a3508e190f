"""The task GripHold, in which a gripper holds a block under random loads without dropping or crushing it."""

from __future__ import annotations

import numpy as np

from tactile_sim.batch import Batch, Observation
from tactile_sim.learning.task import Task


class GripHold(Task):
    """Task of holding a block as gently as random loads allow.

    The action is the rate at which the fingers close, in units of 20 mm/s. A load that varies with time pulls
    the block out of the fingers. The reward for each action is ``1 - F / CRUSH``, where F is the mean normal
    force on the two pads. An episode ends when F exceeds CRUSH, or when the block slips by more than 10 mm.
    """

    config = "gripper"
    substeps = 10
    episode_steps = 500

    CRUSH = 12.0
    """Mean normal force on the two pads above which the block is crushed [N]."""
    SLIP = 0.01
    """Distance by which the block may slip [m]."""
    LIFTED = 0.08
    """Height to which the block is lifted [m]."""
    RATE = 0.0002
    """Largest change of a finger's target position per action [m]."""

    def actions(self, batch: Batch) -> int:
        """Return the number of values in an action: 1, because both fingers move symmetrically."""
        return 1

    def controls(self, batch: Batch, action: np.ndarray) -> np.ndarray:
        """Return the controls (n, nu) that close or open the fingers, given actions (n, 1).

        The current load, which pulls the block down, is written to ``qfrc_applied``.
        """
        force, rate, phase = self._load[:, :, 0].T
        block = batch.simulation.engine.model.body("block")
        batch.worlds.qfrc_applied[:, block.dofadr[0] + 2] = (
            -0.5 * force * (1.0 + np.sin(rate * batch.time + phase))
        )
        controls = batch.ctrl.copy()
        controls[:, 1:] = np.clip(controls[:, 1:] + self.RATE * action, 0.0, 0.044)
        return controls

    def state(self, batch: Batch, seen: Observation) -> np.ndarray:
        """Return the commanded finger position (n, 1) [cm], which is the same for both fingers.

        The measured positions are left out, because they would reveal the grip force.
        """
        return 100.0 * batch.ctrl[:, 1:2]

    def reward(self, batch: Batch, seen: Observation, action: np.ndarray) -> np.ndarray:
        """Return the reward (n,), which falls from 1 at zero force to 0 at the crushing force."""
        return 1.0 - np.clip(self.force(seen) / self.CRUSH, 0.0, 1.0)

    def terminated(self, batch: Batch, seen: Observation) -> np.ndarray:
        """Return whether the block has slipped or been crushed, (n,) bool."""
        height = batch.worlds.xpos[:, batch.simulation.names.body_id("block"), 2]
        wrist = batch.worlds.xpos[:, batch.simulation.names.body_id("wrist"), 2]
        slip = np.abs(wrist - height - 0.11)
        return (slip > self.SLIP) | (self.force(seen) > self.CRUSH)

    def randomize(self, batch: Batch, envs: np.ndarray, random: np.random.Generator) -> None:
        """Start with the block held in the lifted gripper; randomize the load and the grip."""
        if not hasattr(self, "_load"):
            self._load = np.zeros((batch.num_envs, 3, 1))
        count = len(envs)
        self._load[envs, 0, 0] = random.uniform(0.0, 12.0, count)  # [N]
        self._load[envs, 1, 0] = random.uniform(1.0, 6.0, count)  # [rad/s]
        self._load[envs, 2, 0] = random.uniform(-2.0, -1.0, count)  # begins near zero [rad]
        grip = random.uniform(0.027, 0.029, count)
        batch.qpos[envs, 0] = self.LIFTED
        batch.qpos[envs, 1:3] = 0.025
        batch.qpos[envs, 5] += self.LIFTED
        batch.ctrl[envs, 0] = self.LIFTED
        batch.ctrl[envs, 1:] = grip[:, None]

    def force(self, seen: Observation) -> np.ndarray:
        """Return the mean normal force on the two pads (n,) [N]."""
        return np.abs(seen.wrenches[:, :, 1]).mean(axis=1)

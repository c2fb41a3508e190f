"""The tasks of this package: BallBalance, HandRotate and GripHold."""

from __future__ import annotations

import numpy as np

from tactile_sim.batch import Batch, Observation
from tactile_sim.learning.task import Task


class BallBalance(Task):
    """Task of keeping a ball on a tray whose base rocks.

    Besides touch, the policy observes only the angles that it commanded.

    The actions are target angles of the two tray joints, in units of 0.2 rad. The reward for each action is
    ``max(0, 1 - (d / a)^2)``, where d is the distance of the ball from the center of the tray and a is half
    the width of the tray. An episode ends when the ball leaves the tray.
    """

    config = "balance"
    substeps = 5

    HALF_WIDTH = 0.12
    """Half the width of the tray [m]."""
    HEIGHT = 0.041
    """Height of the ball's center above the tray's origin when the ball rests on the tray [m]."""
    ROCKING = 0.06
    """Largest amplitude of the base's rocking motion [rad]."""

    def state(self, batch: Batch, seen: Observation) -> np.ndarray:
        """Return the commanded angles (n, 2) [rad].

        The measured angles are left out, because they would reveal the load of the ball on the tray.
        """
        return batch.ctrl

    def reward(self, batch: Batch, seen: Observation, action: np.ndarray) -> np.ndarray:
        """Return the reward (n,), which falls from 1 at the center of the tray to 0 at its edges."""
        distance = np.linalg.norm(self.ball_position(batch)[:, :2], axis=1) / self.HALF_WIDTH
        return np.maximum(0.0, 1.0 - distance**2)

    def terminated(self, batch: Batch, seen: Observation) -> np.ndarray:
        """Return whether the ball has left the tray, (n,) bool."""
        position = self.ball_position(batch)
        return (np.abs(position[:, :2]) > self.HALF_WIDTH).any(axis=1) | (position[:, 2] < 0.0)

    def randomize(self, batch: Batch, envs: np.ndarray, random: np.random.Generator) -> None:
        """Randomize the rocking of the base and start the ball near the center with a random velocity."""
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
        """Return the center of the ball in the frame of the tray (n, 3) [m]."""
        names, worlds = batch.simulation.names, batch.worlds
        tray, ball = names.body_id("tray"), names.body_id("ball")
        rotation = worlds.xmat[:, tray].reshape(-1, 3, 3)
        return np.einsum("nij,ni->nj", rotation, worlds.xpos[:, ball] - worlds.xpos[:, tray])


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

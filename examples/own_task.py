"""A custom learning task: the shipped hand squeezes its ball with 0.5 N at each fingertip.

The program prints the mean rewards of random actions and of the scene's grasp in 8 environments.
"""

import gymnasium
import numpy as np

from tactile_sim.learning import Task, register


class Squeeze(Task):
    """Hold the ball of the shipped hand with 0.5 N on each fingertip."""

    config = "hand"
    substeps = 10
    episode_steps = 100

    def reward(self, batch, seen, action):
        """Return the negative sum of the force errors of the five fingertips [N]."""
        forces = np.linalg.norm(seen.wrenches[:, :, :3], axis=2)  # (num_envs, pads) [N]
        tips = forces[:, [name.endswith("_tip") for name in seen.pads]]
        return -np.abs(tips - 0.5).sum(axis=1)

    def randomize(self, batch, envs, random):
        """Perturb the initial joint positions by about 0.01 rad."""
        joints = batch.simulation.commander.qpos
        batch.qpos[envs[:, None], joints] += random.normal(0.0, 0.01, (len(envs), len(joints)))


register("me/Squeeze-v0", Squeeze)

environments = gymnasium.make_vec("me/Squeeze-v0", num_envs=8, touch="contact")
low, high = environments.unwrapped.batch.simulation.engine.model.actuator_ctrlrange.T
grasp = environments.unwrapped.batch.simulation.engine.model.key("grasp").ctrl
grasp = np.tile(2.0 * (grasp - low) / (high - low) - 1.0, (8, 1))
environments.action_space.seed(0)
for name in ("random", "grasp"):
    environments.reset(seed=0)
    rewards = []
    for _ in range(50):  # 1 s
        actions = grasp if name == "grasp" else environments.action_space.sample()
        observations, reward, terminated, truncated, info = environments.step(actions)
        rewards.append(reward)
    print(f"{name}: mean reward {np.mean(rewards[25:]):.2f}")

"""Train the policy for balance_controller.py by random search, with NumPy alone and on the CPU.

python examples/train_balance.py [none|contact|center_of_pressure|taxels] [seed] [iterations]

Each iteration tries changes of the weights in 32 random directions with both signs. It then moves the weights
along the mean of these directions, weighted by the difference in reward (H. Mania et al., "Simple random
search", 2018). The program prints how long the balls stay on the tray, at most 10 s.
"""

import sys

import gymnasium
import numpy as np

import tactile_sim.learning  # noqa: F401  (registers the tasks)
from tactile_sim import LinearPolicy

TRIED, HORIZON = 32, 300


def roll_out(environments, policy, steps=500, seed=None):
    """Return the total rewards (n,), numbers of steps (n,) and observations (t, m) of one episode."""
    observation, _ = environments.reset(seed=seed)
    state = environments.unwrapped.batch.worlds.state
    state[TRIED:] = state[:TRIED]  # both signs of a direction start in the same state
    policy.reset()
    rewards, running, seen = np.zeros((2, len(state))), np.ones(len(state), bool), []
    while running.any() and len(seen) < steps:
        seen.append(observation[running])
        observation, reward, terminated, _, _ = environments.step(policy(observation))
        running &= ~terminated
        rewards += running * np.stack([reward, np.ones(len(state))])
    return *rewards, np.concatenate(seen)


def train(touch="contact", seed=0, iterations=30):
    """Yield the mean time on the tray [s] and the policy, at the start and after every fifth iteration."""
    random = np.random.default_rng(seed)
    environments = gymnasium.make_vec("tactile_sim/BallBalance-v0", num_envs=2 * TRIED, touch=touch)
    width = environments.single_observation_space.shape[0]
    policy = LinearPolicy(np.zeros((2 * width + 1, 2)), np.zeros(width), np.ones(width))
    change_by = 0.6 / np.sqrt(len(policy.weights))  # a direction changes actions by about 0.6
    seen = roll_out(environments, policy, 1, seed)[2]
    for k in range(iterations + 1):
        if k % 5 == 0:
            yield 0.02 * roll_out(environments, policy)[1].mean(), policy
        change = random.normal(size=(TRIED, *policy.weights.shape))
        tried = policy.weights + change_by * np.concatenate([change, -change])
        rewards, _, new = roll_out(environments, LinearPolicy(tried, policy.mean, policy.scale), HORIZON)
        gain = (rewards[:TRIED] - rewards[TRIED:]) / (rewards.std() + 1e-6)
        weights = policy.weights + change_by * np.einsum("d,dfa->fa", gain, change) / TRIED
        seen = np.concatenate([seen, new])[-50_000:]
        policy = LinearPolicy(weights, seen.mean(axis=0), np.maximum(seen.std(axis=0), 0.03))


if __name__ == "__main__":
    for seconds, policy in train(*sys.argv[1:2], *map(int, sys.argv[2:])):
        print(f"{seconds:5.2f} s", flush=True)
        policy.save("balance.npz")

"""Train a policy for BallBalance with RLlib's PPO (`python -m pip install 'ray[rllib]' torch`).

python examples/rllib_balance.py [none|contact|center_of_pressure|taxels] [iterations]

A worker process steps 64 environments as one batch. For each iteration, the program prints the mean return of
the completed episodes, which is at most 500.
"""

import sys

import ray
from ray.rllib.algorithms.ppo import PPOConfig


def train(touch="contact", iterations=5):
    """Yield the mean return of each iteration."""
    config = (
        PPOConfig()
        # The worker process imports the module before the colon, which registers the tasks.
        .environment("tactile_sim.learning:tactile_sim/BallBalance-v0", env_config={"touch": touch})
        .env_runners(
            num_env_runners=1, num_envs_per_env_runner=64, gym_env_vectorize_mode="vector_entry_point"
        )
        .training(train_batch_size=8192, minibatch_size=512, num_epochs=8, lr=5e-4, gamma=0.98)
        .debugging(seed=0)
    )
    algorithm = config.build_algo()
    for _ in range(iterations):
        yield algorithm.train()["env_runners"]["episode_return_mean"]
    algorithm.stop()


if __name__ == "__main__":
    ray.init(num_cpus=2)
    for mean in train(*sys.argv[1:2], *map(int, sys.argv[2:])):
        print(f"{mean:6.1f}", flush=True)

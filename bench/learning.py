"""Compare the steps per second of Stable-Baselines3 on one batch and on environments created one by one.

Run as ``python bench/learning.py [--envs 256]``; it requires Stable-Baselines3 and PyTorch.
"""

import argparse
import time

import numpy as np
from stable_baselines3.common.env_util import make_vec_env as one_by_one

from tactile_sim.learning.stable_baselines3 import make_vec_env

WANTED = 5.0
"""Minimum ratio of the throughput of a batch to that of single environments."""


def main() -> None:
    """Measure the tasks and print a line for each."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--envs", type=int, default=256)
    count = parser.parse_args().envs
    for task in ("BallBalance", "GripHold", "HandRotate"):
        rates = []
        for make in (one_by_one, make_vec_env):
            environments = make(f"tactile_sim/{task}-v0", count, seed=0)
            environments.reset()
            actions = np.zeros((count, *environments.action_space.shape), np.float32)
            environments.step(actions)
            start, steps = time.perf_counter(), 0
            while time.perf_counter() < start + 5.0:
                environments.step(actions)
                steps += count
            rates.append(steps / (time.perf_counter() - start))
            environments.close()
        ratio = rates[1] / rates[0]
        print(f"{task}: {rates[0]:.0f} one by one, {rates[1]:.0f} as a batch: {ratio:.1f} ({WANTED} wanted)")


if __name__ == "__main__":
    main()

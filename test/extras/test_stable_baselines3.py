"""Learning environments work with Stable-Baselines3. `make test-extras` runs this file."""

import gymnasium
import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="installed by make test-extras only")

from stable_baselines3 import PPO  # noqa: E402
from stable_baselines3.common.env_util import make_vec_env  # noqa: E402

import tactile_sim.learning  # noqa: E402, F401  (registers the tasks)


@pytest.mark.parametrize(
    ("task", "touch", "steps"), [("BallBalance", "taxels", 64), ("HandRotate", "image", 4)]
)
def test_ppo_learns(task, touch, steps):
    environments = make_vec_env(f"tactile_sim/{task}-v0", n_envs=2, env_kwargs={"touch": touch}, seed=0)
    policy = "MultiInputPolicy" if touch == "image" else "MlpPolicy"
    model = PPO(policy, environments, n_steps=steps, batch_size=steps, n_epochs=2, seed=0, device="cpu")
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.learn(4 * steps)
    after = list(model.policy.parameters())
    assert all(parameter.isfinite().all() for parameter in after)
    assert any((old != new).any() for old, new in zip(before, after, strict=True))
    action, _ = model.predict(environments.reset())
    assert action.shape == (2, *environments.action_space.shape)


def test_checker_of_stable_baselines_passes():
    from stable_baselines3.common.env_checker import check_env

    for task in ("BallBalance", "HandRotate", "GripHold"):
        check_env(gymnasium.make(f"tactile_sim/{task}-v0", touch="wrench").unwrapped)


def test_episode_statistics_agree_with_rewards():
    environment = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("tactile_sim/BallBalance-v0"))
    environment.reset(seed=0)
    total, ended, info = 0.0, False, {}
    while not ended:
        _, reward, terminated, truncated, info = environment.step(np.zeros(2, np.float32))
        total, ended = total + reward, terminated or truncated
    assert info["episode"]["r"] == pytest.approx(total, rel=1e-4)

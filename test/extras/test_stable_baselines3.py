"""Learning environments work with Stable-Baselines3. `make test-extras` runs this file."""

import gymnasium
import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="installed by make test-extras only")

from stable_baselines3 import PPO  # noqa: E402
from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402

import tactile_sim.learning  # noqa: E402  (registers the tasks)
from tactile_sim.learning.stable_baselines3 import make_vec_env  # noqa: E402


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
    assert np.isfinite(evaluate_policy(model, environments, n_eval_episodes=2)).all()


def test_batch_equals_single_environments():
    """Each environment runs through the same episodes as the vector environment of Gymnasium."""
    ours = make_vec_env("tactile_sim/BallBalance-v0", 3, seed=5)
    other = gymnasium.make_vec("tactile_sim/BallBalance-v0", 3)
    seen, (wanted, _) = ours.reset(), other.reset(seed=5)
    assert np.array_equal(seen, wanted)
    random = np.random.default_rng(0)
    for _ in range(600):
        actions = random.uniform(-1, 1, (3, 2))
        seen, rewards, ended, infos = ours.step(actions)
        wanted, expected, terminated, truncated, _ = other.step(actions)
        assert np.array_equal(rewards, expected.astype(np.float32))
        assert np.array_equal(ended, terminated | truncated)
        if ended.any():
            break
        assert np.array_equal(seen, wanted)
    assert ended.any()
    for env in np.flatnonzero(ended):
        assert np.array_equal(infos[env]["terminal_observation"], wanted[env])
        assert not np.array_equal(seen[env], wanted[env])  # the first of the next episode
        assert infos[env]["TimeLimit.truncated"] == truncated[env]
        assert infos[env]["episode"]["l"] > 0


@pytest.mark.parametrize("name", ["CartPole-v1", "nobody/Knows-v0"])
def test_other_environments_are_refused(name):
    with pytest.raises(tactile_sim.ConfigError, match=name.split("/")[0]):
        make_vec_env(name, 2)


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

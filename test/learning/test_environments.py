"""Learning environments that use batches."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest
from support.batches import SCENE, SKIN
from support.errors import raises

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from tactile_sim import CommandError, ConfigError, EngineError  # noqa: E402
from tactile_sim.learning import TOUCH, Task, TaskEnv, TaskVectorEnv, register  # noqa: E402


class Reach(Task):
    """A task in which the arm presses on the box."""

    config = mujoco.MjSpec.from_string(SCENE)
    settings = {"skin": SKIN | {"sensor": {"box": {"noise": {"std": 0.01}}}}}
    episode_steps = 20

    def reward(self, batch, seen, action):
        return np.linalg.norm(seen.wrenches[:, 1, :3], axis=1) - 0.01 * np.square(action).sum(axis=1)

    def terminated(self, batch, seen):
        return seen.joint_states[0][:, 0] > 0.5

    def randomize(self, batch, envs, random):
        batch.qpos[envs, 0] = random.uniform(-0.05, 0.05, len(envs))


def test_touch_widens_the_observation():
    widths = {touch: TaskEnv(Reach(), touch=touch).observation_space.shape[0] for touch in TOUCH}
    taxels = len(TaskEnv(Reach()).batch.simulation.skin.positions)
    assert widths == {
        "none": 4, "contact": 6, "center_of_pressure": 10, "wrench": 16, "taxels": 4 + 3 * taxels
    }  # fmt: skip


def test_registered_task_makes_one_or_many_environments():
    register("test/Reach-v0", Reach, touch="wrench")
    one = gymnasium.make("test/Reach-v0", touch="none")
    many = gymnasium.make_vec("test/Reach-v0", num_envs=3)
    assert one.observation_space.shape == (4,) and many.observation_space.shape == (3, 16)
    observation, _ = many.reset(seed=1)
    again, _ = many.reset(seed=1)
    np.testing.assert_array_equal(observation, again)
    assert many.observation_space.contains(observation)


def test_seed_of_reset_restarts_noise_and_ranges_and_starts_other_sequences():
    class Noisy(Reach):
        settings = {"skin": SKIN | {"sensor": {"*": {"noise": {"std": 0.1}, "gain": {"value": [0.5, 2.0]}}}}}

        def randomize(self, batch, envs, random):
            batch.qpos[envs, 0] = 0.0  # only the skin differs

    def run(environments, seed):
        observations = [environments.reset(seed=seed)[0]]
        for _ in range(25):  # one episode, and the first steps of the next
            observations.append(environments.step(np.zeros((3, 2)))[0])
        return np.stack(observations)

    environments = TaskVectorEnv(Noisy(), 3, touch="taxels")
    first, other = run(environments, 5), run(environments, 6)
    np.testing.assert_array_equal(run(environments, 5), first)
    np.testing.assert_array_equal(run(TaskVectorEnv(Noisy(), 3, touch="taxels"), 5), first)
    assert not np.array_equal(first[0], other[0]) and not np.array_equal(first[:, 0], first[:, 1])
    assert not np.array_equal(run(TaskVectorEnv(Noisy(), 3, touch="taxels", seed=1), 5), first)
    with warnings.catch_warnings(action="ignore"):
        check_env(TaskEnv(Noisy(), touch="taxels"), skip_render_check=True)


def test_ended_episodes_are_reset_by_the_next_step_and_others_go_on():
    environments = TaskVectorEnv(Reach(), 3)
    environments.reset(seed=0)
    actions = np.zeros((3, 2))
    actions[1, 0] = 1.0  # turns until the episode terminates
    ended, lengths, length = np.zeros(3, bool), [], np.zeros(3, int)
    for _ in range(70):
        _, reward, terminated, truncated, _ = environments.step(actions)
        length = np.where(ended, 0, length + 1)
        assert not (terminated | truncated)[ended].any() and not reward[ended].any()
        ended = terminated | truncated
        lengths += [(env, int(length[env]), bool(terminated[env])) for env in np.flatnonzero(ended)]
    assert {n for env, n, _ in lengths if env != 1} == {20}
    assert all(early and n < 20 for env, n, early in lengths if env == 1) and len(lengths) > 8


def test_unstable_environment_ends_its_episode_only():
    environments = TaskVectorEnv(Reach(), 3)
    environments.reset(seed=0)
    environments.batch.qvel[2, 0] = np.nan
    observation, _, terminated, _, info = environments.step(np.zeros((3, 2)))
    assert terminated.tolist() == info["fault"].tolist() == [False, False, True]
    assert np.isfinite(observation).all()


def test_invalid_options_are_rejected():
    with raises(ConfigError, "touch", "'wrenhc'", "'wrench'"):
        TaskEnv(Reach(), touch="wrenhc")
    with raises(ConfigError, "render_mode", "rgb_array", "'human'"):
        TaskEnv(Reach(), render_mode="human")
    with raises(EngineError, "backend", "'warpp'"):
        TaskEnv(Reach(), backend="warpp")
    with raises(ConfigError, "task", "Reach"):
        TaskEnv(Reach)
    with raises(ConfigError, "task", "NoReward", "reward"):
        TaskEnv(type("NoReward", (Reach,), {"reward": Task.reward})())
    for method, value in (
        ("reward", np.zeros((1, 16))), ("reward", None), ("reward", np.zeros(1, complex)), ("state", "far"),
        ("terminated", [False] * 3), ("terminated", None), ("state", np.zeros(4)), ("controls", np.zeros(5)),
    ):  # fmt: skip
        with raises(ConfigError, f"Wrong.{method}", str(np.shape(value))):
            TaskEnv(type("Wrong", (Reach,), {method: lambda *_, value=value: value})()).step([0.0, 0.0])
    with raises(ConfigError, "Wrong.actions", "-1"):
        TaskEnv(type("Wrong", (Reach,), {"actions": lambda *_: -1})())
    for name, value in (("substeps", 0), ("substeps", None), ("episode_steps", 1.5)):
        with raises(ConfigError, f"Wrong.{name}", str(value)):
            TaskEnv(type("Wrong", (Reach,), {name: value})())
    for action in ("up", [[0.0], [0.0, 1.0]], None):
        with raises(CommandError, "actions", "(1, 2)"):
            TaskEnv(Reach()).step(action)

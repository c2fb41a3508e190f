"""The shipped tasks: observations, rewards and termination."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from ctypes.util import find_library

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from tactile_sim.learning import OBSERVATIONS, BallBalance, GripHold, HandRotate, TaskVectorEnv  # noqa: E402

BALANCE = "tactile_sim/BallBalance-v0"
GRAVITY = 9.81


def place(environments, task, offsets):
    """Place the balls at offsets (n, 2) [m] from the center of a level tray at rest."""
    batch = environments.batch
    batch.reset()
    batch.qpos[:, :2] = batch.simulation.engine.model.qpos_spring[:2]
    batch.observe()
    tray = batch.simulation.names.body_id("tray")
    batch.qpos[:, 4:7] = (
        batch.worlds.xpos[:, tray] + np.c_[offsets, np.full(len(offsets), task.HEIGHT - 1e-4)]
    )


@pytest.mark.parametrize("name", ["BallBalance", "HandRotate", "GripHold"])
def test_environment_checker_passes_for_shipped_tasks(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*A Box observation space (min|max)imum value is -?infinity")
        check_env(gymnasium.make(f"tactile_sim/{name}-v0", touch="contact").unwrapped, skip_render_check=True)


@pytest.mark.parametrize("touch", OBSERVATIONS)
def test_vector_environments_have_each_observation(touch):
    environments = gymnasium.make_vec(BALANCE, num_envs=3, touch=touch)
    observation, _ = environments.reset(seed=0)
    assert environments.observation_space.contains(observation)
    observation, reward, *_ = environments.step(environments.action_space.sample())
    assert environments.observation_space.contains(observation) and reward.shape == (3,)


def test_observation_without_touch_does_not_depend_on_the_ball():
    actions = np.random.default_rng(0).uniform(-0.5, 0.5, (10, 1, 2)).repeat(4, axis=1)
    environments = gymnasium.make_vec(BALANCE, num_envs=4, touch="none").unwrapped
    environments.reset(seed=0)  # four different states
    for action in actions:
        observation, *_ = environments.step(action)
        assert (observation == observation[0]).all()
    assert np.ptp(environments.task.ball_position(environments.batch)[:, 0]) > 0.01


def test_ball_balance_reward_and_end_follow_from_the_position_of_the_ball():
    offsets = np.array([[0.0, 0.0], [0.06, 0.0], [0.0, -0.119], [0.121, 0.0]])
    task = BallBalance()
    environments = TaskVectorEnv(task, 4)
    place(environments, task, offsets)
    seen = environments.batch.observe()
    # The tray is level only up to second-order terms in the base's angle of 0.05 rad.
    np.testing.assert_allclose(task.ball_position(environments.batch)[:, :2], offsets, atol=5e-4)
    expected = 1.0 - (np.linalg.norm(offsets, axis=1) / 0.12) ** 2
    reward = task.reward(environments.batch, seen, None)
    np.testing.assert_allclose(reward, np.maximum(expected, 0.0), atol=0.01)
    assert task.terminated(environments.batch, seen).tolist() == [False, False, False, True]


def test_tiles_and_image_show_where_the_ball_is():
    offsets = np.array([[0.05, -0.07], [-0.07, 0.05]])
    task = BallBalance()
    environments = TaskVectorEnv(task, 2, touch="image")
    place(environments, task, offsets)
    seen = environments.batch.observe()
    image = environments._images(seen)[..., 0]
    assert image.shape == (2, 8, 8)
    for pixels, offset in zip(image, offsets, strict=True):
        row, column = np.unravel_index(np.argmax(pixels), (8, 8))
        np.testing.assert_allclose(0.03 * (np.array([column, row]) - 3.5), offset, atol=0.016)


def test_render_without_opengl_is_an_error_each_time():
    code = (
        "import gymnasium, tactile_sim.learning\n"
        "from tactile_sim import EngineError\n"
        "for _ in range(2):\n"
        f"    environment = gymnasium.make('{BALANCE}', render_mode='rgb_array')\n"
        "    environment.reset(seed=0)\n"
        "    try:\n"
        "        environment.render()\n"
        "    except EngineError as error:\n"
        "        print('MUJOCO_GL' in str(error))\n"
    )
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL")
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("True\nTrue\n", 0), done.stderr


@pytest.mark.skipif(not find_library("EGL"), reason="no OpenGL: apt install libegl1 libgl1-mesa-dri")
def test_render_returns_an_image_of_each_environment():
    code = (
        "import gymnasium, tactile_sim.learning\n"
        f"environments = gymnasium.make_vec('{BALANCE}', num_envs=2, render_mode='rgb_array')\n"
        "environments.reset(seed=0)\n"
        "one, other = environments.render()\n"
        "print(one.shape, (one != other).any())\n"
    )
    environment = os.environ | {"MUJOCO_GL": "egl"}  # MuJoCo selects OpenGL when it is imported
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == "(240, 320, 3) True\n", done.stderr


def test_nan_action_ends_and_resets_its_environment_only():
    runs = []
    for bad in (0.0, np.nan):
        environments = gymnasium.make_vec(BALANCE, num_envs=3, touch="taxels")
        environments.reset(seed=0)
        actions = np.zeros((3, 2))
        for k in range(4):
            actions[1, 0] = bad if k == 1 else 0.0
            observation, _, terminated, _, info = environments.step(actions)
            assert info["fault"].tolist() == terminated.tolist() == [False, k == 1 and bad != 0.0, False]
            assert np.isfinite(observation).all()
        runs.append(observation)
    np.testing.assert_array_equal(runs[0][[0, 2]], runs[1][[0, 2]])


@pytest.mark.parametrize("backend", ["mujoco", "motrix"])
def test_gripped_block_is_held_crushed_or_slips(backend):
    if backend == "motrix":
        pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")
    task = GripHold()
    environments = TaskVectorEnv(task, 3, touch="wrench", backend=backend)
    environments.reset(seed=0)
    task._load[:, 0] = 2.0
    ended = np.zeros(3, bool)
    for k in range(150):
        action = np.array([[0.0], [1.0], [-1.0]])
        observation, reward, terminated, *_ = environments.step(np.where(ended[:, None], 0.0, action))
        if k == 50:
            # The pads together carry the weight and the load, which varies between 0 and 2 N.
            lift = observation[0, 1:].reshape(2, 6)[:, 2].sum()
            assert -0.2 * GRAVITY - 2.2 < lift < -0.2 * GRAVITY + 0.2
        assert 0.0 <= reward[0] <= 1.0 and not terminated[0]
        ended |= terminated
    assert ended.tolist() == [False, True, True]


def test_hand_rotate_rewards_turning_about_the_vertical():
    task = HandRotate()
    environments = TaskVectorEnv(task, 3)
    environments.reset(seed=0)
    batch = environments.batch
    start = task._ball_dof(batch)
    rotation = batch.worlds.xmat[:, task._ball(batch)].reshape(-1, 3, 3)
    batch.qvel[:, start : start + 3] = 0.0
    spin = np.array([[0.0, 0.0, 0.5], [0.0, 0.0, -0.5], [0.7, 0.0, 0.0]])
    batch.qvel[:, start + 3 : start + 6] = np.einsum("nji,nj->ni", rotation, spin)
    np.testing.assert_allclose(task.reward(batch, batch.observe(), None), spin[:, 2], atol=1e-9)
    assert not task.terminated(batch, batch.observe()).any()

"""Linear policies, and the policy shipped for the configuration `balance`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tactile_sim
from tactile_sim.control.linear_policy import LinearPolicy

SHIPPED = Path(__file__).parents[2] / "examples/balance.npz"


def test_policy_is_a_pd_controller_of_its_observation():
    weights = np.array([[-2.0], [-3.0], [0.1]])
    policy = LinearPolicy(weights, np.array([0.5]), np.array([0.25]), lag=0.2)
    memory = None
    for observation in (0.5, 0.52, 0.55, 0.53):
        z = (observation - 0.5) / 0.25
        change = 0.0 if memory is None else z - memory
        memory = z if memory is None else memory + 0.2 * change
        assert policy(np.array([observation])) == pytest.approx(-2.0 * z - 3.0 * change + 0.1)
    assert policy(np.array([9.0])) == -1.0


def test_saved_policy_gives_the_same_actions(tmp_path):
    random = np.random.default_rng(0)
    policy = LinearPolicy(random.normal(size=(9, 2)), random.normal(size=4), np.ones(4))
    policy.save(tmp_path / "policy.npz")
    loaded = LinearPolicy.load(tmp_path / "policy.npz")
    for observations in random.normal(size=(3, 5, 4)):
        np.testing.assert_allclose(loaded(observations), policy(observations), atol=1e-5)
    policy.reset()
    np.testing.assert_array_equal(policy.features(observations)[:, 4:8], 0.0)


@pytest.mark.parametrize("controlled", [True, False])
def test_ball_stays_on_the_tray_only_with_the_shipped_policy(controlled):
    assert SHIPPED.stat().st_size < 10_000
    policy, target = LinearPolicy.load(SHIPPED), np.zeros(2)
    simulation = tactile_sim.load("balance")
    tray, ball = (simulation.names.body_id(name) for name in ("tray", "ball"))
    for _ in range(500):  # 10 s
        if controlled:
            contact = simulation.observe().readings.reshape(16, 4).any(axis=1)  # of 16 tiles
            target = 0.2 * policy(np.concatenate([target, contact]))
        simulation.command_joints(position=dict(zip(("tilt_x", "tilt_y"), target, strict=True)))
        simulation.step(5)
    positions = simulation.engine.body_positions
    # Half the diagonal of the tray is 0.17 m; the floor is 0.19 m below it.
    distance = np.linalg.norm(positions[ball] - positions[tray])
    assert distance < 0.17 if controlled else distance > 0.18

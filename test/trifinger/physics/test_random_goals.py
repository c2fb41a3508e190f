"""Fingers that touch each other, the table or the border reach the same positions as in PyBullet.

random_goals.npz contains goals and joint positions from trifinger_simulation 2.0.0; see
tools/record_trifinger.py.
"""

from pathlib import Path

import numpy as np
import pytest

from tactile_sim.trifinger.sim_finger import SimFinger

GOAL_STEPS = 250
DIRECTION = {3: 0.07, 5: 0.15}
"""Bounds of sequences in which the direction of Bullet's friction matters, see docs/trifinger.md [rad]."""


def recorded(name):
    with np.load(Path(__file__).with_name("random_goals.npz")) as file:
        return file[name].astype(float)


def reached(goals):
    finger = SimFinger("trifingerpro")
    positions = np.empty(goals.shape)
    for goal, row in zip(goals, positions, strict=True):
        action = finger.Action(position=goal)
        for _ in range(GOAL_STEPS):
            t = finger.append_desired_action(action)
        row[:] = finger.get_observation(t + 1).position
    return positions


@pytest.mark.parametrize("sequence", range(6))
def test_joints_reach_random_goals_as_in_pybullet(sequence):
    errors = reached(recorded("goals")[sequence]) - recorded("positions")[sequence]
    assert np.sqrt(np.mean(errors**2)) < DIRECTION.get(sequence, 0.02)


def test_friction_is_equal_in_all_directions():
    """The robot is symmetric, so at equal goals its three fingers move equally. In PyBullet they do not."""

    def spread(positions):
        return np.ptp(positions.reshape(-1, 3, 3), axis=1).max()

    goals = recorded("goals")[5, :, :3]
    assert spread(reached(np.tile(goals, 3))) < 0.01
    assert spread(recorded("alike")) > 0.5

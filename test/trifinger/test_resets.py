"""Resets of joint positions and reproducible motion."""

import numpy as np
import pytest

from tactile_sim.trifinger import SimFinger

BENT = [0.0, 0.9, -1.7]


@pytest.fixture
def finger():
    return SimFinger("fingerpro")


def go(finger, steps, seed=0):
    """Move to random targets, which change every 50 steps.

    Returns:
        Joint positions, joint velocities and tip forces in each step (steps, 2 joints + fingers).
    """
    random = np.random.default_rng(seed)
    went = []
    for step in range(steps):
        if step % 50 == 0:
            target = random.uniform([-0.3, 0, -2.7], [1, 1.5, 0], (finger.number_of_fingers, 3)).ravel()
        seen = finger.get_observation(finger.append_desired_action(finger.Action(position=target)) + 1)
        went.append(np.concatenate([seen.position, seen.velocity, seen.tip_force]))
    return np.array(went)


def test_reset_sets_joints_and_keeps_time_index(finger):
    t = finger.append_desired_action(finger.Action(torque=[0.1, 0, 0]))
    seen = finger.reset_finger_positions_and_velocities([0.1, 0.5, -1.0], [1.0, 2.0, 3.0])
    assert (seen.position.tolist(), seen.velocity.tolist()) == ([0.1, 0.5, -1.0], [1.0, 2.0, 3.0])
    assert finger.get_current_timeindex() == t
    assert finger.get_observation(t + 1).position.tolist() == [0.1, 0.5, -1.0]
    assert finger.reset_finger_positions_and_velocities(BENT).velocity.tolist() == [0.0] * 3


@pytest.mark.parametrize("finger_type", ["trifingerpro", "trifingeredu"])
def test_equal_resets_are_bit_identical(finger_type):
    first, second = SimFinger(finger_type), SimFinger(finger_type)
    start = BENT * 3
    first.reset_finger_positions_and_velocities(start)
    went = go(first, 400)
    go(second, 170, seed=1)
    for finger in (first, second, second):
        finger.reset_finger_positions_and_velocities(start)
        assert go(finger, 400).tobytes() == went.tobytes()

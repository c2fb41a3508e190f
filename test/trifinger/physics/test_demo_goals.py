"""Fingers that touch each other, the table or the border reach the same positions as in PyBullet.

demo_goals.npz contains goals and joint positions from trifinger_simulation 2.0.0; see
tools/record_trifinger.py.
"""

from pathlib import Path

import numpy as np

from tactile_sim.trifinger.sim_finger import SimFinger

GOAL_STEPS = 250


def test_joints_reach_demo_goals_as_in_pybullet():
    with np.load(Path(__file__).with_name("demo_goals.npz")) as recorded:
        goals, expected = recorded["goals"].astype(float), recorded["positions"]
    positions = np.empty_like(expected)
    for sequence, row in zip(goals, positions, strict=True):
        finger = SimFinger("trifingerpro")
        for number, goal in enumerate(sequence):
            action = finger.Action(position=goal)
            for _ in range(GOAL_STEPS):
                t = finger.append_desired_action(action)
            row[number] = finger.get_observation(t).position
    errors = positions - expected
    assert np.sqrt(np.mean(errors**2)) < 0.05
    assert (np.abs(errors) > 0.1).sum() <= 0.03 * errors.size

"""Free motion is PyBullet's, within 1e-6 rad over 1 s.

free_motion.npz holds what trifinger_simulation 2.0.0 did; tools/record_trifinger.py says how it was recorded.
"""

from pathlib import Path

import numpy as np
import pytest

from tactile_sim.trifinger import finger_types_data
from tactile_sim.trifinger.physics.fingers import FingerPhysics
from tactile_sim.trifinger.robot.spec import load_spec

HEIGHT, HOLD = 0.5, 50
"""Of the robot above its stage [m], and steps that each command holds."""
WITHIN = 1e-6
"""[rad] root mean square over all joints."""


def deviation(finger_type, link_drag):
    """Root mean square of what the joint positions differ by from the recorded ones [rad]."""
    with np.load(Path(__file__).with_name("free_motion.npz")) as recorded:
        start, velocity, torques, targets, positions = (
            recorded[f"{finger_type}/{name}"]
            for name in ("start", "velocity", "torque", "position", "positions")
        )
    physics = FingerPhysics(
        load_spec(finger_type, base_position=(0, 0, HEIGHT)), finger_type, link_drag=link_drag
    )
    physics.set(start, velocity)
    usual = np.full(len(start), np.nan)
    went = []
    for torque, target in zip(torques, targets, strict=True):
        physics.rules.desire(torque, target, usual, usual)
        for _ in range(HOLD):
            physics.step()
        went.append(physics.q.copy())
    return np.sqrt(np.mean((np.array(went) - positions) ** 2))


@pytest.mark.parametrize("finger_type", finger_types_data.get_valid_finger_types())
def test_joints_go_where_pybullet_has_them_go(finger_type):
    assert deviation(finger_type, link_drag=True) < WITHIN


def test_without_the_drag_of_bullet_they_do_not():
    assert deviation("trifingerpro", link_drag=False) > 1e-3

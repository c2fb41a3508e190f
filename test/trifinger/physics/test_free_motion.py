"""Free motion equals that in PyBullet to within 1e-6 rad over 1 s.

free_motion.npz was recorded from trifinger_simulation 2.0.0 with tools/record_trifinger.py.
"""

from pathlib import Path

import numpy as np
import pytest

from tactile_sim.trifinger import finger_types_data
from tactile_sim.trifinger.physics.fingers import FingerPhysics
from tactile_sim.trifinger.robot.spec import load_spec

HEIGHT, HOLD = 0.5, 50
"""Height of the robot above its stage [m], and duration of each command [steps]."""
WITHIN = 1e-6
"""Maximum root mean square deviation over all joints [rad]."""


def deviation(finger_type, link_drag):
    """Return the root mean square difference from the recorded joint positions [rad]."""
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
def test_free_motion_equals_pybullet(finger_type):
    assert deviation(finger_type, link_drag=True) < WITHIN


def test_free_motion_differs_without_drag():
    assert deviation("trifingerpro", link_drag=False) > 1e-3

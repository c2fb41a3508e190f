"""Three fingers lift the cube and hold it."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tactile_sim.trifinger.tasks.move_cube import Pose

from tactile_sim.trifinger.grip import Grip
from tactile_sim.trifinger.trifinger_platform import TriFingerPlatform

WEIGHT = 0.094 * 9.81
LIFTED, HELD = 4400, 3000
"""Number of steps until the cube is lifted, and number of steps for which it is held."""


@pytest.mark.parametrize(("turn", "place"), [(0, (0, 0, 0.0325)), (20, (0.02, -0.02, 0.0325))])
def test_lifted_cube_is_held(turn, place):
    orientation = Rotation.from_euler("z", turn, degrees=True).as_quat()
    platform = TriFingerPlatform(initial_object_pose=Pose(place, orientation))
    finger = platform.simfinger
    now = finger.get_observation(0)
    grip = Grip(finger.kinematics, now.position, place, orientation, height=0.05, force=2.0)
    heights, tilts = [], []
    for step in range(LIFTED + HELD):
        torques = grip.torques(step * 0.001, now.position, now.velocity)
        t = platform.append_desired_action(platform.Action(torque=torques))
        now = finger.get_observation(t + 1)
        if step >= LIFTED:
            position, quaternion = platform.cube.get_state()
            heights.append(position[2])
            tilts.append(np.linalg.norm(quaternion[:2]))
    assert min(heights) > 0.0325 + 0.05 - 0.002
    assert max(heights) - min(heights) < 0.002
    assert max(tilts) < 0.1
    # Only the tips hold the cube: their forces sum to its weight.
    forces = -finger.tip_forces()
    np.testing.assert_allclose(forces.sum(axis=0), (0, 0, WEIGHT), atol=0.02 * WEIGHT)
    pressing = np.sort(finger.physics.tip_normal_forces)
    assert pressing[2] == pytest.approx(2.0, abs=0.3)
    assert pressing[0] > 0.5
    assert pressing[:2].sum() == pytest.approx(pressing[2], abs=0.3)

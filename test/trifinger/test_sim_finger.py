"""Initial state, offset, joint limits and scene of a robot."""

import numpy as np
import pytest

from tactile_sim.trifinger import SimFinger, finger_types_data

TYPES = tuple(finger_types_data.get_valid_finger_types())


@pytest.mark.parametrize("finger_type", TYPES)
def test_initial_positions_depend_on_type(finger_type):
    seen = SimFinger(finger_type).get_observation(0)
    fingers = finger_types_data.get_number_of_fingers(finger_type)
    assert seen.position.tolist() == list(finger_types_data.get_initial_joint_positions(finger_type))
    assert seen.velocity.tolist() == seen.torque.tolist() == [0.0] * 3 * fingers
    assert seen.tip_force.tolist() == [0.05] * fingers


def test_offset_moves_robot():
    finger = SimFinger("trifingerpro", robot_position_offset=(0.1, 0.2, 0.3))
    tips = finger.kinematics.forward_kinematics(finger.get_observation(0).position)
    data = finger.physics.data
    assert data.xpos[finger.physics.tips] == pytest.approx(np.array(tips) + [0.1, 0.2, 0.3], abs=1e-12)


def test_joint_limits_withstand_motors():
    """The URDF has limits of -0.33 to 1, 0 to 1.57, and -2.7 to 0 rad."""
    finger = SimFinger("fingerpro")
    for sign, stops in ((1, [1.0, 1.57, 0.0]), (-1, [-0.33, 0.0, -2.7])):
        finger.reset_finger_positions_and_velocities(np.array(stops) - sign * 0.05)
        for _ in range(500):
            t = finger.append_desired_action(finger.Action(torque=[sign * 0.396] * 3))
        beyond = sign * (finger.get_observation(t + 1).position - stops)
        assert 0 < beyond.max() < 1e-3


def test_drag_can_be_disabled():
    """Without drag, a finger is faster at equal torque."""
    speeds = []
    for link_drag in (True, False):
        finger = SimFinger("fingeredu", link_drag=link_drag)
        for _ in range(100):
            t = finger.append_desired_action(finger.Action(torque=[0.2, 0, 0]))
        speeds.append(finger.get_observation(t + 1).velocity[0])
    assert speeds[0] < speeds[1]


def test_objects_can_be_added_at_any_time():
    def add(name, y):
        def edit(spec):
            body = spec.worldbody.add_body(name=name, pos=(0, y, 0.5))
            body.add_freejoint()
            body.add_geom(size=(0.01, 0, 0))

        return edit

    finger = SimFinger("fingerpro", link_drag=False, furnish=add("first", -0.1))
    finger.append_desired_action(finger.Action(torque=[0.1, 0.1, 0.1]))
    before = finger.get_observation(1)
    finger.edit_scene(add("second", 0.1))
    after = finger.get_observation(1)
    assert after.position.tolist() == before.position.tolist()
    assert after.velocity.tolist() == before.velocity.tolist()
    assert [finger.physics.model.body(name).name for name in ("first", "second")] == ["first", "second"]
    t = finger.append_desired_action(finger.Action(torque=[0.1, 0.1, 0.1]))
    assert (finger.get_observation(t + 1).velocity != before.velocity).all()
    # Both fall, but the second one for one step less.
    fallen = [finger.physics.model.body(name).jntadr[0] for name in ("first", "second")]
    speeds = [finger.physics.data.qvel[finger.physics.model.jnt_dofadr[joint] + 2] for joint in fallen]
    assert speeds == pytest.approx([-2 * 0.00981, -0.00981], rel=1e-6)

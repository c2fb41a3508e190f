"""Forward and inverse kinematics of the fingers."""

import numpy as np
import pytest

from tactile_sim.trifinger.finger_types_data import get_initial_joint_positions, get_valid_finger_types
from tactile_sim.trifinger.kinematics import STEP, Kinematics
from tactile_sim.trifinger.robot import tip_link_names
from tactile_sim.trifinger.robot_files import urdf_file


def kinematics(finger_type):
    return Kinematics(urdf_file(finger_type), tip_link_names(finger_type))


def test_a_straight_finger_hangs_below_its_base():
    """The URDF of fingerpro: base at 0.29, from there 0.01685 + 0.05015 + 0.019, 0.0505 and -0.16 - 0.16."""
    [tip] = kinematics("fingerpro").forward_kinematics([0, 0, 0])
    assert tip == pytest.approx([0.086, 0.0505, 0.29 - 0.32], abs=1e-12)


def test_a_turn_of_the_lower_link_moves_the_tip_on_its_circle():
    """About x, the length 0.16 turned by -1 rad, at 2 rad/s."""
    [tip], [velocity] = kinematics("fingerpro").forward_kinematics([0, 0, -1.0], [0, 0, 2.0])
    expected = [0.086, 0.0505 + 0.16 * np.sin(-1.0), 0.13 - 0.16 * np.cos(-1.0)]
    assert tip == pytest.approx(expected, abs=1e-12)
    speed = 2.0 * 0.16
    assert velocity == pytest.approx([0, speed * np.cos(-1.0), speed * np.sin(-1.0)], abs=1e-12)


@pytest.mark.parametrize("finger_type", get_valid_finger_types())
def test_tips_come_within_the_tolerance(finger_type):
    robot, start = kinematics(finger_type), np.array(get_initial_joint_positions(finger_type), float)
    start = start + 0.1
    wanted = robot.forward_kinematics(start + np.tile([0.2, -0.2, 0.3], len(start) // 3))
    joints, ways = robot.inverse_kinematics(wanted, start, tolerance=1e-4)
    reached = robot.forward_kinematics(joints)
    assert all(np.linalg.norm(way) < 1e-4 for way in ways)
    assert np.array(reached) == pytest.approx(np.array(wanted), abs=1e-4)


def test_other_fingers_stay_where_they_are():
    robot, start = kinematics("trifingeredu"), np.array(get_initial_joint_positions("trifingeredu"), float)
    target = robot.forward_kinematics(start)[1] + [0.01, 0.01, 0.01]
    joints, _ = robot.inverse_kinematics_one_finger(1, target, start)
    moved = joints != start
    assert moved.tolist() == [False] * 3 + [True] * 3 + [False] * 3


def test_each_iteration_goes_a_tenth_of_the_way():
    robot, start = kinematics("fingeredu"), [0.1, 0.9, -1.7]
    [tip] = robot.forward_kinematics(start)
    joints, way = robot.inverse_kinematics_one_finger(0, tip + [1e-4, 0, 0], start, 1e-9, max_iterations=1)
    assert way == pytest.approx([1e-4, 0, 0], abs=1e-12)
    assert robot.forward_kinematics(joints)[0] - tip == pytest.approx([STEP * 1e-4, 0, 0], abs=1e-8)

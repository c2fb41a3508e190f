"""Forward and inverse kinematics of the fingers."""

import math

import numpy as np
import pytest
from support.errors import raises

from tactile_sim.common.errors import TactileSimError
from tactile_sim.trifinger import pinocchio_utils
from tactile_sim.trifinger.finger_types_data import (
    get_initial_joint_positions,
    get_valid_finger_types,
    tip_link_names,
)
from tactile_sim.trifinger.pinocchio_utils import STEP, Kinematics
from tactile_sim.trifinger.scene import urdf_file


def kinematics(finger_type):
    return Kinematics(urdf_file(finger_type), tip_link_names(finger_type))


def test_straight_finger_points_down():
    """Expected values are sums of lengths in the URDF of fingerpro.

    The base height is 0.29 m, the offsets are 0.01685 + 0.05015 + 0.019 m in x and 0.0505 m in y, and each
    link is 0.16 m long.
    """
    [tip] = kinematics("fingerpro").forward_kinematics([0, 0, 0])
    assert tip == pytest.approx([0.086, 0.0505, 0.29 - 0.32], abs=1e-12)


def test_lower_joint_moves_tip_on_circle():
    """The link of 0.16 m is at -1 rad about x and rotates at 2 rad/s."""
    [tip], [velocity] = kinematics("fingerpro").forward_kinematics([0, 0, -1.0], [0, 0, 2.0])
    expected = [0.086, 0.0505 + 0.16 * np.sin(-1.0), 0.13 - 0.16 * np.cos(-1.0)]
    assert tip == pytest.approx(expected, abs=1e-12)
    speed = 2.0 * 0.16
    assert velocity == pytest.approx([0, speed * np.cos(-1.0), speed * np.sin(-1.0)], abs=1e-12)


@pytest.mark.parametrize("finger_type", get_valid_finger_types())
def test_inverse_kinematics_reaches_tolerance(finger_type):
    robot, start = kinematics(finger_type), np.array(get_initial_joint_positions(finger_type), float)
    start = start + 0.1
    wanted = robot.forward_kinematics(start + np.tile([0.2, -0.2, 0.3], len(start) // 3))
    joints, ways = robot.inverse_kinematics(wanted, start, tolerance=1e-4)
    reached = robot.forward_kinematics(joints)
    assert all(np.linalg.norm(way) < 1e-4 for way in ways)
    assert np.array(reached) == pytest.approx(np.array(wanted), abs=1e-4)


def test_inverse_kinematics_of_one_finger_keeps_others():
    robot, start = kinematics("trifingeredu"), np.array(get_initial_joint_positions("trifingeredu"), float)
    target = robot.forward_kinematics(start)[1] + [0.01, 0.01, 0.01]
    joints, _ = robot.inverse_kinematics_one_finger(1, target, start)
    moved = joints != start
    assert moved.tolist() == [False] * 3 + [True] * 3 + [False] * 3


def test_iteration_reduces_error_by_a_tenth():
    robot, start = kinematics("fingeredu"), [0.1, 0.9, -1.7]
    [tip] = robot.forward_kinematics(start)
    joints, way = robot.inverse_kinematics_one_finger(0, tip + [1e-4, 0, 0], start, 1e-9, max_iterations=1)
    assert way == pytest.approx([1e-4, 0, 0], abs=1e-12)
    assert robot.forward_kinematics(joints)[0] - tip == pytest.approx([STEP * 1e-4, 0, 0], abs=1e-8)


@pytest.mark.parametrize("finger_type", ["trifingerpro", "fingerone"])
def test_jacobian_equals_finite_differences(finger_type):
    robot, start = kinematics(finger_type), np.array(get_initial_joint_positions(finger_type), float) + 0.1
    step = 1e-6
    for finger in range(len(start) // 3):
        columns = [
            (robot.forward_kinematics(start + move)[finger] - robot.forward_kinematics(start - move)[finger])
            / (2 * step)
            for move in step * np.eye(len(start))
        ]
        # The error of central differences is of the order of step².
        assert robot.jacobian(finger, start) == pytest.approx(np.transpose(columns), abs=1e-9)


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        (lambda robot: robot.forward_kinematics(None), ("joint_positions",)),
        (lambda robot: robot.forward_kinematics([math.nan] * 9), ("joint_positions",)),
        (lambda robot: robot.forward_kinematics([0.0] * 9, [0.0] * 3), ("joint_velocities",)),
        (
            lambda robot: robot.inverse_kinematics([[0, 0, 0.1]] * 2, [0.0] * 9),
            ("tip_target_positions", "(3, 3)"),
        ),
        (
            lambda robot: robot.inverse_kinematics([[0, 0, math.nan]] * 3, [0.0] * 9),
            ("tip_target_positions",),
        ),
        (
            lambda robot: robot.inverse_kinematics_one_finger(0, [0, 0, 0.1], [1j] * 9),
            ("joint_angles_guess",),
        ),
        (lambda robot: robot.jacobian(3, [0.0] * 9), ("finger_idx", "2", "3")),
        (lambda robot: robot.jacobian([0], [0.0] * 9), ("finger_idx",)),
    ],
)
def test_invalid_argument_is_named(call, facts):
    with raises(ValueError, *facts) as caught:
        call(kinematics("trifingerpro"))
    assert isinstance(caught.value, TactileSimError)


def test_kinematics_is_in_pinocchio_utils():
    assert pinocchio_utils.Kinematics is Kinematics


def test_pinocchio_model_is_missing():
    robot = kinematics("fingerpro")
    with pytest.raises(TactileSimError) as raised:
        robot.robot_model  # noqa: B018 - reading it raises
    assert isinstance(raised.value, AttributeError)
    assert not hasattr(robot, "robot_model")
    assert robot.jacobian(0, [0, 0, 0]).shape == (3, robot.model.nv)

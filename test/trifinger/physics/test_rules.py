"""From desired to applied torques: each rule by its own numbers."""

import numpy as np
import pytest

from tactile_sim.trifinger.physics.rules import Rules

NAN = np.nan
NONE = np.full(3, NAN)
STILL = np.zeros(3)


def applied(torque=STILL, position=NONE, kp=NONE, kd=NONE, q=STILL, qd=STILL, finger_type="fingerpro"):
    rules = Rules(finger_type)
    rules.desire(torque, position, kp, kd)
    return rules.apply(np.array(q, float), np.array(qd, float)).tolist()


def test_a_torque_alone_is_applied_as_it_is():
    assert applied(torque=[0.1, -0.2, 0.3]) == [0.1, -0.2, 0.3]


def test_torques_are_limited():
    assert applied(torque=[1.0, -5.0, np.inf]) == [0.396, -0.396, 0.396]


@pytest.mark.parametrize(("finger_type", "kp", "kd"), [
    ("fingerpro", (15, 15, 9), (0.5, 1.0, 0.5)),
    ("fingeredu", (10, 10, 10), (0.1, 0.3, 0.001)),
    ("fingerone", (10, 10, 10), (0.1, 0.3, 0.001)),
])  # fmt: skip
def test_a_position_is_controlled_with_the_gains_of_its_type_and_then_damped(finger_type, kp, kd):
    torque = applied(position=[0.01] * 3, q=[0.0, 0.005, 0.02], qd=[0.1] * 3, finger_type=finger_type)
    errors, safety = (0.01, 0.005, -0.01), (0.08, 0.08, 0.04)
    expected = [p * e - d * 0.1 - s * 0.1 for p, e, d, s in zip(kp, errors, kd, safety, strict=True)]
    assert torque == pytest.approx(expected, abs=1e-15)


def test_torque_and_position_add_up():
    assert applied(torque=[0.1, 0, 0], position=[0.01, NAN, NAN]) == pytest.approx([0.25, 0, 0], abs=1e-15)


def test_a_joint_without_position_is_not_controlled_though_it_moves():
    torque = applied(position=[NAN, 0.0, NAN], qd=[1.0, 1.0, 1.0])
    # kd of the middle joint: 1, more than the motor gives; then the safety's damping as everywhere.
    assert torque == pytest.approx([-0.08, -0.396, -0.04], abs=1e-15)


def test_damping_comes_after_the_limit_and_is_limited_in_turn():
    assert applied(torque=[5.0, 5.0, -5.0], qd=[1.0, -1.0, 1.0]) == pytest.approx([0.316, 0.396, -0.396])
    assert applied(qd=[10.0, -10.0, 0.0]) == pytest.approx([-0.396, 0.396, 0.0])


def test_gains_that_are_nan_are_the_usual_ones_joint_by_joint():
    rules = Rules("fingerpro")
    rules.desire(STILL, [0.01] * 3, [1.0, NAN, 2.0], [NAN, 0.0, NAN])
    torque = rules.apply(STILL, STILL)
    assert torque == pytest.approx([0.01, 0.15, 0.02])
    assert rules.applied[1].tolist() == [1.0, 15.0, 2.0]
    assert rules.applied[2].tolist() == [0.5, 0.0, 0.5]


def test_a_torque_that_is_nan_is_refused_and_the_last_action_stays():
    rules = Rules("fingerpro")
    rules.desire([0.1, 0, 0], NONE, NONE, NONE)
    with pytest.raises(ValueError, match="torque of joint 1 is NaN"):
        rules.desire([0, NAN, 0], NONE, NONE, NONE)
    assert rules.apply(STILL, STILL).tolist() == [0.1, 0, 0]


def test_an_action_for_another_number_of_joints_is_refused():
    with pytest.raises(ValueError, match=r"action.position has the shape \(9,\), the robot has 3 joints"):
        Rules("fingerpro").desire(STILL, np.zeros(9), NONE, NONE)

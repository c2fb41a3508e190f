"""Action rules, which determine the applied torques from the desired actions."""

import numpy as np
import pytest
from support.errors import raises

from tactile_sim.trifinger.physics.rules import Rules

NAN = np.nan
NONE = np.full(3, NAN)
STILL = np.zeros(3)


def applied(torque=STILL, position=NONE, kp=NONE, kd=NONE, q=STILL, qd=STILL, finger_type="fingerpro"):
    rules = Rules(finger_type)
    rules.desire(torque, position, kp, kd)
    return rules.apply(np.array(q, float), np.array(qd, float)).tolist()


def test_torque_is_applied():
    assert applied(torque=[0.1, -0.2, 0.3]) == [0.1, -0.2, 0.3]


def test_torque_is_clamped():
    assert applied(torque=[1.0, -5.0, np.inf]) == [0.396, -0.396, 0.396]


@pytest.mark.parametrize(("finger_type", "kp", "kd"), [
    ("fingerpro", (15, 15, 9), (0.5, 1.0, 0.5)),
    ("fingeredu", (10, 10, 10), (0.1, 0.3, 0.001)),
    ("fingerone", (10, 10, 10), (0.1, 0.3, 0.001)),
])  # fmt: skip
def test_position_control_uses_gains_of_type(finger_type, kp, kd):
    torque = applied(position=[0.01] * 3, q=[0.0, 0.005, 0.02], qd=[0.1] * 3, finger_type=finger_type)
    errors, safety = (0.01, 0.005, -0.01), (0.08, 0.08, 0.04)
    expected = [p * e - d * 0.1 - s * 0.1 for p, e, d, s in zip(kp, errors, kd, safety, strict=True)]
    assert torque == pytest.approx(expected, abs=1e-15)


def test_torque_and_position_control_add_up():
    assert applied(torque=[0.1, 0, 0], position=[0.01, NAN, NAN]) == pytest.approx([0.25, 0, 0], abs=1e-15)


def test_nan_disables_position_control():
    torque = applied(position=[NAN, 0.0, NAN], qd=[1.0, 1.0, 1.0])
    # kd of the middle joint is 1, so the torque exceeds the limit of the motor; then safety damping applies.
    assert torque == pytest.approx([-0.08, -0.396, -0.04], abs=1e-15)


def test_damping_is_applied_between_clamps():
    assert applied(torque=[5.0, 5.0, -5.0], qd=[1.0, -1.0, 1.0]) == pytest.approx([0.316, 0.396, -0.396])
    assert applied(qd=[10.0, -10.0, 0.0]) == pytest.approx([-0.396, 0.396, 0.0])


def test_nan_selects_default_gain_of_joint():
    rules = Rules("fingerpro")
    rules.desire(STILL, [0.01] * 3, [1.0, NAN, 2.0], [NAN, 0.0, NAN])
    torque = rules.apply(STILL, STILL)
    assert torque == pytest.approx([0.01, 0.15, 0.02])
    assert rules.applied[1].tolist() == [1.0, 15.0, 2.0]
    assert rules.applied[2].tolist() == [0.5, 0.0, 0.5]


def test_nan_torque_is_rejected():
    rules = Rules("fingerpro")
    rules.desire([0.1, 0, 0], NONE, NONE, NONE)
    with raises(ValueError, "action.torque", "joint 1"):
        rules.desire([0, NAN, 0], NONE, NONE, NONE)
    assert rules.apply(STILL, STILL).tolist() == [0.1, 0, 0]


def test_action_of_other_shape_is_rejected():
    with raises(ValueError, "action.position", "(9,)"):
        Rules("fingerpro").desire(STILL, np.zeros(9), NONE, NONE)

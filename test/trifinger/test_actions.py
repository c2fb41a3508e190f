"""Desired actions, applied actions and observations."""

import numpy as np
import pytest
from support.errors import raises

import tactile_sim.trifinger as trifinger_simulation
from tactile_sim.errors import EngineError
from tactile_sim.trifinger import SimFinger

BENT = [0.0, 0.9, -1.7]


@pytest.fixture
def finger():
    return SimFinger("fingerpro")


def test_default_action_has_no_command(finger):
    action = finger.Action()
    assert action.torque.tolist() == [0.0] * 3
    for values in (action.position, action.position_kp, action.position_kd):
        assert np.isnan(values).all() and values.shape == (3,)


def test_observation_precedes_action_except_torque(finger):
    before = finger.get_observation(0)
    t = finger.append_desired_action(finger.Action(torque=[0.3, 0.2, 0.1]))
    seen, after = finger.get_observation(t), finger.get_observation(t + 1)
    assert seen.position.tolist() == before.position.tolist()
    assert seen.velocity.tolist() == [0.0] * 3
    assert seen.torque.tolist() == after.torque.tolist() == [0.3, 0.2, 0.1]
    # Semi-implicit: the new velocity applies to the whole step.
    assert after.position - seen.position == pytest.approx(0.001 * after.velocity, abs=1e-15)
    assert (after.velocity != 0).all()


def test_desired_and_applied_action(finger):
    action = trifinger_simulation.Action([0.1, 5, 0], [np.nan, 0.9, -1.7], kp=[1, np.nan, 3])
    t = finger.append_desired_action(action)
    assert (action.torque.tolist(), np.isnan(action.position_kd).all()) == ([0.1, 5, 0], True)
    action.torque[:] = 99
    desired, applied = finger.get_desired_action(t), finger.get_applied_action(t)
    assert type(desired) is type(applied) is trifinger_simulation.Action
    np.testing.assert_equal(desired.torque, [0.1, 5, 0])
    np.testing.assert_equal(desired.position, [np.nan, 0.9, -1.7])
    np.testing.assert_equal(desired.position_kp, [1, np.nan, 3])
    np.testing.assert_equal(applied.torque, [0.1, 0.396, 0])
    np.testing.assert_equal(applied.position, [np.nan, 0.9, -1.7])
    np.testing.assert_equal(applied.position_kp, [1, 15, 3])
    np.testing.assert_equal(applied.position_kd, [0.5, 1, 0.5])


def test_actions_keep_their_class():
    class Other(trifinger_simulation.Action):
        pass

    finger = SimFinger("fingerone")
    t = finger.append_desired_action(Other(np.zeros(3), np.full(3, np.nan)))
    assert type(finger.get_applied_action(t)) is Other


def test_integers_are_accepted(finger):
    t = finger.append_desired_action(finger.Action(torque=[1, 0, 0], position=[0, 1, -2]))
    assert finger.get_applied_action(t).torque[0] == 0.396


def test_rejected_action_changes_nothing(finger):
    t = finger.append_desired_action(finger.Action())
    before = finger.get_observation(t + 1).position
    for action in (trifinger_simulation.Action(np.zeros(9), np.zeros(9)), finger.Action([0, np.nan, 0])):
        with raises(ValueError, "action.torque"):
            finger.append_desired_action(action)
    assert finger.get_observation(t + 1).position.tolist() == before.tolist()


def test_gains_and_limits_can_be_changed(finger):
    finger.position_gains[0] = 2.0
    finger.velocity_gains = np.zeros(3)
    finger.safety_kd = 0.0
    finger.max_motor_torque = 0.1
    t = finger.append_desired_action(finger.Action(position=[0.01, 0.9 + 0.02, -1.7]))
    assert finger.get_applied_action(t).torque == pytest.approx([0.02, 0.1, 0.0], abs=1e-15)
    assert finger.max_motor_torque == 0.1


def test_failed_action_is_not_the_last_one(finger):
    t = finger.append_desired_action(finger.Action(torque=[0.1, 0.2, 0.3]))
    finger.max_motor_torque = 1e12
    with raises(EngineError, "unstable"):
        finger.append_desired_action(finger.Action(torque=[1e12] * 3))
    assert finger.get_current_timeindex() == t
    for action in (finger.get_desired_action(t), finger.get_applied_action(t)):
        assert action.torque.tolist() == [0.1, 0.2, 0.3]
    seen = finger.get_observation(t)
    assert (seen.position.tolist(), seen.torque.tolist()) == (BENT, [0.1, 0.2, 0.3])
    finger.reset_finger_positions_and_velocities(BENT)
    finger.max_motor_torque = 0.396
    assert finger.append_desired_action(finger.Action()) == t + 1


def test_reset_recovers_from_unstable_physics(finger):
    finger.max_motor_torque = 1e12
    finger.safety_kd = 0.0
    with raises(EngineError, "unstable"):
        for _ in range(1000):
            finger.append_desired_action(finger.Action(torque=[1e12] * 3))
    finger.reset_finger_positions_and_velocities(BENT)
    t = finger.append_desired_action(finger.Action())
    assert np.isfinite(finger.get_observation(t + 1).velocity).all()

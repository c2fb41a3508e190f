"""What cannot be is refused where it is given, by an error that names it."""

import math

import numpy as np
import pytest

from tactile_sim.errors import TactileSimError
from tactile_sim.trifinger import SimFinger


@pytest.fixture
def finger():
    return SimFinger("fingerpro")


def test_an_unknown_type_and_an_impossible_time_step_are_value_errors_and_ours():
    for arguments in (("fingerpr",), ("fingerpro", 0.0), ("fingerpro", math.nan)):
        with pytest.raises(ValueError, match="did you mean|give seconds above 0|a finite number") as caught:
            SimFinger(*arguments)
        assert isinstance(caught.value, TactileSimError)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"finger_type": ["fingerpro"]}, "no finger type .'fingerpro'."),
        ({"time_step": 0.02}, "time_step is 0.02; give seconds above 0, at most 1/60"),
        ({"time_step": True}, "time_step is True"),
        ({"time_step": "0.001"}, "time_step: a finite number is needed, not '0.001'"),
        ({"robot_position_offset": (0, 0, math.nan)}, "robot_position_offset: 3 finite numbers"),
        ({"robot_position_offset": None}, "robot_position_offset"),
        ({"robot_position_offset": 5}, "robot_position_offset"),
        ({"spacings": {"finger_tip_link": 0}}, "spacings: finger_tip_link is 0; give metres above 0"),
    ],
)
def test_what_a_robot_cannot_be_made_of_is_a_value_error_that_names_it(arguments, names):
    with pytest.raises(ValueError, match=names) as caught:
        SimFinger(**{"finger_type": "fingerpro", **arguments})
    assert isinstance(caught.value, TactileSimError)


@pytest.mark.parametrize("name", ["position_gains", "velocity_gains", "safety_kd", "max_motor_torque"])
@pytest.mark.parametrize("value", [math.nan, math.inf, None, "1", [1.0, 2.0], [1.0, 2.0, math.nan]])
def test_gains_that_cannot_be_are_value_errors_that_name_them(finger, name, value):
    before = np.array(getattr(finger, name))
    with pytest.raises(ValueError, match=f"{name}: "):
        setattr(finger, name, value)
    np.testing.assert_array_equal(getattr(finger, name), before)


@pytest.mark.parametrize("action", [None, {"torque": [0, 0, 0]}, np.zeros(3)])
def test_what_is_no_action_is_a_value_error(finger, action):
    with pytest.raises(ValueError, match="action: one made by Action"):
        finger.append_desired_action(action)
    assert finger.append_desired_action(finger.Action()) == 0


@pytest.mark.parametrize("torque", [[1j, 0, 0], ["0", "0", "0"], [None] * 3, np.zeros(3) * 1j])
def test_torques_that_are_no_real_numbers_are_value_errors(finger, torque):
    with pytest.raises(ValueError, match=r"action\.torque needs 3 numbers"):
        finger.append_desired_action(finger.Action(torque=torque))


def test_a_reset_to_what_cannot_be_is_refused(finger):
    for joints in ([0.0] * 9, [0.0, np.nan, 0.0]):
        with pytest.raises(ValueError, match="needs 3 finite numbers"):
            finger.reset_finger_positions_and_velocities(joints)


def test_an_unknown_way_to_feel_is_named_as_the_argument(finger):
    with pytest.raises(TactileSimError, match="^touch_function: there is no 'forc'"):
        finger.feel("forc")
    with pytest.raises(TactileSimError, match="^response_function: there is no 'nearst'"):
        finger.feel(response_function="nearst")

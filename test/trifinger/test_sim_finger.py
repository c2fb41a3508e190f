"""A robot step by step: time indices, actions and observations, resets, repeats."""

import math

import numpy as np
import pytest

import tactile_sim.trifinger as trifinger_simulation
from tactile_sim.errors import EngineError, TactileSimError
from tactile_sim.trifinger import SimFinger, finger_types_data

TYPES = tuple(finger_types_data.get_valid_finger_types())
BENT = [0.0, 0.9, -1.7]


@pytest.fixture
def finger():
    return SimFinger("fingerpro")


def go(finger, steps, seed=0):
    """Joint positions, velocities and tip forces (steps, 2 n + fingers), each random target 50 steps."""
    random = np.random.default_rng(seed)
    went = []
    for step in range(steps):
        if step % 50 == 0:
            target = random.uniform([-0.3, 0, -2.7], [1, 1.5, 0], (finger.number_of_fingers, 3)).ravel()
        seen = finger.get_observation(finger.append_desired_action(finger.Action(position=target)) + 1)
        went.append(np.concatenate([seen.position, seen.velocity, seen.tip_force]))
    return np.array(went)


# -- before the first action and after it --------------------------------------------------------------------


@pytest.mark.parametrize("finger_type", TYPES)
def test_robots_begin_where_their_type_says(finger_type):
    seen = SimFinger(finger_type).get_observation(0)
    fingers = finger_types_data.get_number_of_fingers(finger_type)
    assert seen.position.tolist() == list(finger_types_data.get_initial_joint_positions(finger_type))
    assert seen.velocity.tolist() == seen.torque.tolist() == [0.0] * 3 * fingers
    assert seen.tip_force.tolist() == [0.05] * fingers


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


@pytest.mark.parametrize("t", [None, "0", [0]])
def test_a_time_index_that_is_no_number_is_a_value_error(finger, t):
    with pytest.raises(ValueError, match="time index .* is not a whole number"):
        finger.get_observation(t)


def test_an_unknown_way_to_feel_is_named_as_the_argument(finger):
    with pytest.raises(TactileSimError, match="^touch_function: there is no 'forc'"):
        finger.feel("forc")
    with pytest.raises(TactileSimError, match="^response_function: there is no 'nearst'"):
        finger.feel(response_function="nearst")


def test_an_action_that_fails_does_not_advance_time(finger):
    t = finger.append_desired_action(finger.Action())
    finger.max_motor_torque = 1e9
    with pytest.raises(EngineError, match="unstable"):
        for _ in range(100):
            t = finger.append_desired_action(finger.Action(torque=[1e9] * 3))
    assert finger.get_current_timeindex() == t
    finger.reset_finger_positions_and_velocities(BENT)
    finger.max_motor_torque = 0.396
    assert finger.append_desired_action(finger.Action()) == t + 1


def test_time_indices_count_actions(finger):
    with pytest.raises(ValueError, match="before the first action"):
        finger.get_current_timeindex()
    for t in range(3):
        assert finger.append_desired_action(finger.Action()) == t
        assert finger.get_current_timeindex() == t


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_only_the_present_time_index_and_sometimes_the_next_are_valid(finger, steps):
    for _ in range(steps):
        finger.append_desired_action(finger.Action())
    now = steps - 1
    for get, valid in (
        (finger.get_observation, {now, now + 1}),
        (finger.get_timestamp_ms, {now, now + 1}),
        (finger.get_desired_action, {now}),
        (finger.get_applied_action, {now}),
    ):
        for t in range(-2, steps + 3):
            if t in valid and t >= 0:
                get(t)
            else:
                with pytest.raises(ValueError, match=f"time index {t} is"):
                    get(t)


def test_time_stamps_are_milliseconds_of_simulation_time():
    finger = SimFinger("fingeredu", time_step=0.002)
    assert finger.get_timestamp_ms(0) == 0.0
    for _ in range(5):
        t = finger.append_desired_action(finger.Action())
    assert (finger.get_timestamp_ms(t), finger.get_timestamp_ms(t + 1)) == (8.0, 10.0)


def test_an_observation_is_of_before_its_action_but_for_the_torque_which_is_the_action_s(finger):
    before = finger.get_observation(0)
    t = finger.append_desired_action(finger.Action(torque=[0.3, 0.2, 0.1]))
    seen, after = finger.get_observation(t), finger.get_observation(t + 1)
    assert seen.position.tolist() == before.position.tolist()
    assert seen.velocity.tolist() == [0.0] * 3
    assert seen.torque.tolist() == after.torque.tolist() == [0.3, 0.2, 0.1]
    # Semi-implicit: the new velocity acts for the whole step.
    assert after.position - seen.position == pytest.approx(0.001 * after.velocity, abs=1e-15)
    assert (after.velocity != 0).all()


# -- actions -------------------------------------------------------------------------------------------------


def test_an_action_by_itself_asks_for_nothing(finger):
    action = finger.Action()
    assert action.torque.tolist() == [0.0] * 3
    for values in (action.position, action.position_kp, action.position_kd):
        assert np.isnan(values).all() and values.shape == (3,)


def test_the_desired_action_stays_what_it_was_and_the_applied_one_tells_what_was_done(finger):
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


def test_actions_of_another_class_are_taken_and_given_back():
    class Other(trifinger_simulation.Action):
        pass

    finger = SimFinger("fingerone")
    t = finger.append_desired_action(Other(np.zeros(3), np.full(3, np.nan)))
    assert type(finger.get_applied_action(t)) is Other


def test_integers_are_numbers_too(finger):
    t = finger.append_desired_action(finger.Action(torque=[1, 0, 0], position=[0, 1, -2]))
    assert finger.get_applied_action(t).torque[0] == 0.396


def test_an_action_that_does_not_fit_changes_nothing(finger):
    t = finger.append_desired_action(finger.Action())
    before = finger.get_observation(t + 1).position
    for action in (trifinger_simulation.Action(np.zeros(9), np.zeros(9)), finger.Action([0, np.nan, 0])):
        with pytest.raises(ValueError, match="action.torque"):
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


def test_joint_stops_hold_against_the_motors(finger):
    """The URDF has them at -0.33 and 1, 0 and 1.57, -2.7 and 0."""
    for sign, stops in ((1, [1.0, 1.57, 0.0]), (-1, [-0.33, 0.0, -2.7])):
        finger.reset_finger_positions_and_velocities(np.array(stops) - sign * 0.05)
        for _ in range(500):
            t = finger.append_desired_action(finger.Action(torque=[sign * 0.396] * 3))
        beyond = sign * (finger.get_observation(t + 1).position - stops)
        assert 0 < beyond.max() < 1e-3


def test_physics_that_become_unstable_are_told_and_a_reset_mends_them(finger):
    finger.max_motor_torque = 1e12
    finger.safety_kd = 0.0
    with pytest.raises(EngineError, match="unstable"):
        for _ in range(1000):
            finger.append_desired_action(finger.Action(torque=[1e12] * 3))
    finger.reset_finger_positions_and_velocities(BENT)
    t = finger.append_desired_action(finger.Action())
    assert np.isfinite(finger.get_observation(t + 1).velocity).all()


# -- resets and repeats --------------------------------------------------------------------------------------


def test_a_reset_sets_joints_at_once_and_leaves_the_time(finger):
    t = finger.append_desired_action(finger.Action(torque=[0.1, 0, 0]))
    seen = finger.reset_finger_positions_and_velocities([0.1, 0.5, -1.0], [1.0, 2.0, 3.0])
    assert (seen.position.tolist(), seen.velocity.tolist()) == ([0.1, 0.5, -1.0], [1.0, 2.0, 3.0])
    assert finger.get_current_timeindex() == t
    assert finger.get_observation(t + 1).position.tolist() == [0.1, 0.5, -1.0]
    assert finger.reset_finger_positions_and_velocities(BENT).velocity.tolist() == [0.0] * 3


def test_a_reset_to_what_cannot_be_is_refused(finger):
    for joints in ([0.0] * 9, [0.0, np.nan, 0.0]):
        with pytest.raises(ValueError, match="needs 3 finite numbers"):
            finger.reset_finger_positions_and_velocities(joints)


@pytest.mark.parametrize("finger_type", ["trifingerpro", "trifingeredu"])
def test_after_equal_resets_all_repeats_bit_for_bit(finger_type):
    first, second = SimFinger(finger_type), SimFinger(finger_type)
    start = BENT * 3
    first.reset_finger_positions_and_velocities(start)
    went = go(first, 400)
    go(second, 170, seed=1)
    for finger in (first, second, second):
        finger.reset_finger_positions_and_velocities(start)
        assert go(finger, 400).tobytes() == went.tobytes()


def test_drag_can_be_left_out():
    """Without it a finger is faster: the same torque, no loss."""
    speeds = []
    for link_drag in (True, False):
        finger = SimFinger("fingeredu", link_drag=link_drag)
        for _ in range(100):
            t = finger.append_desired_action(finger.Action(torque=[0.2, 0, 0]))
        speeds.append(finger.get_observation(t + 1).velocity[0])
    assert speeds[0] < speeds[1]


# -- the world -----------------------------------------------------------------------------------------------


def test_things_can_be_added_before_and_while_the_robot_is_there():
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
    # Both fall: the second has for one step less.
    fallen = [finger.physics.model.body(name).jntadr[0] for name in ("first", "second")]
    speeds = [finger.physics.data.qvel[finger.physics.model.jnt_dofadr[joint] + 2] for joint in fallen]
    assert speeds == pytest.approx([-2 * 0.00981, -0.00981], rel=1e-6)


def test_the_robot_stands_where_it_is_put():
    finger = SimFinger("trifingerpro", robot_position_offset=(0.1, 0.2, 0.3))
    tips = finger.kinematics.forward_kinematics(finger.get_observation(0).position)
    data = finger.physics.data
    assert data.xpos[finger.physics.tips] == pytest.approx(np.array(tips) + [0.1, 0.2, 0.3], abs=1e-12)

"""The interface of SimFinger: state, actions, time, resets and the web view."""

import gc
import re
import urllib.request

import numpy as np
import pytest
from support.errors import raises

import tactile_sim.trifinger as trifinger_simulation
from tactile_sim.common.errors import EngineError
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


def go(finger, steps, seed=0):
    """Move to random targets, which change every 50 steps.

    Returns:
        Joint positions, joint velocities and tip forces in each step (steps, 2 joints + fingers).
    """
    random = np.random.default_rng(seed)
    went = []
    for step in range(steps):
        if step % 50 == 0:
            target = random.uniform([-0.3, 0, -2.7], [1, 1.5, 0], (finger.number_of_fingers, 3)).ravel()
        seen = finger.get_observation(finger.append_desired_action(finger.Action(position=target)) + 1)
        went.append(np.concatenate([seen.position, seen.velocity, seen.tip_force]))
    return np.array(went)


def test_reset_sets_joints_and_keeps_time_index(finger):
    t = finger.append_desired_action(finger.Action(torque=[0.1, 0, 0]))
    seen = finger.reset_finger_positions_and_velocities([0.1, 0.5, -1.0], [1.0, 2.0, 3.0])
    assert (seen.position.tolist(), seen.velocity.tolist()) == ([0.1, 0.5, -1.0], [1.0, 2.0, 3.0])
    assert finger.get_current_timeindex() == t
    assert finger.get_observation(t + 1).position.tolist() == [0.1, 0.5, -1.0]
    assert finger.reset_finger_positions_and_velocities(BENT).velocity.tolist() == [0.0] * 3


@pytest.mark.parametrize("finger_type", ["trifingerpro", "trifingeredu"])
def test_equal_resets_are_bit_identical(finger_type):
    first, second = SimFinger(finger_type), SimFinger(finger_type)
    start = BENT * 3
    first.reset_finger_positions_and_velocities(start)
    went = go(first, 400)
    go(second, 170, seed=1)
    for finger in (first, second, second):
        finger.reset_finger_positions_and_velocities(start)
        assert go(finger, 400).tobytes() == went.tobytes()


def test_time_index_counts_actions(finger):
    with raises(ValueError, "time index"):
        finger.get_current_timeindex()
    for t in range(3):
        assert finger.append_desired_action(finger.Action()) == t
        assert finger.get_current_timeindex() == t


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_valid_time_indices(finger, steps):
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
                with raises(ValueError, "time index", str(t)):
                    get(t)


@pytest.mark.parametrize("t", [None, "0", [0]])
def test_time_index_must_be_a_number(finger, t):
    with raises(ValueError, "time index"):
        finger.get_observation(t)


def test_time_stamps_are_in_milliseconds():
    finger = SimFinger("fingeredu", time_step=0.002)
    assert finger.get_timestamp_ms(0) == 0.0
    for _ in range(5):
        t = finger.append_desired_action(finger.Action())
    assert (finger.get_timestamp_ms(t), finger.get_timestamp_ms(t + 1)) == (8.0, 10.0)


def served(url):
    """Return whether a page is served at a URL."""
    try:
        with urllib.request.urlopen(url, timeout=10) as page:
            return page.status == 200
    except OSError:
        return False


def test_view_is_served_until_the_robot_is_closed(capsys):
    finger = SimFinger("fingeredu", enable_visualization=True)
    url = re.fullmatch(r"web view: (http://127\.0\.0\.1:\d+)\n", capsys.readouterr().out)[1]
    assert served(url)
    finger.append_desired_action(finger.Action(torque=[0.1, 0.1, 0.1]))
    finger.close()
    assert not served(url)
    finger.close()  # closing twice is allowed
    finger.append_desired_action(finger.Action())


def test_view_ends_when_the_robot_is_deleted_also_after_an_edited_scene(capsys):
    finger = SimFinger("fingeredu", enable_visualization=True)
    finger.edit_scene(lambda spec: spec.worldbody.add_geom(name="ball", size=(0.01, 0, 0), pos=(0, 0, 0.4)))
    url = capsys.readouterr().out.split()[-1]
    thread = finger._view._thread
    assert served(url)
    del finger
    gc.collect()
    thread.join(timeout=10)
    assert not served(url)


def test_robot_without_a_view_can_be_closed():
    SimFinger("fingeredu").close()

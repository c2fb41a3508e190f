"""Time indices and time stamps."""

import pytest
from support.errors import raises

from tactile_sim.trifinger import SimFinger


@pytest.fixture
def finger():
    return SimFinger("fingerpro")


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

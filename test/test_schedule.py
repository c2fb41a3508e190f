"""Test when streams are due."""

from __future__ import annotations

import pytest

from tactile_sim.simulation.schedule import Schedule


@pytest.mark.parametrize("timestep", [0.001, 0.002, 0.003, 1 / 300, 0.0005])
@pytest.mark.parametrize("rate", [1.0, 7.0, 30.0, 100.0])
def test_number_of_due_steps_is_rate_times_duration(timestep, rate):
    schedule = Schedule(timestep, {"a": rate})
    steps = round(20 / timestep)
    due = [step for step in range(steps) if schedule.due(step, {"a"})]
    assert abs(len(due) - 20 * rate) <= 1
    # They are never early, and late by less than one step.
    for k, step in enumerate(due):
        assert -1e-9 <= step * timestep - k / rate < timestep


def test_next_is_the_next_due_step():
    schedule = Schedule(0.002, {"a": 100.0, "b": 30.0})
    for names in ({"a"}, {"b"}, {"a", "b"}):
        due = [step for step in range(500) if schedule.due(step, names)]
        step = 0
        for expected in due[1:]:
            step = schedule.next(step, names)
            assert step == expected


def test_rate_above_the_step_rate_is_due_at_every_step():
    schedule = Schedule(0.01, {"a": 1000.0})
    assert [schedule.due(step, {"a"}) for step in range(3)] == [{"a"}] * 3
    assert schedule.next(5, {"a"}) == 6


def test_rate_zero_is_never_due():
    schedule = Schedule(0.01, {"a": 0.0})
    assert schedule.due(0, {"a"}) == set()
    assert schedule.next(0, {"a"}) is None

"""How long the loop waits, by a clock that the test sets."""

from __future__ import annotations

import pytest

from tactile_sim.loop import pace
from tactile_sim.loop.pace import LATE, Pace


@pytest.fixture
def clock(monkeypatch):
    """The wall's [s], which stands until the test moves it."""
    now = [100.0]
    monkeypatch.setattr(pace.time, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize("factor", [0.1, 1.0, 4.0])
def test_each_wait_ends_when_the_wall_has_come_as_far_as_the_simulation(clock, factor):
    kept = Pace(factor)
    for simulated in (0.002, 0.004, 0.5, 30.0):
        clock[0] += 0.3 * kept.ahead(simulated)  # awake too soon
        clock[0] += kept.ahead(simulated)
        assert clock[0] == pytest.approx(100.0 + simulated / factor)
        assert kept.ahead(simulated) == pytest.approx(0.0, abs=1e-9)
    assert kept.missed == 0


def test_zero_never_waits(clock):
    assert Pace(0.0).ahead(1e6) == 0.0


def test_a_little_lost_is_made_up_for_and_much_is_given_up(clock):
    kept = Pace(1.0)
    clock[0] += 1.0 + 0.9 * LATE
    assert kept.ahead(1.0) == 0.0 and kept.missed == 0
    assert kept.ahead(2.0) == pytest.approx(1.0 - 0.9 * LATE)
    clock[0] += 10.0
    assert kept.ahead(2.0) == 0.0 and kept.missed == 1
    assert kept.ahead(2.5) == pytest.approx(0.5)


def test_after_a_pause_and_at_a_new_factor_it_counts_anew(clock):
    kept = Pace(1.0)
    clock[0] += 50.0
    kept.anchor(3.0)
    assert kept.ahead(3.5) == pytest.approx(0.5)
    kept.set_factor(2.0, 3.0)
    assert kept.ahead(4.0) == pytest.approx(0.5)


def test_what_was_reached_is_measured_since_the_last_time(clock):
    kept = Pace(1.0)
    for passed, simulated, reached in ((2.0, 1.0, 0.5), (1.0, 4.0, 3.0)):
        clock[0] += passed
        assert kept.measured(simulated) == pytest.approx(reached)

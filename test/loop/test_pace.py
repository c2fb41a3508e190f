"""Test real-time pacing with a simulated wall clock."""

from __future__ import annotations

import pytest

from tactile_sim.simulation import runner
from tactile_sim.simulation.runner import LATE, Pace


@pytest.fixture
def clock(monkeypatch):
    """Return a simulated wall clock [s] that only the test advances."""
    now = [100.0]
    monkeypatch.setattr(runner.time, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize("factor", [0.1, 1.0, 4.0])
def test_waits_end_when_wall_time_reaches_simulation_time(clock, factor):
    pace = Pace(factor)
    for simulated in (0.002, 0.004, 0.5, 30.0):
        clock[0] += 0.3 * pace.ahead(simulated)  # wakes up too early
        clock[0] += pace.ahead(simulated)
        assert clock[0] == pytest.approx(100.0 + simulated / factor)
        assert pace.ahead(simulated) == pytest.approx(0.0, abs=1e-9)
    assert pace.missed == 0


def test_factor_zero_never_waits(clock):
    assert Pace(0.0).ahead(1e6) == 0.0


def test_short_delays_are_made_up_and_long_delays_are_dropped(clock):
    pace = Pace(1.0)
    clock[0] += 1.0 + 0.9 * LATE
    assert pace.ahead(1.0) == 0.0 and pace.missed == 0
    assert pace.ahead(2.0) == pytest.approx(1.0 - 0.9 * LATE)
    clock[0] += 10.0
    assert pace.ahead(2.0) == 0.0 and pace.missed == 1
    assert pace.ahead(2.5) == pytest.approx(0.5)


def test_pause_and_new_factor_restart_the_pace(clock):
    pace = Pace(1.0)
    clock[0] += 50.0
    pace.anchor(3.0)
    assert pace.ahead(3.5) == pytest.approx(0.5)
    pace.set_factor(2.0, 3.0)
    assert pace.ahead(4.0) == pytest.approx(0.5)


def test_real_time_factor_is_measured_since_the_last_call(clock):
    pace = Pace(1.0)
    for passed, simulated, reached in ((2.0, 1.0, 0.5), (1.0, 4.0, 3.0)):
        clock[0] += passed
        assert pace.measured(simulated) == pytest.approx(reached)

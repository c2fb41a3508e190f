"""The forces of the last seconds: what is kept of them, and where their lines end."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim.view.force_history import BINS, SPAN, UNSEEN, ForceHistory
from tactile_sim.view.world import Moment


def felt(time, force, **fields):
    return Moment(time, np.zeros((1, 3)), np.zeros((1, 4)), forces=np.array([[0.0, -force, 0.0]]), **fields)


def history(*moments):
    kept = ForceHistory(1)
    for moment in moments:
        kept.add(moment)
    return kept


def runs(kept):
    return [(times.tolist(), forces[:, 0].tolist()) for times, forces in kept.runs()]


def test_no_line_leads_to_a_moment_that_nothing_seen_led_to():
    kept = history(felt(1.0, 3.0), felt(1.125, 4.0), felt(1.25, 0.0, begins=True), felt(1.5, 1.0))
    assert runs(kept) == [([-0.5, -0.375], [3.0, 4.0]), ([-0.25, 0.0], [0.0, 1.0])]
    assert kept.forces.tolist() == [1.0]


def test_no_line_leads_over_a_time_that_nobody_saw():
    kept = history(felt(1.0, 3.0), felt(1.0 + UNSEEN, 4.0), felt(3.0, 5.0))
    assert [len(times) for times, _ in runs(kept)] == [2, 1]


def test_moments_of_steps_one_by_one_are_joined_and_the_line_ends_with_what_holds():
    kept = history(felt(3.0, 5.0), felt(3.002, 0.0))
    [(times, forces)] = runs(kept)
    assert times == pytest.approx([-0.002, 0.0])
    assert forces == [5.0, 0.0]


def test_a_blow_between_two_points_of_the_line_is_not_lost():
    step = SPAN / BINS / 10
    kept = history(*[felt(k * step, 100.0 if k == 25 else 1.0) for k in range(100)])
    [(_, forces)] = runs(kept)
    assert len(forces) <= 11
    assert max(forces) == 100.0


def test_what_is_older_than_the_axis_is_forgotten():
    kept = history(*[felt(float(k), 1.0) for k in range(20)])
    assert [times[0] for times, _ in runs(kept)] == list(range(-10, 1))


def test_where_time_goes_back_what_was_later_is_forgotten_and_no_line_leads_there():
    kept = history(felt(1.0, 3.0), felt(1.25, 4.0), felt(1.5, 5.0), felt(1.375, 6.0))
    assert runs(kept) == [([-0.375, -0.125], [3.0, 4.0]), ([0.0], [6.0])]


def test_forces_that_are_not_finite_are_left_out():
    assert runs(history(felt(1.0, 3.0), felt(2.0, np.nan))) == [([0.0], [3.0])]

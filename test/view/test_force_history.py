"""Test the forces that a view stores for its plot: segments, peaks and discarded samples."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim.view.content import ViewFrame
from tactile_sim.view.panel.force_history import BINS, MAX_GAP, SPAN, ForceHistory


def frame(time, force, **fields):
    return ViewFrame(
        time, np.zeros((1, 3)), np.zeros((1, 4)), forces=np.array([[0.0, -force, 0.0]]), **fields
    )


def history(*frames):
    stored = ForceHistory(1)
    for each in frames:
        stored.add(each, each.forces)
    return stored


def segments(stored):
    return [(times.tolist(), forces[:, 0].tolist()) for times, forces in stored.segments()]


def test_discontinuous_frame_starts_a_segment():
    stored = history(
        frame(1.0, 3.0), frame(1.125, 4.0), frame(1.25, 0.0, discontinuous=True), frame(1.5, 1.0)
    )
    assert segments(stored) == [([-0.5, -0.375], [3.0, 4.0]), ([-0.25, 0.0], [0.0, 1.0])]
    assert stored.forces.tolist() == [1.0]


def test_gap_in_time_starts_a_segment():
    stored = history(frame(1.0, 3.0), frame(1.0 + MAX_GAP, 4.0), frame(3.0, 5.0))
    assert [len(times) for times, _ in segments(stored)] == [2, 1]


def test_single_steps_are_joined_and_the_last_frame_ends_the_segment():
    stored = history(frame(3.0, 5.0), frame(3.002, 0.0))
    [(times, forces)] = segments(stored)
    assert times == pytest.approx([-0.002, 0.0])
    assert forces == [5.0, 0.0]


def test_short_impact_is_preserved():
    step = SPAN / BINS / 10
    stored = history(*[frame(k * step, 100.0 if k == 25 else 1.0) for k in range(100)])
    [(_, forces)] = segments(stored)
    assert len(forces) <= 11
    assert max(forces) == 100.0


def test_samples_older_than_the_span_are_discarded():
    stored = history(*[frame(float(k), 1.0) for k in range(20)])
    assert [times[0] for times, _ in segments(stored)] == list(range(-10, 1))


def test_jump_back_discards_later_samples_and_starts_a_segment():
    stored = history(frame(1.0, 3.0), frame(1.25, 4.0), frame(1.5, 5.0), frame(1.375, 6.0))
    assert segments(stored) == [([-0.375, -0.125], [3.0, 4.0]), ([0.0], [6.0])]


def test_nan_forces_are_ignored():
    assert segments(history(frame(1.0, 3.0), frame(2.0, np.nan))) == [([0.0], [3.0])]

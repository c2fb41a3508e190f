"""Sliders of actuators."""

from __future__ import annotations

import math

import pytest

from tactile_sim.view.actuators import short


@pytest.mark.parametrize(
    ("bounds", "shown"),
    [
        ((-0.610865, 0.610865), (-0.61, 0.61)),
        ((-1.0, 1.0), (-1.0, 1.0)),
        ((-0.3, 2.9), (-0.3, 2.9)),
        ((0.0, 0.012345), (0.0, 0.0123)),
        ((-47.5, 123.456), (-47.0, 123.0)),
        ((5.0, 5.0), (5.0, 5.0)),
        ((-math.inf, 1.23456), (-math.inf, 1.23456)),
    ],
)
def test_bounds_are_as_long_as_the_sliders_steps_and_lie_within(bounds, shown):
    assert short(*bounds) == pytest.approx(shown, rel=1e-12)
    assert bounds[0] <= short(*bounds)[0] <= short(*bounds)[1] <= bounds[1]

"""The panel's inputs for actuators."""

from __future__ import annotations

import math

import pytest

from tactile_sim.view.panel.actuator_inputs import round_range


@pytest.mark.parametrize(
    ("limits", "rounded"),
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
def test_slider_range_is_rounded_inward_to_its_step(limits, rounded):
    assert round_range(*limits) == pytest.approx(rounded, rel=1e-12)
    assert limits[0] <= round_range(*limits)[0] <= round_range(*limits)[1] <= limits[1]

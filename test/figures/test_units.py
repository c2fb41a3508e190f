"""Numbers in views have SI prefixes instead of exponents."""

from __future__ import annotations

import pytest

from tactile_sim.figures.colors import prefixed, quantity
from tactile_sim.view.legend import legend


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0123, "N", "12.3 mN"),
        (-2e-6, "N", "-2 µN"),
        (0.0, "N", "0 N"),
        (1.0, "N", "1 N"),
        (0.99999, "N", "1 N"),
        (2e5, "Pa", "200 kPa"),
        (1e-3, "m/s", "1 mm/s"),
        (0.02, "", "0.02"),
        (1500.0, "counts", "1500 counts"),
        (float("inf"), "N", "inf N"),
    ],
)
def test_quantities_have_three_digits_and_a_prefix(value, unit, text):
    assert quantity(value, unit) == text
    assert prefixed(value, unit)[1] == text.partition(" ")[2]


@pytest.mark.parametrize(
    ("end", "unit"), [(0.005, "N"), (20.0, "N"), (2e5, "Pa"), (5e-5, "Pa"), (2e4, "counts")]
)
def test_color_scale_has_no_exponents(end, unit):
    size, symbol = prefixed(end, unit)
    drawn = legend(end, unit)
    assert f"[{symbol}]" in drawn
    assert f"≥ {end / size:.0f}" in drawn
    assert "e-" not in drawn.replace("space-", "") and "e+" not in drawn

"""The color scheme, compared to matplotlib."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps

from tactile_sim.figures.colors import FAINTEST, MAP, levels, table


def test_table_is_the_visible_part_of_the_color_map():
    visible = colormaps[MAP](np.linspace(FAINTEST / 255.0, 1.0, 256))[:, :3] * 255.0
    np.testing.assert_array_equal(table(), visible.round())


def test_level_is_linear_in_the_logarithm_of_the_reading():
    readings = np.array([np.nan, -1.0, 0.0, 1e-4, 10.0**-2, 10.0**-1, 1.0, 50.0])
    np.testing.assert_allclose(levels(readings, 1.0), [0, 0, 0, 0, 1 / 3, 2 / 3, 1, 1])

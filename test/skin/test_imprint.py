"""In the configuration `imprint`, the pad shows the shapes pressed on it, not their collision hulls."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim import Simulation, config

RING, LETTER_O = (-0.029, 0.0145), (0.0, -0.0145)


def test_pad_shows_the_shapes_of_the_stamp():
    simulation = Simulation(config.load("imprint"))
    simulation.step(1000)
    snapshot, skin = simulation.observe(), simulation.skin
    pressure = snapshot.readings[:, 0]
    push = -snapshot.wrenches[0, 2]
    assert 30 < push < 40  # force of the motor, less that of the spring
    assert pressure @ skin.areas == pytest.approx(push)

    x, y = skin.positions[:, :2].T
    top = skin.normals[:, 2] > 0.9
    radius = np.hypot(x - RING[0], y - RING[1])
    assert (pressure[top & (radius > 0.0078) & (radius < 0.0102)] > 0.5 * pressure.max()).all()
    assert not pressure[top & (radius < 0.006)].any()
    assert not pressure[np.hypot(x - LETTER_O[0], y - LETTER_O[1]) < 0.003].any()
    # Above the notches of the star, which are inside its hull.
    assert not pressure[top & (np.hypot(x, y - 0.0145 + 0.0085) < 0.001)].any()

"""What the view's process finds from a state is what the physics finds."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim import config
from tactile_sim.simulation import Simulation
from tactile_sim.view.mirror import read_state, set_state, state_size


@pytest.mark.parametrize("name", ["touch_cube", "trifinger"])
def test_the_forces_of_a_told_state_are_those_of_the_physics(name):
    settings = config.load(name)
    real, mirrored = Simulation(settings), Simulation(settings)
    for _ in range(40):
        real.apply_commands()
        real.snapshot()
        real.step()
    real.apply_commands()
    state = np.empty(state_size(real))
    read_state(real, state)
    set_state(mirrored, state)
    real.snapshot()
    mirrored.snapshot()
    assert real.engine.desired.any() == (name == "trifinger")
    for field in ("qfrc_applied", "qacc", "ctrl", "xpos"):
        assert getattr(mirrored.engine.data, field) == pytest.approx(getattr(real.engine.data, field))

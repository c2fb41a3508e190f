"""The replica in the view's process computes what the simulation computes."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim import config
from tactile_sim.simulation import Simulation


@pytest.mark.parametrize("name", ["touch_cube", "trifinger"])
def test_replica_has_the_forces_of_the_simulation(name):
    settings = config.load(name)
    simulation, replica = Simulation(settings), Simulation(settings)
    for _ in range(40):
        simulation.apply_commands()
        simulation.snapshot()
        simulation.step()
    simulation.apply_commands()
    state = np.empty(simulation.engine.state_size)
    simulation.engine.get_state(state)
    replica.engine.set_state(state)
    simulation.snapshot()
    replica.snapshot()
    if name == "trifinger":
        assert replica.engine.physics.rules.desired.any()
    for field in ("qfrc_applied", "qacc", "ctrl", "xpos"):
        assert getattr(replica.engine.data, field) == pytest.approx(getattr(simulation.engine.data, field))

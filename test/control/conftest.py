"""Fixtures for the tests of control."""

from __future__ import annotations

import pytest
from support.control import ARM, GAINS

from tactile_sim import config
from tactile_sim.simulation import Simulation


@pytest.fixture
def simulate(tmp_path):
    """Return a function that writes a scene file and simulates it with the specified configuration keys."""

    def make(text: str = ARM, suffix: str = "urdf", control=GAINS, **keys) -> Simulation:
        (tmp_path / f"scene.{suffix}").write_text(text)
        keys = {"scene": f"scene.{suffix}", "contacts": "all", "control": control, **keys}
        return Simulation(config.from_mapping(keys, tmp_path, "test"))

    return make

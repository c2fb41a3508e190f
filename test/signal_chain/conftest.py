"""Fixtures for the tests of the signal chain."""

from __future__ import annotations

import numpy as np
import pytest
from support.signal_chain import TAXELS

from tactile_sim.signal_chain.stages import PARAMETERS, STAGES


@pytest.fixture
def readings():
    """Return 30 random readings with the precision of the signal chain."""
    return np.random.default_rng(1).normal(size=(30, TAXELS, 3)).astype(np.float32)


@pytest.fixture
def restored_stages():
    """Remove the stages that a test adds."""
    tables = STAGES, PARAMETERS
    before = [dict(table) for table in tables]
    yield
    for table, content in zip(tables, before, strict=True):
        table.clear()
        table.update(content)

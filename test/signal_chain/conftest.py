"""Fixtures for the tests of the signal chain."""

from __future__ import annotations

import numpy as np
import pytest
from support.signal_chain import TAXELS


@pytest.fixture
def readings():
    """Return 30 random readings with the precision of the signal chain."""
    return np.random.default_rng(1).normal(size=(30, TAXELS, 3)).astype(np.float32)

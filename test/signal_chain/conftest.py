"""Fixtures for the tests of the signal chain."""

from __future__ import annotations

import numpy as np
import pytest
from support.signal_chain import TAXELS


@pytest.fixture
def readings():
    """Return 30 random readings."""
    return np.random.default_rng(1).normal(size=(30, TAXELS, 3))

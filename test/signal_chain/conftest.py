"""What tests of sensors read."""

from __future__ import annotations

import numpy as np
import pytest
from chains import TAXELS


@pytest.fixture
def readings():
    """Thirty readings at random."""
    return np.random.default_rng(1).normal(size=(30, TAXELS, 3))

"""What tests of analysis share."""

from __future__ import annotations

from pathlib import Path

import pytest
from falling import Bags


@pytest.fixture(scope="session")
def make_bag(tmp_path_factory) -> Bags:
    """Writes bags."""
    return Bags(tmp_path_factory.mktemp)


@pytest.fixture(scope="session")
def fall(make_bag) -> Path:
    """The bag of one cube; not to be changed."""
    return make_bag()

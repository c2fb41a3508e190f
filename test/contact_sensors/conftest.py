"""Fixtures for the tests of contact sensors."""

import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder for the scenes of a test module."""
    return tmp_path_factory.mktemp("scenes")

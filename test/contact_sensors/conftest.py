"""Fixtures of the tests of contact sensors."""

import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder for the scenes of a module."""
    return tmp_path_factory.mktemp("scenes")

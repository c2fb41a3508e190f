"""What tests of analysis share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from falling import Cube, Making


class Bags:
    """Makes bags in folders of their own."""

    def __init__(self, folders: Callable[[str], Path]) -> None:
        self._folders = folders

    def folder(self, name: str) -> Path:
        """A folder that is not there yet."""
        return self._folders("bags") / name

    def __call__(self, *cubes: Cube) -> Path:
        """The bag of these cubes, of a whole one by default."""
        making = Making(self.folder("fall"))
        for cube in cubes or (Cube(),):
            cube.write(making)
        making.bag.close()
        return making.bag.folder


@pytest.fixture(scope="session")
def make_bag(tmp_path_factory) -> Bags:
    """Writes bags."""
    return Bags(tmp_path_factory.mktemp)


@pytest.fixture(scope="session")
def fall(make_bag) -> Path:
    """The bag of one cube; not to be changed."""
    return make_bag()

"""Fixtures of the tests of the node."""

from __future__ import annotations

import pytest


@pytest.fixture
def ros(tmp_path):
    """Yield a `Ros` with its own ROS domain, and end its processes afterwards."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")
    from support.ros import Ros

    made = Ros(tmp_path)
    yield made
    made.close()

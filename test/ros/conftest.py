"""What tests of the node share."""

from __future__ import annotations

import pytest


@pytest.fixture
def ros(tmp_path):
    """A domain of its own, with ears and hands."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")
    from support.ros import Ros

    made = Ros(tmp_path)
    yield made
    made.close()

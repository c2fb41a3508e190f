"""The undocumented names of rclpy that the node uses work like the documented ones, and are faster."""

from __future__ import annotations

from importlib.metadata import version

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from rosgraph_msgs.msg import Clock  # noqa: E402
from support.ros import wait_for  # noqa: E402

from tactile_sim.ros.internals import (  # noqa: E402
    count_publishers,
    publisher_count,
    subscriber_counter,
    take_raw,
)

CHECKED = "7.1.5"
"""Version of rclpy (Jazzy) for which `tactile_sim.ros.internals` was written."""


def test_internals_of_this_version_of_rclpy_count_and_take(ros):
    note = f"written for rclpy {CHECKED}, this is {version('rclpy')}"
    publisher = ros.node.create_publisher(Clock, "/clock", 10)
    subscription = ros.node.create_subscription(Clock, "/clock", lambda message: None, 10, raw=True)
    ros.executor.remove_node(ros.node)  # which would take the message itself
    wait_for(lambda: publisher.get_subscription_count() == 1)
    assert subscriber_counter(publisher)() == publisher_count(subscription) == 1, note
    assert count_publishers(ros.node, "/clock") == ros.node.count_publishers("/clock") == 1, note
    publisher.publish(Clock())
    taken: list = []
    wait_for(lambda: taken.append(take_raw(subscription, Clock)) or taken[-1])
    data, details = taken[-1]
    assert isinstance(data, bytes) and details["publication_sequence_number"] == 1, note
    assert details["source_timestamp"] > 0, note

"""Publish the camera and the colour scale of the browser view, so that bags contain them."""

from __future__ import annotations

from rclpy.node import Node
from std_msgs.msg import String

from tactile_sim.bag.live_view import TOPIC
from tactile_sim.loop.runner import Runner
from tactile_sim.ros.outlets import LATCHED


def publish_live_view(node: Node, runner: Runner) -> None:
    """Publish the view on `TOPIC` whenever a user changes it."""
    publisher = node.create_publisher(String, TOPIC, LATCHED)
    runner.on_view.append(lambda view: publisher.publish(String(data=view)))

"""The ROS 2 side: arrays to messages and back, the node, the recorder. rclpy is needed where ROS is met."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tactile_sim.ros import cdr


def subscribe(
    node: Any, message_type: Any, topic: str, callback: Callable[[Any], None], qos: Any = 10
) -> Any:
    """Subscribe so that ``callback`` gets what :func:`cdr.decode` makes: numpy arrays, no element objects.

    ``node`` is an ``rclpy.node.Node``, ``qos`` a depth or a ``QoSProfile``: for latched topics, such as
    layouts, ``tactile_sim.ros.outlets.LATCHED``, without which they stay silent.
    Returns the rclpy subscription.
    """
    return node.create_subscription(
        message_type, topic, lambda data: callback(cdr.decode(message_type, data)), qos, raw=True
    )

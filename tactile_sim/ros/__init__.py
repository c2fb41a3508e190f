"""ROS 2 interface: message conversion, the nodes and the recorder. rclpy is imported only where needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tactile_sim.ros import cdr

__all__ = ["subscribe"]


def subscribe(
    node: Any, message_type: Any, topic: str, callback: Callable[[Any], None], qos: Any = 10
) -> Any:
    """Subscribe to a topic and decode its messages into objects with NumPy arrays.

    The callback receives the result of :func:`cdr.decode`.

    Args:
        node: An ``rclpy.node.Node``.
        message_type: A ROS message class.
        topic: Name of the topic.
        callback: Called with each decoded message.
        qos: Queue depth or ``QoSProfile``. Latched topics, such as layouts, need
            ``tactile_sim.ros.outlets.LATCHED``.

    Returns:
        The rclpy subscription.
    """
    return node.create_subscription(
        message_type, topic, lambda data: callback(cdr.decode(message_type, data)), qos, raw=True
    )

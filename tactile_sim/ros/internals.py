"""Names of rclpy that its documentation does not list, each with the reason for using it.

`test/ros/test_internals.py` names the version of rclpy for which they were written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.service import Service
from rclpy.subscription import Subscription


def subscriber_counter(publisher: Publisher) -> Callable[[], int]:
    """Return a function that returns the number of subscribers.

    The method of rclpy's publisher also locks the handle, which takes four times as long.
    """
    return publisher.handle.get_subscription_count


def count_publishers(node: Node, topic: str) -> int:
    """Return the number of publishers of a topic with a full name.

    The method of rclpy's node also expands the name, which takes seven times as long.
    """
    return node.handle.get_count_publishers(topic)


def publisher_count(subscription: Subscription) -> int:
    """Return the number of publishers of a subscription, for which rclpy has no documented method."""
    return subscription.handle.get_publisher_count()


def take_raw(subscription: Subscription, message_type: Any) -> tuple[bytes, dict[str, int]] | None:
    """Take a message as bytes, with its numbers and times; None if there is none.

    rclpy's executor would spend more time on each message than all other work of the recorder.
    """
    with subscription.handle:
        return subscription.handle.take_message(message_type, True)


def respond_with(service: Service, send: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """Let a function respond in place of the service, and return the one that sends a response.

    rclpy sends the response as soon as the callback returns.
    """
    original = service.send_response
    service.send_response = send  # type: ignore[method-assign, assignment]
    return original

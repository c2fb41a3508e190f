"""Publishers that encode messages only for topics with subscribers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions

from tactile_sim.errors import ConfigError

DEPTH = 10
"""Default queue depth of a topic."""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LATCHED_TWICE = QoSProfile(depth=2, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Latched with two messages, so that publishing again does not drop the first one before it is delivered."""
SETTLED = 1.0
"""Time after which a new subscriber has processed its first messages [s of wall time]."""
REFRESH = 0.05
"""Interval between two queries for subscribers [s of wall time]."""


class LazyPublisher:
    """A topic of a stream with its publisher.

    Attributes:
        publisher: The publisher.
        stream: Name of the stream.
        make: Returns the message for a snapshot as bytes.
        listeners: Number of subscribers at the last query.
    """

    def __init__(self, publisher, stream: str, make: Callable, welcome: Callable[[], None]):
        self.publisher = publisher
        self.stream = stream
        self.make = make
        self._welcome = welcome
        self._welcome_again: float | None = None
        """Time of the second welcome [s of `time.monotonic`]; None if none is due."""
        self.listeners = 0
        self.has_newcomers = False
        """True if a subscriber has not been sent any message yet."""

    def send(self, message: bytes) -> None:
        """Publish an encoded message, and call ``welcome`` for new subscribers.

        Args:
            message: The message as bytes.
        """
        self.publisher.publish(message)
        if self.has_newcomers:
            self.has_newcomers = False
            self._welcome_again = time.monotonic() + SETTLED
            self._welcome()
        elif self._welcome_again is not None and time.monotonic() > self._welcome_again:
            self._welcome_again = None
            self._welcome()


class Outlets:
    """All topics that follow the simulation, by stream.

    Messages are encoded only for topics with subscribers.
    """

    def __init__(self, node: Node, depth: int = DEPTH):
        self._node = node
        self._reliable = QoSProfile(depth=depth)
        self._outlets: dict[str, list[LazyPublisher]] = {}
        self._overridden = [
            name.split(".")[1]
            for name in node.get_parameters_by_prefix("")
            if name.startswith("qos_overrides.")
        ]
        self._heard: dict[str, list[LazyPublisher]] = {}
        """Topics with subscribers, by stream."""
        self._refreshed = 0.0

    def publisher(self, message_type: type, topic: str, qos: QoSProfile):
        """Create a publisher whose QoS can be overridden by parameters.

        Args:
            message_type: A ROS message class.
            topic: Name of the topic.
            qos: Default QoS.

        Returns:
            The rclpy publisher.

        Raises:
            ConfigError: ROS rejects the topic because its name is longer than 247 characters.
        """
        try:
            resolved = self._node.resolve_topic_name(topic)
        except RuntimeError as error:
            raise ConfigError(f"topic {topic!r}: rejected by ROS: {error}; shorten the name in it") from None
        options = None
        if resolved in self._overridden:
            options = QoSOverridingOptions.with_default_policies()
        # rclpy's default event callbacks would occupy its executor for each publisher at each message.
        events = PublisherEventCallbacks(use_default_callbacks=False)
        return self._node.create_publisher(
            message_type, topic, qos, event_callbacks=events, qos_overriding_options=options
        )

    def add(
        self,
        stream: str,
        message_type: type,
        topic: str,
        make: Callable,
        welcome: Callable[[], None] = lambda: None,
    ) -> None:
        """Add a topic.

        Args:
            stream: Name of the stream.
            message_type: A ROS message class.
            topic: Name of the topic.
            make: Returns the message for a snapshot as bytes.
            welcome: Called after a new subscriber has been sent its first message, and again `SETTLED`
                seconds later.

        Raises:
            ConfigError: ROS rejects the topic.
        """
        outlet = LazyPublisher(self.publisher(message_type, topic, self._reliable), stream, make, welcome)
        self._outlets.setdefault(stream, []).append(outlet)

    def subscribed(self) -> set[str]:
        """Return the streams that have subscribers."""
        if time.monotonic() - self._refreshed > REFRESH:
            self._refresh()
        return set(self._heard)

    def new_subscribers(self) -> list[LazyPublisher]:
        """Return the topics that have a new subscriber since they were last published."""
        self._refresh()
        return [outlet for outlets in self._outlets.values() for outlet in outlets if outlet.has_newcomers]

    def all_heard(self) -> bool:
        """Return whether every topic has a subscriber."""
        return all(
            outlet.publisher.get_subscription_count() > 0
            for outlets in self._outlets.values()
            for outlet in outlets
        )

    def publish(self, stream: str, snapshot) -> None:
        """Publish all topics of a stream, with or without subscribers.

        Args:
            stream: Name of the stream.
            snapshot: The snapshot that is encoded.
        """
        for outlet in self._outlets.get(stream, ()):
            outlet.publisher.publish(outlet.make(snapshot))

    def send(self, streams: Iterable[str], snapshot) -> None:
        """Publish the topics of some streams that have subscribers.

        Args:
            streams: Names of the streams, in the order of publishing.
            snapshot: The snapshot that is encoded.
        """
        outlets = [outlet for stream in streams for outlet in self._heard.get(stream, ())]
        # Encode all messages before publishing, so that a subscriber wakes up once.
        messages = [outlet.make(snapshot) for outlet in outlets]
        for outlet, message in zip(outlets, messages, strict=True):
            outlet.send(message)

    def flush(self, patience: float) -> None:
        """Wait until subscribers have acknowledged all messages, or a time [s of wall time] is over.

        Args:
            patience: Maximum time to wait [s of wall time].
        """
        end = time.monotonic() + patience
        for outlets in self._outlets.values():
            for outlet in outlets:
                if outlet.listeners:
                    outlet.publisher.wait_for_all_acked(Duration(seconds=max(0.0, end - time.monotonic())))

    def _refresh(self) -> None:
        self._refreshed = time.monotonic()
        self._heard = {}
        for stream, outlets in self._outlets.items():
            for outlet in outlets:
                listeners = outlet.publisher.get_subscription_count()
                new_subscribers = outlet.has_newcomers or listeners > outlet.listeners
                outlet.has_newcomers = new_subscribers and listeners > 0
                outlet.listeners = listeners
                if listeners:
                    self._heard.setdefault(stream, []).append(outlet)

"""Publishers that know whether anybody listens."""

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
"""Messages of a topic that wait for a listener who is late."""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LATCHED_TWICE = QoSProfile(depth=2, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""What is sent again does not push out the first one on its way, which the listener would be told is lost."""
SETTLED = 1.0
"""After so long [s of wall time] a listener has dealt with the first messages."""
REFRESH = 0.05
"""The middleware is asked for listeners this often [s of wall time]."""


class Outlet:
    """One topic of a stream, with the function that makes its message from a snapshot."""

    def __init__(self, publisher, stream: str, make: Callable, welcome: Callable[[], None]):
        self.publisher = publisher
        self.stream = stream
        self.make = make
        self._welcome = welcome
        self._welcome_again: float | None = None
        """At which time [s of `time.monotonic`]; None: not to be done."""
        self.listeners = 0
        self.has_newcomers = False
        """Whether somebody listens who has not been sent anything yet."""

    def send(self, message: bytes) -> None:
        """Sends what ``make`` has made."""
        self.publisher.publish(message)
        if self.has_newcomers:
            self.has_newcomers = False
            self._welcome_again = time.monotonic() + SETTLED
            self._welcome()
        elif self._welcome_again is not None and time.monotonic() > self._welcome_again:
            self._welcome_again = None
            self._welcome()


class Outlets:
    """All topics that follow the simulation, by stream. Nothing is made for a topic that nobody hears."""

    def __init__(self, node: Node, depth: int = DEPTH):
        self._node = node
        self._reliable = QoSProfile(depth=depth)
        self._outlets: dict[str, list[Outlet]] = {}
        self._overridden = [
            name.split(".")[1]
            for name in node.get_parameters_by_prefix("")
            if name.startswith("qos_overrides.")
        ]
        self._heard: dict[str, list[Outlet]] = {}
        """Those that somebody listens to."""
        self._refreshed = 0.0

    def publisher(self, message_type: type, topic: str, qos: QoSProfile):
        """An ordinary publisher; its QoS may be overridden by parameters, as rclpy has it.

        Raises ConfigError for a topic that ROS refuses: one longer than 247 characters.
        """
        try:
            resolved = self._node.resolve_topic_name(topic)
        except RuntimeError as error:
            raise ConfigError(f"ROS refuses the topic {topic!r}: {error}; shorten the name in it") from None
        options = None
        if resolved in self._overridden:
            options = QoSOverridingOptions.with_default_policies()
        # rclpy's own callbacks for events would keep its executor busy with every publisher at every message.
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
        """A topic whose messages ``make(snapshot) -> bytes`` gives; ``welcome`` is called once a new listener
        has been sent its first one, and again when it has settled."""
        outlet = Outlet(self.publisher(message_type, topic, self._reliable), stream, make, welcome)
        self._outlets.setdefault(stream, []).append(outlet)

    def heard(self) -> set[str]:
        """Streams that somebody listens to."""
        if time.monotonic() - self._refreshed > REFRESH:
            self._refresh()
        return set(self._heard)

    def newcomers(self) -> list[Outlet]:
        """Topics that got a new listener since they were last sent."""
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
        """Publish the topics of a stream, whether they have subscribers or not."""
        for outlet in self._outlets.get(stream, ()):
            outlet.publisher.publish(outlet.make(snapshot))

    def send(self, streams: Iterable[str], snapshot) -> None:
        """Sends the topics of these streams, one stream after another, to those who listen."""
        outlets = [outlet for stream in streams for outlet in self._heard.get(stream, ())]
        # First all are made, then all are sent: a listener wakes up once.
        messages = [outlet.make(snapshot) for outlet in outlets]
        for outlet, message in zip(outlets, messages, strict=True):
            outlet.send(message)

    def flush(self, patience: float) -> None:
        """Waits until all that was sent has arrived, so many seconds at most."""
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
                newcomers = outlet.has_newcomers or listeners > outlet.listeners
                outlet.has_newcomers = newcomers and listeners > 0
                outlet.listeners = listeners
                if listeners:
                    self._heard.setdefault(stream, []).append(outlet)

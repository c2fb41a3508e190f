"""Store the messages of a topic as bytes with their times."""

from __future__ import annotations

import time

from rclpy.qos import QoSProfile

from support.ros import Ros, wait_for
from tactile_sim.ros import cdr


class Listener:
    """A subscription that stores each message's bytes, time of sending [ns] and time of arrival [s]."""

    def __init__(self, ros: Ros, kind: type, topic: str):
        self.kind = kind
        self.received: list[tuple[bytes, int, float]] = []

        def take(data, info):
            self.received.append((data, info["source_timestamp"], time.monotonic()))

        self.subscription = ros.node.create_subscription(kind, topic, take, QoSProfile(depth=5000), raw=True)

    @property
    def stamps(self) -> list[int]:
        return [cdr.stamp(self.kind, data) for data, *_ in list(self.received)]

    @property
    def last(self) -> int | None:
        return cdr.stamp(self.kind, self.received[-1][0])

    @property
    def sent(self) -> dict[int, int]:
        """Time of sending of each message [ns], by stamp."""
        return {cdr.stamp(self.kind, data): sent for data, sent, _ in list(self.received)}

    def by_stamp(self) -> dict:
        return {cdr.stamp(self.kind, data): cdr.decode(self.kind, data) for data, *_ in list(self.received)}

    def until(self, moment: float) -> list[int]:
        """Return the stamps of messages that arrived before a time [s]."""
        return [cdr.stamp(self.kind, data) for data, _, arrival in list(self.received) if arrival < moment]


def step_to(ros: Ros, listeners: list[Listener], stamps: range) -> None:
    """Step through the stamps [ns] in time steps of 2 ms; at each one, wait for messages on all topics."""
    for t in stamps:
        ros.step(stamps.step // 2_000_000)
        wait_for(lambda t=t: all(listener.last == t for listener in listeners), f"{t} ns")

"""Publish the status of real sensors on ``/diagnostics``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from tactile_sim.hardware import PadInput
from tactile_sim.ros.outlets import DEPTH


class HardwareStatus:
    """Publishes the status of the message stream and of each pad.

    Attributes:
        lost: Why each pad's readings are invalid, keyed by pad name; an empty string if they are valid.
        connection: Why there is no connection to the sensor server; empty if there is one or none is needed.
    """

    def __init__(self, node: Node, driver: str, inputs: Mapping[str, PadInput]):
        self._node, self._driver, self._inputs = node, driver, inputs
        self._clock = Clock(clock_type=ClockType.SYSTEM_TIME)
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", DEPTH)
        self.lost = dict.fromkeys(inputs, "no message yet")
        self.connection = ""
        self._malformed, self._last_malformed = 0, ""
        self._reported_malformed = 0
        """Number of malformed messages when the status was last published."""

    def reject(self, error: str) -> None:
        """Count a malformed message and store its error for the next status."""
        self._malformed += 1
        self._last_malformed = error

    def publish(self) -> None:
        """Publish the status of the stream and of all pads.

        The stream's level is ERROR while a pad is lost. Otherwise, it is WARN if any message since the last
        status was malformed.
        """
        name = self._node.get_name()
        lost = [pad for pad, reason in self.lost.items() if reason]
        stream = DiagnosticStatus(name=f"{name}: hardware", hardware_id=self._driver)
        if lost:
            stream.level, stream.message = DiagnosticStatus.ERROR, f"no readings of {', '.join(lost)}"
        elif self._malformed > self._reported_malformed:
            stream.level, stream.message = DiagnosticStatus.WARN, f"malformed message: {self._last_malformed}"
        else:
            stream.level, stream.message = DiagnosticStatus.OK, "all pads receive readings"
        self._reported_malformed = self._malformed
        stream.values = _values(
            malformed=self._malformed, last_malformed=self._last_malformed, connection=self.connection
        )
        array = DiagnosticArray(status=[stream])
        array.header.stamp = self._clock.now().to_msg()
        for pad, reason in self.lost.items():
            status = DiagnosticStatus(name=f"{name}: {pad}", hardware_id=self._driver)
            status.level = DiagnosticStatus.ERROR if reason else DiagnosticStatus.OK
            status.message = reason or "receives readings"
            counts = self._inputs[pad]
            status.values = _values(
                received=counts.received, malformed=counts.malformed, last_malformed=counts.last_error
            )
            array.status.append(status)
        self._publisher.publish(array)


def _values(**values: Any) -> list[KeyValue]:
    return [KeyValue(key=key, value=str(value)) for key, value in values.items()]

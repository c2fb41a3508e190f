"""Observe and control a running simulation from another process, through its topics and services."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rosgraph_msgs.msg import Clock

from tactile_sim.common.errors import CommandError
from tactile_sim.msg import ContactWrenchArray, TactileFrame
from tactile_sim.ros import subscribe
from tactile_sim.ros.live_table import State
from tactile_sim.ros.services import fields, service_class
from tactile_sim.ros.transport import clear_dead_ports
from tactile_sim.simulation.actions import KEYS

NODE = "tactile_sim"  # name of the observed node


class Monitor:
    """Subscribes to the topics of a node and updates a ``State`` from them during `spin`.

    Use it in a ``with`` block.

    Attributes:
        state: State according to the messages received so far.
        answer: Result of the last service call, as text; empty before the first result.
    """

    def __init__(self) -> None:
        self.state = State()
        self.answer = ""
        clear_dead_ports()
        self._context = rclpy.Context()
        try:
            rclpy.init(context=self._context, signal_handler_options=SignalHandlerOptions.NO)
            self._node = rclpy.create_node("tactile_sim_monitor", context=self._context)
        except RuntimeError as error:
            raise CommandError(f"ROS cannot be started: {' '.join(str(error).split())}") from None
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        subscribe(self._node, TactileFrame, "tactile/frame", self._receive_frame)
        subscribe(self._node, ContactWrenchArray, "contacts", self._receive_contacts, 1)
        self._node.create_subscription(Clock, "/clock", self._receive_clock, 1)
        self._node.create_subscription(DiagnosticArray, "/diagnostics", self._receive_diagnostics, 10)
        self._services = {action.name: service_class(action.service) for action in KEYS.values()}
        self._clients = {
            name: self._node.create_client(kind, f"{NODE}/{name}") for name, kind in self._services.items()
        }

    @property
    def ready(self) -> bool:
        """True if readings have arrived and all services are available."""
        return self.state.has_data and all(client.service_is_ready() for client in self._clients.values())

    def spin(self, duration: float) -> None:
        """Process incoming messages for the specified time."""
        end = time.monotonic() + duration
        while (left := end - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=left)
        if self.state.has_data:
            self.state.tick(time.monotonic())

    def press(self, key: str) -> None:
        """Call the service that is assigned to a key, with its default arguments.

        ``pause`` alternates between pause and resume.
        """
        name = KEYS[key].name
        self.call(name, *([not self.state.paused] if name == "pause" else KEYS[key].values([])))

    def call(self, name: str, *arguments: Any) -> None:
        """Call a service without waiting. Its result is stored in ``answer`` when it arrives."""
        kind, client = self._services[name], self._clients[name]
        if not client.service_is_ready():
            self.answer = f"{name}: the service is not available yet"
            return

        def answered(future: Future) -> None:
            response = future.result()
            self.answer = f"{name}: {response.message or ('done' if response.success else 'refused')}"
            if response.success and name == "pause":
                (self.state.paused,) = arguments

        request = kind.Request(**dict(zip(fields(kind), arguments, strict=True)))
        client.call_async(request).add_done_callback(answered)

    def _receive_frame(self, frame: Any) -> None:
        self.state.add_frame(time.monotonic(), frame.pads, frame.taxel_counts, frame.data, frame.channels)

    def _receive_contacts(self, message: Any) -> None:
        self.state.contacts = len(message.contacts)

    def _receive_clock(self, clock: Clock) -> None:
        self.state.time = clock.clock.sec + clock.clock.nanosec * 1e-9

    def _receive_diagnostics(self, diagnostics: DiagnosticArray) -> None:
        self.update(self.state, diagnostics)

    @staticmethod
    def update(state: State, diagnostics: DiagnosticArray) -> None:
        """Update the problems, the physics fault and the paused flag from a message of ``NODE``."""
        statuses = [status for status in diagnostics.status if status.name.startswith(f"{NODE}: ")]
        if not statuses:
            return  # another node's message
        complaints = [status.message for status in statuses if status.level != DiagnosticStatus.OK]
        state.problem = "; ".join(complaints)
        values = {value.key: value.value for status in statuses for value in status.values}
        state.paused = values["paused"] == "true"
        state.fault = statuses[0].message.partition(";")[0] if values["state"] == "broken" else ""

    def __enter__(self) -> Monitor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.shutdown(timeout_sec=1.0)
        self._node.destroy_node()
        self._context.try_shutdown()

"""A view from outside on a running simulation: hears its topics, calls its services."""

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

from tactile_sim.errors import CommandError
from tactile_sim.live_table import State
from tactile_sim.msg import ContactWrenchArray, TactileFrame
from tactile_sim.ros import subscribe
from tactile_sim.ros.services import fields, service_class
from tactile_sim.ros.transport import clear_dead_ports
from tactile_sim.simulation.actions import KEYS

NODE = "tactile_sim"  # whose services are called


class Monitor:
    """Keeps a ``State`` up to date while ``spin`` is called. The calls answer later, in ``answer``.

    Raises CommandError where ROS does not start.
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
            raise CommandError(f"ROS does not start: {' '.join(str(error).split())}") from None
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        subscribe(self._node, TactileFrame, "tactile/frame", self._hear_frame)
        subscribe(self._node, ContactWrenchArray, "contacts", self._hear_contacts, 1)
        self._node.create_subscription(Clock, "/clock", self._hear_clock, 1)
        self._node.create_subscription(DiagnosticArray, "/diagnostics", self._hear_diagnostics, 10)
        self._services = {action.name: service_class(action.service) for action in KEYS.values()}
        self._clients = {
            name: self._node.create_client(kind, f"{NODE}/{name}") for name, kind in self._services.items()
        }

    @property
    def ready(self) -> bool:
        """Whether the simulation is heard and listens."""
        return self.state.heard and all(client.service_is_ready() for client in self._clients.values())

    def spin(self, duration: float) -> None:
        """Take what comes within so much wall time [s]."""
        end = time.monotonic() + duration
        while (left := end - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=left)
        if self.state.heard:
            self.state.tick(time.monotonic())

    def press(self, key: str) -> None:
        """Call the service of a key in `KEYS` with its default arguments; pause and resume in turn."""
        name = KEYS[key].name
        self.call(name, *([not self.state.paused] if name == "pause" else KEYS[key].values([])))

    def call(self, name: str, *arguments: Any) -> None:
        """Call a service; what becomes of it is in ``answer`` later.

        Args:
            name: Name of an action with a key.
            arguments: Its arguments.
        """
        kind, client = self._services[name], self._clients[name]
        if not client.service_is_ready():
            self.answer = f"{name}: the node does not serve yet"
            return

        def answered(future: Future) -> None:
            response = future.result()
            self.answer = f"{name}: {response.message or ('done' if response.success else 'refused')}"
            if response.success and name == "pause":
                (self.state.paused,) = arguments

        request = kind.Request(**dict(zip(fields(kind), arguments, strict=True)))
        client.call_async(request).add_done_callback(answered)

    def _hear_frame(self, frame: Any) -> None:
        self.state.hear_frame(time.monotonic(), frame.pads, frame.taxel_counts, frame.data, frame.channels)

    def _hear_contacts(self, message: Any) -> None:
        self.state.contacts = len(message.contacts)

    def _hear_clock(self, clock: Clock) -> None:
        self.state.time = clock.clock.sec + clock.clock.nanosec * 1e-9

    def _hear_diagnostics(self, diagnostics: DiagnosticArray) -> None:
        self.update(self.state, diagnostics)

    @staticmethod
    def update(state: State, diagnostics: DiagnosticArray) -> None:
        """Take over what a message says of the node: its complaints, and whether it is paused."""
        statuses = [status for status in diagnostics.status if status.name.startswith(f"{NODE}: ")]
        if not statuses:
            return  # of another node
        complaints = [status.message for status in statuses if status.level != DiagnosticStatus.OK]
        state.complaint = "; ".join(complaints)
        values = {value.key: value.value for status in statuses for value in status.values}
        state.paused = values["paused"] == "true"

    def __enter__(self) -> Monitor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.shutdown(timeout_sec=1.0)
        self._node.destroy_node()
        self._context.try_shutdown()

"""Warn about other nodes with the same name in the ROS domain."""

from __future__ import annotations

from collections.abc import Callable

from rcl_interfaces.srv import GetParameters
from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.task import Future

INTERVAL, LOOKS = 2.0, 5
"""Interval between two queries for other nodes [s of wall time], and number of queries.

Several queries are needed because discovery is slow on a busy machine.
"""
CLOCK = "rates.clock"


class TwinWatch:
    """Warns once if another node with the same name publishes the same topics or ``/clock``.

    A node in the same namespace publishes the same topics. A node in another namespace conflicts only if
    ``rates.clock`` is above 0 in both nodes.
    """

    def __init__(self, node: Node, warn: Callable[[str], object], interval: float = INTERVAL):
        """Start a timer that looks for other nodes in the ROS graph.

        Args:
            node: This node, which has the parameter ``rates.clock``.
            warn: Logs a warning.
            interval: Interval between two queries [s of wall time].
        """
        self._node, self._warn = node, warn
        self.looks_left = LOOKS
        self._clients: dict[str, Client] = {}
        """Clients of the parameter services of other nodes, by namespace."""
        self._asked: set[str] = set()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(interval, self._look, clock=steady)

    def _look(self) -> None:
        node = self._node
        spaces = [space for name, space in node.get_node_names_and_namespaces() if name == node.get_name()]
        if spaces.count(node.get_namespace()) > 1:
            self._end(
                f"another {node.get_fully_qualified_name()} is in this ROS domain and publishes the same "
                "topics: give one a namespace (--ros-args -r __ns:=/left) or another ROS_DOMAIN_ID"
            )
        elif self.looks_left == 0:
            self._end()
        elif node.get_parameter(CLOCK).value:
            for space in sorted({*spaces} - {node.get_namespace()}):
                self._ask(space)
        self.looks_left -= 1

    def _ask(self, space: str) -> None:
        """Request the parameter ``rates.clock`` of another node once its parameter service is found."""
        twin = f"{space.rstrip('/')}/{self._node.get_name()}"
        if space not in self._clients:
            self._clients[space] = self._node.create_client(GetParameters, f"{twin}/get_parameters")
        if space in self._asked or not self._clients[space].service_is_ready():
            return
        self._asked.add(space)

        def answered(future: Future) -> None:
            if any(parameter_value_to_python(value) for value in future.result().values):
                self._end(
                    f"{twin} is in this ROS domain and publishes /clock, too; only one node should: start "
                    f"all others with {CLOCK}: 0.0, or with another ROS_DOMAIN_ID"
                )

        request = GetParameters.Request(names=[CLOCK])
        self._clients[space].call_async(request).add_done_callback(answered)

    def _end(self, warning: str = "") -> None:
        """Stop the queries, and log the warning if it is not empty."""
        if self._timer.is_canceled():
            return
        self._timer.cancel()
        for client in self._clients.values():
            self._node.destroy_client(client)
        if warning:
            self._warn(warning)

"""ROS services that respond asynchronously, after their work is done."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from rclpy.node import Node
from rclpy.qos import qos_profile_parameters

from tactile_sim.common.errors import CommandError

QOS = qos_profile_parameters
"""QoS of the services. Up to 1000 requests are queued, as in rclpy's parameter services.

With the default QoS of services, the queue holds 10 requests and silently drops the oldest when it is full.
"""


class DeferredService:
    """A service that responds when its work is done, without blocking other requests and commands.

    Every request gets a response, even if the work raises an unexpected exception.
    """

    def __init__(
        self,
        node: Node,
        service_type: Any,
        name: str,
        start: Callable[[Any], Future],
        fill: Callable[[Any, Future], None],
    ):
        """Create the service.

        Args:
            node: The node that offers the service.
            service_type: ROS type of the service.
            name: ROS name of the service.
            start: Starts the work for a request and returns a future for its result.
            fill: Writes the result of a finished future, or its TactileSimError, into a response.
        """
        self._start, self._fill = start, fill
        self._name, self._logger = name, node.get_logger()
        self._future: Future
        service = node.create_service(service_type, name, self._take, qos_profile=QOS)
        # rclpy sends the response when the callback returns. Replaced to send it when the future is done.
        self._send = service.send_response
        service.send_response = self._send_when_done  # type: ignore[method-assign]

    def _take(self, request: Any, response: Any) -> Any:
        try:
            self._future = self._start(request)
        except Exception as error:
            self._future = _failed(error)
        return response

    def _send_when_done(self, response: Any, header: Any) -> None:
        def answer(future: Future) -> None:
            try:
                try:
                    self._fill(response, future)
                except Exception as error:
                    self._logger.error(f"{self._name}: {''.join(traceback.format_exception(error))}")
                    text = f"internal error, see the log of the node: {error!r}"
                    self._fill(response, _failed(CommandError(text)))
                self._send(response, header)
            except Exception as error:
                self._logger.error(f"{self._name}: cannot send a response: {error}")

        self._future.add_done_callback(answer)


def _failed(error: Exception) -> Future:
    future: Future = Future()
    future.set_exception(error)
    return future

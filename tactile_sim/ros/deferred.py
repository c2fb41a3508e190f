"""Services that answer later."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from rclpy.node import Node
from rclpy.qos import qos_profile_parameters

from tactile_sim.errors import CommandError

QOS = qos_profile_parameters
"""The profile of ROS's own parameter services: up to 1000 requests wait for the node.

The default of services keeps 10 and drops the oldest, without an answer, when a client sends more at once.
"""


class DeferredService:
    """A service that answers when its work is done, so that requests and commands do not wait for each other.

    Every request is answered, also if the work raises an unexpected exception.
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
            node: The node that offers it.
            service_type: Its ROS type.
            name: Its ROS name.
            start: Starts the work that a request asks for and returns the future of its result.
            fill: Writes the result of a finished future, or its TactileSimError, into a response.
        """
        self._start, self._fill = start, fill
        self._name, self._logger = name, node.get_logger()
        self._future: Future
        service = node.create_service(service_type, name, self._take, qos_profile=QOS)
        # rclpy sends the response as soon as the callback returns; here it is sent when the future is done.
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
                self._logger.error(f"{self._name}: cannot send an answer: {error}")

        self._future.add_done_callback(answer)


def _failed(error: Exception) -> Future:
    future: Future = Future()
    future.set_exception(error)
    return future

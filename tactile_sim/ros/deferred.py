"""Services whose answer takes its time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from rclpy.node import Node


class DeferredService:
    """A service that answers when what it asks for is done: neither the next request nor a command waits.

    Args:
        ask: gives the future of what a request asks for.
        fill: puts what has become of it into the response.
    """

    def __init__(
        self,
        node: Node,
        service_type: Any,
        name: str,
        ask: Callable[[Any], Future],
        fill: Callable[[Any, Future], None],
    ):
        self._ask, self._fill = ask, fill
        self._future: Future
        service = node.create_service(service_type, name, self._take)
        # rclpy sends what the callback returns at once; here it is sent when the promise is kept.
        self._send = service.send_response
        service.send_response = self._send_when_done  # type: ignore[method-assign]

    def _take(self, request: Any, response: Any) -> Any:
        self._future = self._ask(request)
        return response

    def _send_when_done(self, response: Any, header: Any) -> None:
        def answer(future: Future) -> None:
            self._fill(response, future)
            self._send(response, header)

        self._future.add_done_callback(answer)

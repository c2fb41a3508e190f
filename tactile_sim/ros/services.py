"""The services of the node. Each hands its work to the loop and answers when it is done."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from tactile_sim.errors import TactileSimError
from tactile_sim.frames import to_wxyz
from tactile_sim.requests import Requests
from tactile_sim.srv import Reset, SetBodyState, Step


class Services:
    """``~/reset``, ``~/pause``, ``~/step``, ``~/set_body_state``, ``~/throw`` and ``~/tare``.

    A callback gives the future of what it asks for; the answer goes out when that is done. So a long
    ``~/step`` keeps neither the next request nor a command waiting.
    """

    def __init__(self, node: Node, requests: Requests):
        self._requests = requests
        self._future: Future
        for service_type, name, callback in (
            (Reset, "~/reset", self._reset),
            (SetBool, "~/pause", self._pause),
            (Step, "~/step", self._step),
            (SetBodyState, "~/set_body_state", self._set_body_state),
            (Trigger, "~/throw", self._throw),
            (Trigger, "~/tare", self._tare),
        ):
            service = node.create_service(service_type, name, partial(self._take, callback))
            # rclpy sends what the callback returns at once; here it is sent when the promise is kept.
            service.send_response = partial(self._send, service.send_response)  # type: ignore[method-assign]

    def _take(self, callback: Callable[[Any], Future], request: Any, response: Any) -> Any:
        self._future = callback(request)
        return response

    def _send(self, send: Callable[[Any, Any], None], response: Any, header: Any) -> None:
        def answer(future: Future) -> None:
            try:
                result = future.result()
                response.success = True
                if isinstance(response, Step.Response):
                    seconds, nanoseconds = divmod(result, 10**9)
                    response.time = Time(sec=seconds, nanosec=nanoseconds)
                    result = f"now at {result * 1e-9:.9g} s"
                response.message = result
            except TactileSimError as error:
                response.success, response.message = False, str(error)
            send(response, header)

        self._future.add_done_callback(answer)

    def _reset(self, request: Reset.Request) -> Future:
        return self._requests.reset(request.keyframe or None)

    def _pause(self, request: SetBool.Request) -> Future:
        return self._requests.pause(request.data)

    def _step(self, request: Step.Request) -> Future:
        return self._requests.step(request.steps)

    def _set_body_state(self, request: SetBodyState.Request) -> Future:
        position, orientation = request.pose.position, request.pose.orientation
        pose = np.array([position.x, position.y, position.z])
        quaternion = to_wxyz(np.array([orientation.x, orientation.y, orientation.z, orientation.w]))
        linear, angular = (
            np.array([vector.x, vector.y, vector.z])
            for vector in (request.twist.linear, request.twist.angular)
        )
        return self._requests.set_body_state(request.body, pose, quaternion, linear, angular)

    def _throw(self, request: Trigger.Request) -> Future:
        return self._requests.throw()

    def _tare(self, request: Trigger.Request) -> Future:
        return self._requests.tare()

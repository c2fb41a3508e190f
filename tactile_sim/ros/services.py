"""The services of the node. Each hands its work to the loop and answers when it is done."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import numpy as np
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from tactile_sim.errors import TactileSimError
from tactile_sim.loop.requests import Requests
from tactile_sim.ros.deferred import DeferredService
from tactile_sim.ros.rows import as_time, pose_row, twist_row
from tactile_sim.srv import Reset, SetBodyState, Step


class Services:
    """``~/reset``, ``~/pause``, ``~/step``, ``~/set_body_state``, ``~/throw`` and ``~/tare``."""

    def __init__(self, node: Node, requests: Requests):
        self._requests = requests
        for service_type, name, ask in (
            (Reset, "~/reset", self._reset),
            (SetBool, "~/pause", self._pause),
            (Step, "~/step", self._step),
            (SetBodyState, "~/set_body_state", self._set_body_state),
            (Trigger, "~/throw", self._throw),
            (Trigger, "~/tare", self._tare),
        ):
            DeferredService(node, service_type, name, ask, _fill)

    def _reset(self, request: Reset.Request) -> Future:
        return self._requests.reset(request.keyframe or None)

    def _pause(self, request: SetBool.Request) -> Future:
        return self._requests.pause(request.data)

    def _step(self, request: Step.Request) -> Future:
        return self._requests.step(request.steps)

    def _set_body_state(self, request: SetBodyState.Request) -> Future:
        position, quaternion = np.split(pose_row(request.pose), [3])
        linear, angular = np.split(twist_row(request.twist), 2)
        return self._requests.set_body_state(request.body, position, quaternion, linear, angular)

    def _throw(self, request: Trigger.Request) -> Future:
        return self._requests.throw()

    def _tare(self, request: Trigger.Request) -> Future:
        return self._requests.tare()


def _fill(response: Any, future: Future) -> None:
    try:
        result = future.result()
        response.success = True
        if isinstance(response, Step.Response):
            response.time = as_time(result)
            result = f"now at {result * 1e-9:.9g} s"
        response.message = result
    except TactileSimError as error:
        response.success, response.message = False, str(error)

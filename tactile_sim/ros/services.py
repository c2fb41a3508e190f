"""The services of the node. Each hands its work to the loop and answers when it is done."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from tactile_sim.errors import TactileSimError
from tactile_sim.frames import to_wxyz
from tactile_sim.runner import Runner
from tactile_sim.srv import Reset, SetBodyState, Step


class Services:
    """``~/reset``, ``~/pause``, ``~/step``, ``~/set_body_state``, ``~/throw`` and ``~/tare``."""

    def __init__(self, node: Node, runner: Runner):
        self._runner = runner
        self._simulation = runner.simulation
        # A long ~/step must not keep ~/pause waiting.
        group = ReentrantCallbackGroup()
        for service_type, name, callback in (
            (Reset, "~/reset", self._reset),
            (SetBool, "~/pause", self._pause),
            (Step, "~/step", self._step),
            (SetBodyState, "~/set_body_state", self._set_body_state),
            (Trigger, "~/throw", self._throw),
            (Trigger, "~/tare", self._tare),
        ):
            node.create_service(service_type, name, callback, callback_group=group)

    def _reset(self, request: Reset.Request, response: Reset.Response) -> Reset.Response:
        def work() -> str:
            self._runner.interfere(lambda: self._simulation.reset(request.keyframe or None), mends=True)
            return f"reset to keyframe {request.keyframe!r}" if request.keyframe else "reset"

        return self._answer(response, self._runner.call(work))

    def _pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        def work() -> str:
            self._runner.pause(request.data)
            return "paused" if request.data else "running"

        return self._answer(response, self._runner.call(work))

    def _step(self, request: Step.Request, response: Step.Response) -> Step.Response:
        done: Future = Future()

        def begin() -> None:
            try:
                self._runner.request_steps(request.steps, done)
            except TactileSimError as error:
                done.set_exception(error)

        self._runner.call(begin)
        response = self._answer(response, done, lambda stamp: f"now at {stamp * 1e-9:.9g} s")
        if response.success:
            seconds, nanoseconds = divmod(done.result(), 10**9)
            response.time = Time(sec=seconds, nanosec=nanoseconds)
        return response

    def _set_body_state(
        self, request: SetBodyState.Request, response: SetBodyState.Response
    ) -> SetBodyState.Response:
        position, orientation = request.pose.position, request.pose.orientation
        pose = np.array([position.x, position.y, position.z])
        quaternion = to_wxyz(np.array([orientation.x, orientation.y, orientation.z, orientation.w]))
        linear, angular = (
            np.array([vector.x, vector.y, vector.z])
            for vector in (request.twist.linear, request.twist.angular)
        )

        def work() -> str:
            self._runner.interfere(
                lambda: self._simulation.set_body_state(request.body, pose, quaternion, linear, angular)
            )
            return f"body {request.body!r} is set"

        return self._answer(response, self._runner.call(work))

    def _throw(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        def work() -> str:
            return f"threw {self._runner.interfere(self._simulation.throw)!r}"

        return self._answer(response, self._runner.call(work))

    def _tare(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        work = self._simulation.take_tare
        return self._answer(response, self._runner.call(lambda: self._runner.interfere(work)))

    @staticmethod
    def _answer(response: Any, future: Future, message: Callable[[Any], str] = str) -> Any:
        """Waits for the loop and fills success and message."""
        try:
            response.message = message(future.result())
            response.success = True
        except TactileSimError as error:
            response.success, response.message = False, str(error)
        return response

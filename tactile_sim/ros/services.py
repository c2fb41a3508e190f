"""The services of the node: one for each action that declares a service type."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3
from rclpy.node import Node
from rclpy.qos import qos_profile_parameters

from tactile_sim.common.errors import CommandError, TactileSimError
from tactile_sim.common.frames import to_wxyz, to_xyzw
from tactile_sim.ros.internals import respond_with
from tactile_sim.simulation.actions import ACTIONS
from tactile_sim.simulation.runner import Runner


def pose_row(pose: Pose) -> np.ndarray:
    """Convert a pose message to an array (7,): position [m] and quaternion wxyz."""
    position, q = pose.position, pose.orientation
    quaternion = to_wxyz(np.array([q.x, q.y, q.z, q.w]))
    return np.array([position.x, position.y, position.z, *quaternion])


def twist_row(twist: Twist) -> np.ndarray:
    """Convert a twist message to an array (6,): linear [m/s] and angular [rad/s] velocity."""
    return np.array([getattr(part, axis) for part in (twist.linear, twist.angular) for axis in "xyz"])


def as_pose(row: np.ndarray) -> Pose:
    """Convert an array to a pose message.

    - ``row``: Position [m] and quaternion wxyz (7,).
    """
    x, y, z, w = to_xyzw(row[3:]).tolist()
    return Pose(position=Point(**_axes(row[:3])), orientation=Quaternion(x=x, y=y, z=z, w=w))


def as_twist(row: np.ndarray) -> Twist:
    """Convert an array to a twist message.

    - ``row``: Linear [m/s] and angular [rad/s] velocity (6,).
    """
    return Twist(linear=Vector3(**_axes(row[:3])), angular=Vector3(**_axes(row[3:])))


def as_time(stamp: int) -> Time:
    """Convert a stamp to a time message."""
    seconds, nanoseconds = divmod(stamp, 10**9)
    return Time(sec=seconds, nanosec=nanoseconds)


def _axes(vector: np.ndarray) -> dict[str, float]:
    return dict(zip("xyz", vector.tolist(), strict=True))


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
        self._start, self._fill = start, fill
        self._name, self._logger = name, node.get_logger()
        self._future: Future
        service = node.create_service(service_type, name, self._take, qos_profile=QOS)
        self._send = respond_with(service, self._send_when_done)

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


ROWS = {Pose: pose_row, Twist: twist_row}


def service_class(name: str) -> Any:
    """Import a service class by the name of its type."""
    package, _, service = name.partition("/srv/")
    return getattr(import_module(f"{package}.srv"), service)


def fields(service_type: Any) -> list[str]:
    """Return the names of the request fields of a service, in order."""
    return list(service_type.Request.get_fields_and_field_types())


def offer_actions(node: Node, runner: Runner) -> None:
    """Create a service ``~/name`` for each action that has a service type."""
    for action in ACTIONS.values():
        if action.service:
            service_type = service_class(action.service)
            start = partial(_start, runner, action.name, fields(service_type))
            DeferredService(node, service_type, f"~/{action.name}", start, _fill)


def _start(runner: Runner, name: str, arguments: list[str], request: Any) -> Future:
    values = (getattr(request, argument) for argument in arguments)
    return runner.ask(name, *(ROWS.get(type(value), lambda value: value)(value) for value in values))


def _fill(response: Any, future: Future) -> None:
    try:
        result = future.result()
        response.success = True
        if isinstance(result, int):
            response.time = as_time(result)
            result = f"now at {result * 1e-9:.9g} s"
        response.message = result or ""
    except TactileSimError as error:
        response.success, response.message = False, str(error)

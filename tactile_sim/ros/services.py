"""The services of the node: one for each action that declares a service type."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from importlib import import_module
from typing import Any

from geometry_msgs.msg import Pose, Twist
from rclpy.node import Node

from tactile_sim.common.errors import TactileSimError
from tactile_sim.loop.requests import Requests
from tactile_sim.ros.conversions import as_time, pose_row, twist_row
from tactile_sim.ros.deferred import DeferredService
from tactile_sim.simulation.actions import ACTIONS

ROWS = {Pose: pose_row, Twist: twist_row}


def service_class(name: str) -> Any:
    """Import a service class by the name of its type.

    Args:
        name: Name of the type, such as ``std_srvs/srv/Trigger``.
    """
    package, _, service = name.partition("/srv/")
    return getattr(import_module(f"{package}.srv"), service)


def fields(service_type: Any) -> list[str]:
    """Return the names of the request fields of a service, in order.

    Args:
        service_type: ROS service class.
    """
    return list(service_type.Request.get_fields_and_field_types())


def offer_actions(node: Node, requests: Requests) -> None:
    """Create a service ``~/name`` for each action that has a service type.

    Args:
        node: The node that offers the services.
        requests: Runs actions in the loop.
    """
    for action in ACTIONS.values():
        if action.service:
            service_type = service_class(action.service)
            start = partial(_start, requests, action.name, fields(service_type))
            DeferredService(node, service_type, f"~/{action.name}", start, _fill)


def _start(requests: Requests, name: str, arguments: list[str], request: Any) -> Future:
    values = (getattr(request, argument) for argument in arguments)
    return requests.ask(name, *(ROWS.get(type(value), lambda value: value)(value) for value in values))


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

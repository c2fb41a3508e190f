"""Read settings from the node's parameters, and allow live parameters to change while it runs."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.parameter import Parameter

from tactile_sim import config
from tactile_sim.common.errors import CommandError, ConfigError, TactileSimError
from tactile_sim.common.schema import Choice, Integer, Number
from tactile_sim.config import Key, Settings
from tactile_sim.config.parameter_file import applies, read_sections
from tactile_sim.config.settings import EngineName

LAUNCH = "launch arguments"
"""Name used in error messages for parameters that a launch file sets."""


def parameter_files(arguments: list[str]) -> list[Path]:
    """Return the values of ``--params-file`` in ROS arguments, in order.

    They are needed because rcl does not report the file from which a value was read.
    """
    return [
        Path(file) for flag, file in zip(arguments, arguments[1:], strict=False) if flag == "--params-file"
    ]


def source_of(file: Path) -> str:
    """Return the name of a parameter file for error messages.

    The result is the path, or `LAUNCH` for a temporary file to which a launch file wrote its values.
    """
    temporary = file.parent == Path(tempfile.gettempdir()) and file.name.startswith("launch_params_")
    return LAUNCH if temporary else str(file)


def read_settings(node: Node, arguments: list[str]) -> Settings:
    """Read and check the settings in the node's parameters.

    A relative scene path is resolved from the folder of the last parameter file that sets ``scene``.

    Returns:
        The validated settings.
    """
    given: Mapping[str, Any] = node.get_parameters_by_prefix("")
    values = {name: parameter.value for name, parameter in given.items()}
    base, source, scene = None, "parameters", None
    for file in parameter_files(arguments):
        for name, keys in read_sections(file, source_of(file)).items():
            if applies(name, node.get_fully_qualified_name()) and "scene" in keys:
                source, scene = source_of(file), keys["scene"]
                base = None if source == LAUNCH else file.absolute().parent
    if source != LAUNCH and LAUNCH in map(source_of, parameter_files(arguments)):
        source += f" and the {LAUNCH}"
    if any(flag in ("-p", "--param") for flag in arguments):
        source += " and the command line"
    # A scene from another source, such as -p scene:=..., is not relative to a file.
    return config.from_mapping(values, base if values.get("scene") == scene else None, source)


def offer(
    node: Node, settings: Settings, steps_per_second: float, change: Callable[[Settings], None]
) -> None:
    """Declare all keys as parameters and allow the live ones to be set.

    Parameters have dynamic types so that integers are accepted for floats. Rates above the number of physics
    steps per second are clamped here, with a log message unless they are defaults. Later attempts to set such
    a rate are rejected.
    """
    current, keys = settings.within(steps_per_second), settings.keys
    for line in settings.rates_above(steps_per_second):
        node.get_logger().warning(line)
    for name, value in current.parameters().items():
        if node.has_parameter(name):
            node.undeclare_parameter(name)
        if value != ():  # ROS has no type for an empty list
            limit = steps_per_second if name.startswith("rates.") else None
            node.declare_parameter(name, value, _descriptor(keys[name], limit), ignore_override=True)

    def on_set(parameters: list[Parameter]) -> SetParametersResult:
        nonlocal current
        wanted = current
        try:
            for parameter in parameters:
                if not parameter.name.startswith("qos_overrides."):
                    wanted = wanted.replace(parameter.name, parameter.value)
                if wanted != wanted.within(steps_per_second):
                    raise ConfigError(
                        f"{parameter.name}: must be <= {steps_per_second:g} Hz, one message per step, "
                        f"got {parameter.value:g}"
                    )
        except TactileSimError as error:
            return SetParametersResult(successful=False, reason=str(error))
        if wanted is not current:
            current = wanted
            change(wanted)
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(on_set)


def setter(node: Node, executor: Executor) -> Callable[[str, Any], Future[None]]:
    """Return a function that sets a parameter of the node from any thread.

    The executor sets the parameter, as it does for ROS requests.
    """

    def set_parameter(name: str, value: Any) -> Future[None]:
        done: Future[None] = Future()

        def work() -> None:
            (result,) = node.set_parameters([Parameter(name, value=value)])
            if result.successful:
                done.set_result(None)
            else:
                done.set_exception(CommandError(result.reason))

        executor.create_task(work)
        return done

    return set_parameter


def _descriptor(key: Key, most: float | None) -> ParameterDescriptor:
    """Return the descriptor of a parameter for tools such as ``ros2 param describe``.

    It contains the description, the range and the choices of the parameter.
    """
    check = key.check
    descriptor = ParameterDescriptor(description=key.doc, read_only=not key.live, dynamic_typing=True)
    if isinstance(check, Number | Integer | Choice | EngineName):
        descriptor.additional_constraints = str(check)
    if isinstance(check, Integer):
        descriptor.integer_range = [IntegerRange(from_value=check.least, to_value=check.most, step=1)]
    elif isinstance(check, Number):
        lower = next(bound for bound in (check.least, check.above, -sys.float_info.max) if bound is not None)
        upper = min(bound for bound in (check.most, most, sys.float_info.max) if bound is not None)
        descriptor.floating_point_range = [FloatingPointRange(from_value=float(lower), to_value=float(upper))]
    return descriptor

"""The node's parameters: read once as settings, and the live ones while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from tactile_sim import config
from tactile_sim.config import Settings
from tactile_sim.config.parameter_file import applies, read_sections
from tactile_sim.errors import TactileSimError


def parameter_files(arguments: list[str]) -> list[Path]:
    """The parameter files that ROS arguments name, in order: rcl does not tell where a value came from."""
    return [
        Path(file) for flag, file in zip(arguments, arguments[1:], strict=False) if flag == "--params-file"
    ]


def read_settings(node: Node, arguments: list[str]) -> Settings:
    """Checked settings from the node's parameters.

    A relative scene counts from the last parameter file that sets ``scene``. Raises ConfigError.
    """
    given: Mapping[str, Any] = node.get_parameters_by_prefix("")
    values = {name: parameter.value for name, parameter in given.items()}
    base, source, scene = None, "parameters", None
    for file in parameter_files(arguments):
        for name, keys in read_sections(file, str(file)).items():
            if applies(name, node.get_fully_qualified_name()) and "scene" in keys:
                base, source, scene = file.absolute().parent, str(file), keys["scene"]
    if any(flag in ("-p", "--param") for flag in arguments):
        source += " and the command line"
    # A scene from elsewhere, such as -p scene:=..., has no file to count from.
    return config.from_mapping(values, base if values.get("scene") == scene else None, source)


def offer(node: Node, settings: Settings, change: Callable[[Settings], None]) -> None:
    """Declares all keys as parameters and lets the live ones be set: ``change`` gets the new settings.

    Whole numbers are taken where fractions are meant, so the types are not fixed.
    """
    current, keys = settings, settings.keys
    for name, value in settings.parameters().items():
        if node.has_parameter(name):
            node.undeclare_parameter(name)
        if value != ():  # ROS has no type for an empty list
            key = keys[name]
            descriptor = ParameterDescriptor(description=key.doc, read_only=not key.live, dynamic_typing=True)
            node.declare_parameter(name, value, descriptor, ignore_override=True)

    def on_set(parameters: list[Parameter]) -> SetParametersResult:
        nonlocal current
        wanted = current
        try:
            for parameter in parameters:
                if not parameter.name.startswith("qos_overrides."):
                    wanted = wanted.replace(parameter.name, parameter.value)
        except TactileSimError as error:
            return SetParametersResult(successful=False, reason=str(error))
        if wanted is not current:
            current = wanted
            change(wanted)
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(on_set)

"""Publish readings in message types of other packages, as selected by the key ``bridges``."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from tactile_sim.common.errors import ConfigError
from tactile_sim.config import Settings
from tactile_sim.ros.topic import Topic
from tactile_sim.simulation import Simulation

BRIDGES = {
    "tactile_msgs": (
        "tactile_toolbox",
        "build the messages of github.com/ubi-agni/tactile_toolbox for ROS 2 as docs/bridges.md shows",
    ),
    "ros_gz_interfaces": ("gazebo", "sudo apt install ros-$ROS_DISTRO-ros-gz-interfaces"),
    "xela_server_ros2": (
        "xela",
        "git clone https://github.com/mcsix/xela_server_ros2, colcon build",
    ),
}
"""Module name and installation instructions of each bridge, keyed by the package of its messages."""


def require(settings: Settings) -> None:
    """Check that the message packages listed in the key ``bridges`` are installed."""
    for package in settings.bridges:
        _bridge(package, settings)


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield the topics of the configured bridges."""
    for package in dict.fromkeys(simulation.settings.bridges):
        yield from _bridge(package, simulation.settings).topics(simulation)


def _bridge(package: str, settings: Settings) -> ModuleType:
    module, remedy = BRIDGES[package]
    try:
        return import_module(f"{__name__}.{module}")
    except ImportError as error:
        raise ConfigError(
            f"{settings.source}: bridges: the package {package!r} is not installed ({error}): "
            f"{remedy}, and source its setup.bash"
        ) from None

"""Publish the readings of real sensors in place of simulated ones.

For example: ros2 launch tactile_sim hardware.launch.py config:=gripper
"""

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch_ros.actions import Node

from tactile_sim.common.files import find_shipped

ARGUMENTS = (
    DeclareLaunchArgument(
        "config",
        description="Shipped configuration by name, or the path of a parameter file; with hardware.pads",
    ),
    DeclareLaunchArgument(
        "params_file",
        default_value="",
        description="Another parameter file; its values override those of config",
    ),
    DeclareLaunchArgument("namespace", default_value="", description="Namespace of the node and its topics"),
    DeclareLaunchArgument(
        "log_level", default_value="info", description="Lowest severity that the node logs"
    ),
)


def generate_launch_description() -> LaunchDescription:
    """Return the launch description for ``ros2 launch``."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the node; launch shuts down when it ends."""
    given = context.launch_configurations
    config = Path(given["config"]).expanduser()
    files = [config.resolve() if config.is_file() else find_shipped("config", given["config"])]
    if given["params_file"]:
        files.append(Path(given["params_file"]).expanduser().resolve())
    return [
        Node(
            package="tactile_sim",
            executable="hardware",
            name="tactile_sim",
            namespace=given["namespace"],
            parameters=[str(file) for file in files],
            ros_arguments=["--log-level", given["log_level"]],
            output="screen",
            on_exit=Shutdown(reason="the node of the sensors has ended"),
        )
    ]

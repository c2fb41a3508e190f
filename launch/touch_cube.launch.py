"""Launch the configuration touch_cube: a cube with skin on a table.

Accepts all arguments of sim.launch.py except config.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Return the launch description for ``ros2 launch``."""
    sim = str(Path(__file__).with_name("sim.launch.py"))
    arguments = {"config": "touch_cube"}
    return LaunchDescription([IncludeLaunchDescription(sim, launch_arguments=arguments.items())])

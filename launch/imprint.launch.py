"""Launch the configuration imprint: shapes pressed on a soft pad.

The other arguments are those of sim.launch.py.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Return the launch description for ``ros2 launch``."""
    sim = str(Path(__file__).with_name("sim.launch.py"))
    arguments = {"config": "imprint"}
    return LaunchDescription([IncludeLaunchDescription(sim, launch_arguments=arguments.items())])

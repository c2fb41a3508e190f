"""Start the simulation, the controller manager and the controllers."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, Shutdown
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

CONFIG = Path(__file__).resolve().parents[1] / "config"
CONTROLLERS = ["joint_state_broadcaster", "touch_broadcaster", "lift_controller", "grip_controller"]


def generate_launch_description() -> LaunchDescription:
    """Return the launch description for ``ros2 launch``."""
    lockstep = LaunchConfiguration("lockstep")
    flag = ParameterValue(lockstep, value_type=bool)
    controllers = str(CONFIG / "controllers.yaml")
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "lockstep",
                default_value="false",
                choices=["true", "false"],
                description="Whether each cycle of the controller manager takes one step of the physics; "
                "otherwise both run at 500 Hz of wall time",
            ),
            Node(
                package="tactile_sim",
                executable="sim",
                name="tactile_sim",
                parameters=[str(CONFIG / "simulation.yaml"), {"lockstep": flag}],
                output="screen",
                on_exit=Shutdown(reason="the simulation has ended"),
            ),
            Node(
                package="controller_manager",
                executable="ros2_control_node",
                parameters=[controllers, {"use_sim_time": flag}],
                output="screen",
                on_exit=Shutdown(reason="the controller manager has ended"),
            ),
            Node(
                package="controller_manager",
                executable="spawner",
                arguments=[*CONTROLLERS, "--param-file", controllers],
                output="screen",
            ),
            Node(
                package="tactile_ros2_control",
                executable="start_clock.py",
                condition=IfCondition(lockstep),
                output="screen",
            ),
        ]
    )

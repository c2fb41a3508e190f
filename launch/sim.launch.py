"""The simulation, RViz, a recorder: ros2 launch tactile_sim sim.launch.py config:=touch_cube rviz:=true."""

from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, ExecuteProcess, LogInfo, OpaqueFunction, Shutdown
from launch_ros.actions import Node

from tactile_sim import ConfigError, share
from tactile_sim.config import parameter_file

TOPICS = ("markers", "scene_markers", "tactile/points")
BOOL = ("true", "false")
LEVELS = ("debug", "info", "warn", "error", "fatal")


def argument(
    name: str, default: str, description: str, choices: tuple[str, ...] | None = None
) -> DeclareLaunchArgument:
    """A launch argument; an empty default leaves the matter to the configuration."""
    return DeclareLaunchArgument(name, default_value=default, description=description, choices=choices)


ARGUMENTS = (
    argument("config", "touch_cube", "Shipped configuration by name, or the path of a parameter file"),
    argument(
        "scene", "", "Scene (MJCF, URDF): a shipped name, a path, package:// or file://; empty: as configured"
    ),
    argument("engine", "", "Physics engine; empty: as configured", ("", "mujoco", "motrix", "trifinger")),
    argument("namespace", "", "Namespace of the node and its topics"),
    argument(
        "real_time_factor", "", "Simulated s per s of wall time, 0: as fast as can be; empty: as configured"
    ),
    argument("rviz", "false", "Show scene, taxels, contact forces and frames in RViz", BOOL),
    argument("web", "false", "Show the scene in a browser, at the address that the node then tells", BOOL),
    argument("record", "false", "Record all topics into a bag (MCAP)", BOOL),
    argument("bag_path", "", "Folder of the bag, which must not exist yet; empty: here, named by the time"),
    argument("log_level", "info", "Least severity of what the node logs", LEVELS),
)


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` calls."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """The processes that the arguments ask for."""
    given = {each.name: context.launch_configurations[each.name] for each in ARGUMENTS}
    actions = [simulation(given)]
    if given["rviz"] == "true":
        actions.append(rviz(given))
    if given["record"] == "true":
        actions.append(recorder(given))
    return actions


def configuration(given: dict[str, str]) -> Path:
    """The parameter file."""
    config = Path(given["config"]).expanduser()
    return config.resolve() if config.is_file() else share.find("config", given["config"])


def simulation(given: dict[str, str]) -> Node:
    """The node; when it ends, all ends."""
    overrides: dict[str, str | float] = {}
    if given["scene"]:
        scene = Path(given["scene"]).expanduser()
        overrides["scene"] = str(scene.resolve()) if scene.is_file() else given["scene"]
    if given["engine"]:
        overrides["engine"] = given["engine"]
    if given["real_time_factor"]:
        overrides["real_time_factor"] = number("real_time_factor", given["real_time_factor"])
    return Node(
        package="tactile_sim",
        executable="sim",
        name="tactile_sim",
        namespace=given["namespace"],
        arguments=["--web"] * (given["web"] == "true"),
        parameters=[str(configuration(given)), *[overrides] * bool(overrides)],  # rcl refuses an empty one
        ros_arguments=["--log-level", given["log_level"]],
        output="screen",
        on_exit=Shutdown(reason="the simulation has ended"),
    )


def number(name: str, text: str) -> float:
    """The value of an argument that must be a number."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name}:={text} is not a number") from None


def rviz(given: dict[str, str]) -> LaunchDescriptionEntity:
    """RViz with our display, its topics moved into the namespace and its fixed frame the configured one."""
    if not installed("rviz2"):
        return LogInfo(msg="rviz:=true: RViz is not installed; sudo apt install ros-$ROS_DISTRO-rviz2")
    prefix = "/".join(["", *given["namespace"].strip("/").split("/")]).rstrip("/")
    file = configuration(given)
    try:
        settings = parameter_file.read(file, str(file), f"{prefix}/tactile_sim")
    except ConfigError:
        settings = {}  # the node itself tells what is wrong with it
    frame = str(settings.get("world_frame", "world"))
    return Node(
        package="rviz2",
        executable="rviz2",
        arguments=["-d", str(share.find("rviz", "tactile_sim.rviz")), "-f", frame],
        parameters=[{"use_sim_time": True}],
        remappings=[(f"/{topic}", f"{prefix}/{topic}") for topic in TOPICS],
    )


def recorder(given: dict[str, str]) -> LaunchDescriptionEntity:
    """`ros2 bag record` of everything."""
    for package, debian in (("ros2bag", "ros2bag"), ("rosbag2_storage_mcap", "rosbag2-storage-mcap")):
        if not installed(package):
            return LogInfo(
                msg=f"record:=true: {package} is not installed; sudo apt install ros-$ROS_DISTRO-{debian}, "
                "or: tactile_sim record OUT"
            )
    output = ["--output", given["bag_path"]] if given["bag_path"] else []
    command = ["ros2", "bag", "record", "--storage", "mcap", "--all", *output]
    return ExecuteProcess(cmd=command, output="screen")


def installed(package: str) -> bool:
    """Whether a ROS package is there."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True

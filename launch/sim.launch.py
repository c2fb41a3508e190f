"""Start the simulation, RViz and a recorder.

For example: ros2 launch tactile_sim sim.launch.py config:=touch_cube rviz:=true
"""

from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, ExecuteProcess, LogInfo, OpaqueFunction, Shutdown
from launch_ros.actions import Node

from tactile_sim import ConfigError, SceneError, TactileSimError
from tactile_sim.common.files import find_shipped, of_address, similar_file
from tactile_sim.config import from_mapping, parameter_file
from tactile_sim.figures.rviz_display import rviz_display

TOPICS = ("markers", "scene_markers", "skin_markers", "tactile/points")
BOOL = ("true", "false")
LEVELS = ("debug", "info", "warn", "error", "fatal")
RECORDING = (
    *("--storage", "mcap", "--storage-preset-profile", "zstd_fast"),
    "--use-sim-time",
    "--disable-keyboard-controls",
)
RECORDER_PATIENCE = "30"  # time for the recorder to write its cache before launch kills it [s]


def argument(
    name: str, default: str, description: str, choices: tuple[str, ...] | None = None
) -> DeclareLaunchArgument:
    """Return a launch argument; an empty value means that it is not set."""
    return DeclareLaunchArgument(name, default_value=default, description=description, choices=choices)


ARGUMENTS = (
    argument("config", "touch_cube", "Shipped configuration by name, or the path of a parameter file"),
    argument("params_file", "", "Another parameter file; its values override those of config"),
    argument(
        "scene", "", "Scene (MJCF, URDF): a shipped name, a path, package:// or file://; empty: as configured"
    ),
    argument("engine", "", "Physics engine; empty: as configured", ("", "mujoco", "motrix", "trifinger")),
    argument("namespace", "", "Namespace of the node and its topics"),
    argument(
        "real_time_factor",
        "",
        "Simulation time per wall time, 0: as fast as possible; empty: as configured",
    ),
    argument("rviz", "false", "Show scene, touched skin and contact forces in RViz", BOOL),
    argument(
        "rviz_config", "", "RViz configuration; empty: the shipped one, with camera and sizes of the scene"
    ),
    argument("web", "false", "Show the scene in a browser, at the address that the node logs", BOOL),
    argument("record", "false", "Record all topics into a bag (MCAP) on simulation time", BOOL),
    argument("bag_path", "", "Folder of the bag, must not exist; empty: a folder here, named after the time"),
    argument("log_level", "info", "Lowest severity that the node logs", LEVELS),
)


def generate_launch_description() -> LaunchDescription:
    """Return the launch description for ``ros2 launch``."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the processes selected by the launch arguments."""
    given = {each.name: context.launch_configurations[each.name] for each in ARGUMENTS}
    qos = Path(mkdtemp(prefix="tactile_sim_"), "qos.yaml") if given["record"] == "true" else None
    recorders = [recorder(given, qos)] if qos else []
    recorded = any(isinstance(action, ExecuteProcess) for action in recorders)
    displays = [rviz(given)] if given["rviz"] == "true" else []
    return [simulation(given, qos if recorded else None), *displays, *recorders]


def parameter_files(given: dict[str, str]) -> list[Path]:
    """Return the parameter files in the order in which they are applied.

    Raises:
        ConfigError: A file does not exist.
    """
    config = Path(given["config"]).expanduser()
    files = [config.resolve() if config.is_file() else find_shipped("config", given["config"])]
    if given["params_file"]:
        files.append(existing("params_file", given))
    return files


def existing(name: str, given: dict[str, str]) -> Path:
    """Return the absolute path of the file that an argument names.

    Args:
        name: Name of the argument.
        given: Values of all launch arguments.

    Returns:
        The path.

    Raises:
        ConfigError: The file does not exist.
    """
    path = Path(given[name]).expanduser()
    if not path.is_file():
        raise ConfigError(f"{name}:={given[name]}: no such file{similar_file(path.absolute())}")
    return path.resolve()


def simulation(given: dict[str, str], qos: Path | None) -> Node:
    """Return the simulation node; launch shuts down when it ends.

    Args:
        given: Values of all launch arguments.
        qos: File that the node writes for the recorder, for which it waits; None without a recorder.
    """
    overrides: dict[str, str | float] = {}
    if given["scene"]:
        overrides["scene"] = scene(given["scene"])
    if given["engine"]:
        overrides["engine"] = given["engine"]
    if given["real_time_factor"]:
        overrides["real_time_factor"] = number("real_time_factor", given["real_time_factor"])
    files = map(str, parameter_files(given))
    return Node(
        package="tactile_sim",
        executable="sim",
        name="tactile_sim",
        namespace=given["namespace"],
        arguments=["--web"] * (given["web"] == "true") + (["--recorded", str(qos)] if qos else []),
        parameters=[*files, *[overrides] * bool(overrides)],  # rcl rejects an empty mapping
        ros_arguments=["--log-level", given["log_level"]],
        output="screen",
        on_exit=Shutdown(reason="the simulation has ended"),
    )


def scene(name: str) -> str:
    """Return the value of the parameter ``scene``: an absolute path or a shipped name.

    Raises:
        SceneError: The scene does not exist.
    """
    path = of_address(name, "scene:=")
    if path.is_file():
        return str(path.resolve())
    try:
        find_shipped("scenes", name)
    except SceneError as error:
        raise SceneError(f"scene:={name}: no such file {path.absolute()}, and {error}") from None
    return name


def number(name: str, text: str) -> float:
    """Return the value of an argument that must be a number.

    Raises:
        ConfigError: The value is not a number.
    """
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{name}:={text}: must be a number") from None


def rviz(given: dict[str, str]) -> LaunchDescriptionEntity:
    """Return the RViz node, with topics in the namespace and the configured world frame as fixed frame."""
    if not installed("rviz2"):
        return LogInfo(msg="rviz:=true: RViz is not installed; sudo apt install ros-$ROS_DISTRO-rviz2")
    prefix = "/".join(["", *given["namespace"].strip("/").split("/")]).rstrip("/")
    settings: dict[str, object] = {}
    base = Path()
    for file in parameter_files(given):
        try:
            own = parameter_file.read(file, str(file), f"{prefix}/tactile_sim")
        except ConfigError:
            continue  # the node reports the error
        base = file.parent if "scene" in own else base
        settings |= own
    for key in ("scene", "engine"):
        if given[key]:
            settings[key] = scene(given[key]) if key == "scene" else given[key]
    shown, images = display(given, settings, base)
    return Node(
        package="rviz2",
        executable="rviz2",
        arguments=["-d", str(shown), "-f", str(settings.get("world_frame", "world"))],
        parameters=[{"use_sim_time": True}],
        remappings=[(f"/{topic}", f"{prefix}/{topic}") for topic in [*TOPICS, *images]],
    )


def display(given: dict[str, str], settings: dict[str, object], base: Path) -> tuple[Path, list[str]]:
    """Return the path of RViz's configuration and the image topics in it.

    The configuration is generated for the scene unless ``rviz_config`` is set.

    Args:
        given: Values of all launch arguments.
        settings: Parameters of the node.
        base: Folder to which paths in the parameters are relative.
    """
    if given["rviz_config"]:
        return existing("rviz_config", given), []
    try:
        made = rviz_display(from_mapping(settings, base))
    except TactileSimError:
        return find_shipped("rviz", "tactile_sim.rviz"), []  # the node reports the error
    with NamedTemporaryFile("w", prefix="tactile_sim_", suffix=".rviz", delete=False) as file:
        file.write(made.text)
    return Path(file.name), made.images


def recorder(given: dict[str, str], qos: Path) -> LaunchDescriptionEntity:
    """Return a ``ros2 bag record`` process for all topics; launch shuts down when it ends.

    The recorder uses simulation time, so it subscribes only once the clock runs. The simulation node waits
    for the recorder.

    Args:
        given: Values of all launch arguments.
        qos: File that the node writes with the QoS of the subscriptions.
    """
    for package, debian in (("ros2bag", "ros2bag"), ("rosbag2_storage_mcap", "rosbag2-storage-mcap")):
        if not installed(package):
            return LogInfo(
                msg=f"record:=true: {package} is not installed; sudo apt install ros-$ROS_DISTRO-{debian}, "
                "or: tactile_sim record OUT"
            )
    output = ["--output", given["bag_path"]] if given["bag_path"] else []
    command = [
        "ros2",
        "bag",
        "record",
        "--all",
        *RECORDING,
        "--qos-profile-overrides-path",
        str(qos),
        *output,
    ]
    return ExecuteProcess(
        cmd=["sh", "-c", 'until [ -e "$0" ]; do sleep 0.1; done; exec "$@"', str(qos), *command],
        output="screen",
        sigterm_timeout=RECORDER_PATIENCE,
        sigkill_timeout=RECORDER_PATIENCE,
        on_exit=Shutdown(reason="the recorder has ended"),
    )


def installed(package: str) -> bool:
    """Return whether a ROS package is installed."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True

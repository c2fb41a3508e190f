"""What a command finds of ROS: its arguments on the command line, its packages and its variables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec

from tactile_sim.errors import CommandError

LAST_DOMAIN = 232  # its ports, from 7400 + 250 * domain on, are the last below 65536 (RTPS 2.5, 9.6.2.3)


def split_ros_arguments(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separate our arguments from ROS's, which run from ``--ros-args`` to ``--`` or the end.

    Returns:
        Ours, and what stands between those two.
    """
    ours: list[str] = []
    theirs: list[str] = []
    inside = False
    for argument in argv:
        if argument == "--ros-args":
            inside = True
        elif inside and argument == "--":
            inside = False
        else:
            (theirs if inside else ours).append(argument)
    return ours, theirs


def require_ros(command: str) -> None:
    """Check that ROS 2 and the messages are installed, and that ROS can start in this environment.

    Raises:
        CommandError: says what is missing and how to get it.
    """
    if find_spec("rclpy") is None:
        raise CommandError(
            f"`{command}` needs ROS 2, and rclpy cannot be imported; source a ROS 2 installation "
            "(source /opt/ros/jazzy/setup.bash), or in the source tree: make setup && source tools/env.bash"
        )
    if find_spec("tactile_sim.msg") is None:
        raise CommandError(
            f"`{command}` needs the messages of tactile_sim, and they are not built; in the source tree: "
            "make setup && source tools/env.bash, or colcon build && source install/setup.bash"
        )
    domain = os.environ.get("ROS_DOMAIN_ID", "")
    if domain and not (domain.strip().isdecimal() and int(domain) <= LAST_DOMAIN):
        raise CommandError(
            f"ROS_DOMAIN_ID is {domain!r}; it has to be an integer from 0 to {LAST_DOMAIN}: "
            "export another, or unset it"
        )
    if not {"HOME", "ROS_HOME", "ROS_LOG_DIR"} & {name for name, value in os.environ.items() if value}:
        raise CommandError(
            "HOME is not set, so ROS has no folder for its log files: export HOME, or ROS_LOG_DIR"
        )
    security = [os.environ.get(f"ROS_SECURITY_{name}", "") for name in ("ENABLE", "STRATEGY", "KEYSTORE")]
    if security[:2] == ["true", "Enforce"] and not security[2]:
        raise CommandError(
            "ROS_SECURITY_ENABLE is true and ROS_SECURITY_KEYSTORE is not set: "
            "export the folder of the keys, or ROS_SECURITY_ENABLE=false"
        )

"""Checks of MuJoCo, the ROS installation and environment variables, and separation of ROS arguments."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from tactile_sim.errors import CommandError

LAST_DOMAIN = 232
"""Largest ROS domain whose ports, from 7400 + 250 * domain on, are below 65536 (RTPS 2.5, 9.6.2.3)."""


def split_ros_arguments(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separate ROS arguments from other arguments.

    ROS arguments extend from ``--ros-args`` to the next ``--`` or to the end of the command line.

    Returns:
        The other arguments, and the ROS arguments without the two markers.
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


def require_mujoco() -> None:
    """Check that MuJoCo can be imported."""
    try:
        import_module("mujoco")
    except (AttributeError, ImportError, RuntimeError) as error:
        if "MUJOCO_GL" not in os.environ:
            raise
        raise CommandError(
            f"MuJoCo cannot be imported with MUJOCO_GL={os.environ['MUJOCO_GL']}: {error};"
            " install this library, or unset MUJOCO_GL"
        ) from None


def require_ros(command: str) -> None:
    """Check that ROS 2 and our messages are installed, and the environment variables of ROS."""
    if find_spec("rclpy") is None:
        raise CommandError(
            f"`{command}` requires ROS 2, but rclpy cannot be imported; source a ROS 2 installation "
            "(source /opt/ros/jazzy/setup.bash), or in the source tree: make setup && source tools/env.bash"
        )
    if find_spec("tactile_sim.msg") is None:
        raise CommandError(
            f"`{command}` requires the messages of tactile_sim, but they are not built; in the source tree: "
            "make setup && source tools/env.bash, or colcon build && source install/setup.bash"
        )
    domain = os.environ.get("ROS_DOMAIN_ID", "")
    if domain and not (domain.strip().isdecimal() and int(domain) <= LAST_DOMAIN):
        raise CommandError(
            f"ROS_DOMAIN_ID: must be an integer from 0 to {LAST_DOMAIN}, got {domain!r}; change or unset it"
        )
    if not {"HOME", "ROS_HOME", "ROS_LOG_DIR"} & {name for name, value in os.environ.items() if value}:
        raise CommandError(
            "HOME: must be set, because ROS writes its log files there; export HOME or ROS_LOG_DIR"
        )
    security = [os.environ.get(f"ROS_SECURITY_{name}", "") for name in ("ENABLE", "STRATEGY", "KEYSTORE")]
    if security[:2] == ["true", "Enforce"] and not security[2]:
        raise CommandError(
            "ROS_SECURITY_KEYSTORE: must be set if ROS_SECURITY_ENABLE is true; "
            "export the folder of the keys, or ROS_SECURITY_ENABLE=false"
        )

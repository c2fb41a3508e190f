"""The subcommands of ``tactile_sim``, one module each.

Each module defines ``add_parser(subparsers)`` and ``main(args) -> int``.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn

from tactile_sim.errors import CommandError, readable

CONFIG_HELP = "a shipped configuration's name (touch_cube) or the path of a YAML file"
LAST_DOMAIN = 232  # its ports, from 7400 + 250 * domain on, are the last below 65536 (RTPS 2.5, 9.6.2.3)


class Parser(argparse.ArgumentParser):
    """A parser with readable errors. If ``intermixed``, options can be between positional arguments."""

    intermixed = False

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, and exit with code 2."""
        super().error(readable(message))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:  # type: ignore[override]
        if not self.intermixed:
            return super().parse_known_args(args, namespace)
        self.intermixed = False  # parse_known_intermixed_args calls parse_known_args
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.intermixed = True


def new_parser(
    subparsers: argparse._SubParsersAction[Parser], name: str, summary: str, details: str = ""
) -> Parser:
    """Add the parser of a subcommand.

    Args:
        subparsers: The parsers to extend.
        name: Name of the subcommand.
        summary: Short description for the list of commands and for its own help.
        details: Text at the end of its help.
    """
    return subparsers.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=details or None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def seconds(text: str) -> float:
    """Parse a duration [s], which must be finite and positive."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"must be > 0 s, got {text!r}")
    return value


def counted(number: int, one: str, many: str = "") -> str:
    """``1 body``, ``2 bodies``; ``many`` is ``one`` with an s by default."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def shortened(names: Sequence[str], limit: int = 8) -> str:
    """Return ``a, b, ... (9 in all)`` for long lists of names."""
    return ", ".join(names[:limit]) + (f", ... ({len(names)} in all)" if len(names) > limit else "")


def require_mujoco() -> None:
    """Check that MuJoCo can be imported.

    Raises:
        CommandError: ``MUJOCO_GL`` names an invalid or missing library, which MuJoCo loads on import.
    """
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

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
LAST_DOMAIN = 232
"""Largest ROS domain whose ports, from 7400 + 250 * domain on, are below 65536 (RTPS 2.5, 9.6.2.3)."""


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
    """Return a number with its noun, such as ``1 body`` or ``2 bodies``.

    Args:
        number: The number.
        one: Singular of the noun.
        many: Plural of the noun; by default the singular with an s.
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def shortened(names: Sequence[str], limit: int = 8) -> str:
    """Return ``a, b, ... (9 in total)`` for long lists of names."""
    return ", ".join(names[:limit]) + (f", ... ({len(names)} in total)" if len(names) > limit else "")


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
    """Check that ROS 2 and the message packages are installed, and that the environment is valid for ROS.

    Args:
        command: The command that needs ROS, for the error.

    Raises:
        CommandError: Something is missing or invalid.
    """
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

"""The subcommands of ``tactile_sim``, a module each: ``add_parser(subparsers)``, ``main(args) -> int``."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from tactile_sim.errors import CommandError

CONFIG_HELP = "a shipped configuration's name (touch_cube) or the path of a YAML file"
LAST_DOMAIN = 232  # its ports, from 7400 + 250 * domain on, are the last below 65536 (RTPS 2.5, 9.6.2.3)


class Parser(argparse.ArgumentParser):
    """A subcommand's; where ``intermixed`` is set, its options may stand between positional arguments."""

    intermixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:  # type: ignore[override]
        if not self.intermixed:
            return super().parse_known_args(args, namespace)
        self.intermixed = False  # the other one may call this one
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.intermixed = True


def new_parser(
    subparsers: argparse._SubParsersAction[Parser], name: str, summary: str, details: str = ""
) -> Parser:
    """Add a subcommand's parser: ``summary`` stands in the list of commands and heads its own help."""
    return subparsers.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=details or None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def seconds(text: str) -> float:
    """A duration [s] from the command line: finite and positive."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, not {text!r}")
    return value


def counted(number: int, one: str, many: str = "") -> str:
    """``1 body``, ``2 bodies``; ``many`` is ``one`` with an s by default."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def shortened(names: Sequence[str], limit: int = 8) -> str:
    """Return ``a, b, ... (9 in all)`` for long lists of names."""
    return ", ".join(names[:limit]) + (f", ... ({len(names)} in all)" if len(names) > limit else "")


def require_ros(command: str) -> None:
    """Raise a CommandError where ROS 2 or the messages are missing, or the environment's domain is none."""
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

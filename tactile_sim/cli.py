"""The command ``tactile_sim``: its subcommands, and how each way of ending becomes an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from tactile_sim import TactileSimError, __version__

COMMANDS = ("run", "demo", "info", "check", "record", "bag", "bench")
EXAMPLES = """\
CONFIG is the name of a shipped configuration (touch_cube, infant) or the path of a YAML file.

  tactile_sim demo touch_cube          watch a cube feel the table
  tactile_sim info infant              what a scene holds: bodies, taxels, joints, sensors
  tactile_sim run my_robot.yaml        the ROS 2 node
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand.

    Args:
        argv: the arguments without the program's name; those of the process by default.

    Returns:
        The exit code: 0 fine, 2 bad input, 130 interrupted; what the subcommand returns otherwise.

    Raises:
        SystemExit: from argparse, with 0 after ``--help`` and 2 after bad usage.
    """
    arguments, ros_arguments = split_ros_arguments(sys.argv[1:] if argv is None else argv)
    modules = {name: import_module(f"tactile_sim.commands.{name}") for name in COMMANDS}
    parser = _parser(modules)
    args = parser.parse_args(arguments)
    if ros_arguments:
        if not hasattr(args, "ros_args"):
            parser.error(f"--ros-args: {args.command} is not a ROS node and takes none")
        args.ros_args = ros_arguments
    try:
        code = modules[args.command].main(args)
        sys.stdout.flush()
        return int(code)
    except TactileSimError as error:
        print(f"tactile_sim: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader went away, as `| head` does; nothing more may be flushed there
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


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


def _parser(modules: dict[str, ModuleType]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tactile_sim",
        description="Simulated tactile skins for any MuJoCo model, in ROS 2 and without it.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tactile_sim {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    for module in modules.values():
        module.add_parser(subparsers)
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""The command ``tactile_sim``: its subcommands, and how each way of ending becomes an exit code."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

from tactile_sim import CommandError, TactileSimError, __version__, signals
from tactile_sim.child import prepare
from tactile_sim.commands import Parser, require_mujoco
from tactile_sim.environment import split_ros_arguments
from tactile_sim.errors import readable, suggest

COMMANDS = ("run", "demo", "view", "info", "check", "record", "bag", "plot", "bench")
EXAMPLES = """\
CONFIG is the name of a shipped configuration (touch_cube, infant, hand, worm, imprint, trifinger) or the path
of a YAML file.

  tactile_sim demo touch_cube          watch a cube feel the table
  tactile_sim view hand                see it in the browser, without ROS; a bag plays back there too
  tactile_sim info infant              what a scene holds: bodies, taxels, joints, sensors
  tactile_sim run my_robot.yaml        the ROS 2 node
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand.

    Args:
        argv: the arguments without the program's name; those of the process by default.

    Returns:
        The exit code: 0 success, 2 bad input or an output that fails, 128 plus the number of a signal that
        ended it; or what the subcommand returns.

    Raises:
        SystemExit: from argparse, with 0 after ``--help`` and 2 after bad usage.
    """
    if argv is None:
        prepare()
    if argv is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Ctrl-C ends the process at once: an exception is swallowed or turned into another one by libraries
        # that are being imported. A command that has something to clean up makes a StopRequest for it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        if sys.stdout is None:  # what is opened next would get its number, and what is printed by a library
            raise CommandError("the standard output is closed; to be without it: > /dev/null")
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning
            code = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return code
    except TactileSimError as error:
        for line in str(error).splitlines():
            print(f"tactile_sim: error: {line}", file=sys.stderr)
        return 2
    except signals.Stopped as stopped:
        return stopped.exit_code
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if not _output_fails():
            raise
        # Nothing more may be flushed there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader went away, as `| head` does
            return 0
        reason = f"cannot write to the standard output: {error.strerror}"
        with suppress(OSError):  # a terminal that is closed takes no errors either
            print(f"tactile_sim: error: {reason}", file=sys.stderr)
        return 2


def _run(argv: Sequence[str]) -> int:
    """Parse the arguments and do what they say. Only the module that is asked for is imported."""
    arguments, ros_arguments = split_ros_arguments(argv)
    names = arguments[:1] if arguments[:1] and arguments[0] in COMMANDS else COMMANDS
    if os.environ.get("MUJOCO_GL"):
        require_mujoco()
    modules = {name: import_module(f"tactile_sim.commands.{name}") for name in names}
    parser = _parser(modules)
    if not argv:
        parser.print_help()
        return 0
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        parser.error(f"there is no command {arguments[0]!r}{suggest(arguments[0], COMMANDS)}")
    args = parser.parse_args(arguments)
    if ros_arguments:
        if not hasattr(args, "ros_args"):
            parser.error(f"--ros-args: {args.command} is not a ROS node and takes none")
        args.ros_args = ros_arguments
    return int(modules[args.command].main(args))


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a library's warning as one line, without the source line that it comes from."""
    print(f"tactile_sim: warning: {readable(' '.join(str(message).split()))}", file=sys.stderr)


def _output_fails() -> bool:
    """Whether it is the standard output that cannot be written."""
    try:
        print(flush=True)
    except OSError:
        return True
    return False


def _parser(modules: dict[str, ModuleType]) -> argparse.ArgumentParser:
    parser = Parser(
        prog="tactile_sim",
        description="Simulated tactile skins for any MuJoCo model, in ROS 2 and without it.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tactile_sim {__version__}")
    subparsers = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", title="commands", parser_class=Parser
    )
    for module in modules.values():
        module.add_parser(subparsers)
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""Entry point of the command ``tactile_sim``: parses arguments and returns exit codes."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import textwrap
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

from tactile_sim import CommandError, TactileSimError, __version__, share, signals
from tactile_sim.child import prepare
from tactile_sim.commands import Parser
from tactile_sim.environment import require_mujoco, split_ros_arguments
from tactile_sim.errors import readable, suggest

COMMANDS = (
    "run", "hardware", "demo", "view", "info", "check", "export", "presets", "record", "bag", "plot", "fit",
    "protocol", "collect", "sweep", "bench",
)  # fmt: skip
COMPLETION = "_ARGCOMPLETE"
"""Environment variable that the shell sets to request completions."""
REMEDY = "this command needs the extra full: python -m pip install 'tactile_sim[full]'"
EXAMPLES = """\
CONFIG is the path of a YAML file or the name of a shipped configuration:
{names}.

  tactile_sim demo touch_cube          show the forces on a rolling cube in the terminal
  tactile_sim view hand                show a simulation in the browser, without ROS (also plays bags)
  tactile_sim info infant              list bodies, taxels, joints and sensors of a scene
  tactile_sim run my_robot.yaml        run the ROS 2 node
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand.

    Args:
        argv: Arguments without the program name; by default, the command line arguments of this process.

    Returns:
        The exit code: 0 for success, 2 for invalid input or unwritable output, 128 plus the signal number
            after a signal, or the subcommand's own code.

    Raises:
        SystemExit: Raised by argparse, with 0 after ``--help`` and 2 after invalid arguments.
    """
    if argv is None:
        prepare()
    if argv is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Let Ctrl-C end the process immediately, because libraries may swallow or replace a
        # KeyboardInterrupt during import. Commands that must clean up use a StopRequest.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        if sys.stdout is None:  # the next file opened would get its descriptor and receive printed text
            raise CommandError("standard output is closed; redirect it to /dev/null to discard it")
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning
            if logging.lastResort:  # the handler of loggers without one
                logging.lastResort.setFormatter(_LogFormatter())
            code = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return code
    except TactileSimError as error:
        for line in str(error).splitlines():
            print(f"tactile_sim: error: {line}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("tactile_sim"):
            raise
        print(f"tactile_sim: error: the package {error.name} is not installed; {REMEDY}", file=sys.stderr)
        return 2
    except signals.Stopped as stopped:
        return stopped.exit_code
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if not _output_fails():
            raise
        # Prevent the interpreter from flushing the broken output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader has exited, as `| head` does
            return 0
        reason = f"cannot write to standard output: {error.strerror}"
        with suppress(OSError):  # standard error may be closed, too
            print(f"tactile_sim: error: {reason}", file=sys.stderr)
        return 2


def _run(argv: Sequence[str]) -> int:
    """Parse the arguments and run the subcommand without importing the modules of other subcommands."""
    arguments, ros_arguments = split_ros_arguments(argv)
    names = arguments[:1] if arguments[:1] and arguments[0] in COMMANDS else COMMANDS
    if os.environ.get("MUJOCO_GL"):
        require_mujoco()
    modules = {name: import_module(f"tactile_sim.commands.{name}") for name in names}
    parser = _parser(modules)
    if COMPLETION in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)
    if not argv:
        parser.print_help()
        return 0
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        parser.error(f"unknown command {arguments[0]!r}{suggest(arguments[0], COMMANDS)}")
    args = parser.parse_args(arguments)
    if ros_arguments:
        if not hasattr(args, "ros_args"):
            parser.error(f"--ros-args: not supported by {args.command}, which is not a ROS node")
        args.ros_args = ros_arguments
    return int(modules[args.command].main(args))


class _LogFormatter(logging.Formatter):
    """Formats a log record in the same way as errors and warnings of this command."""

    def format(self, record: logging.LogRecord) -> str:
        return f"tactile_sim: {record.levelname.lower()}: {readable(record.getMessage())}"


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning from a library on one line, without the source line."""
    print(f"tactile_sim: warning: {readable(' '.join(str(message).split()))}", file=sys.stderr)


def _output_fails() -> bool:
    """Return whether writing an empty line to standard output fails."""
    try:
        print(flush=True)
    except OSError:
        return True
    return False


def _parser(modules: dict[str, ModuleType]) -> argparse.ArgumentParser:
    parser = Parser(
        prog="tactile_sim",
        description="Simulated tactile skins for any MuJoCo model, with or without ROS 2.",
        epilog=EXAMPLES.format(names=textwrap.fill(", ".join(share.names("config")), 100)),
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

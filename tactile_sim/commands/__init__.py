"""The command ``tactile_sim``: entry point, parsers, types of options and the console.

For each subcommand NAME, the module in `COMMANDS` defines ``add_NAME(subparsers)``.
"""

from __future__ import annotations

import argparse
import logging
import math
import os
import signal
import sys
import textwrap
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from tactile_sim import CommandError, TactileSimError, __version__
from tactile_sim.common import signals
from tactile_sim.common.errors import readable, suggest
from tactile_sim.common.files import shipped_names
from tactile_sim.common.processes import prepare, require_mujoco, split_ros_arguments

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH = 160
"""Text width if the output is a file or pipe [columns]."""


class Parser(argparse.ArgumentParser):
    """Argument parser that shortens its error messages and escapes control characters in them.

    If ``intermixed`` is True, options are allowed between positional arguments.
    """

    intermixed = False
    details: Callable[[], str] | None = None
    """Function that returns the text at the end of the help, if that takes long."""

    def format_help(self) -> str:
        if self.details:
            self.epilog = self.details()
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Print the usage and an error message, and exit with code 2."""
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
    subparsers: argparse._SubParsersAction[Parser],
    main: Callable[[argparse.Namespace], int] | None,
    name: str,
    summary: str,
    details: str = "",
) -> Parser:
    """Add the parser of a subcommand, which ``main`` runs; ``details`` is the end of its help."""
    parser = subparsers.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=details or None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(main=main)
    return parser


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add the argument CONFIG, with shell completion of shipped configurations and YAML files."""
    argument: Any = parser.add_argument(
        "config",
        metavar="CONFIG",
        help="a shipped configuration's name (touch_cube) or the path of a YAML file",
    )
    argument.completer = complete_config


def complete_config(prefix: str, **_: Any) -> list[str]:
    """Return candidates for completing a prefix: names of shipped configurations, and YAML files."""
    from argcomplete.completers import FilesCompleter  # only the shell's completion needs it

    return [*shipped_names("config"), *FilesCompleter(["yaml", "yml"])(prefix)]


def new_console(**options: Any) -> Console:
    """Return a console on standard output, without highlighting. A closed pipe raises a BrokenPipeError."""
    from rich.console import Console  # takes 0.05 s

    class Output(Console):
        def on_broken_pipe(self) -> None:
            """Raise the error again, because rich would end the program with exit code 1."""
            raise BrokenPipeError

    width = None if sys.stdout.isatty() else PLAIN_WIDTH
    return Output(width=width, highlight=False, **options)


# Types of options. For an invalid text, they raise an ArgumentTypeError that states the requirement.


def positive(text: str) -> float:
    """Parse a finite number above 0."""
    value = _number(text)
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"must be a number above 0, got {text!r}")
    return value


def between(low: float, high: float) -> Callable[[str], float]:
    """Return a parser that accepts numbers from ``low`` to ``high``."""

    def parse(text: str) -> float:
        value = _number(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"must be from {low:g} to {high:g}, got {text!r}")
        return value

    return parse


def seconds(text: str) -> float:
    """Parse a finite time in seconds, which may be negative."""
    value = _number(text)
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"must be a number of seconds, got {text!r}")
    return value


def port_number(text: str) -> int:
    """Parse the number of a TCP port."""
    if not (text.isdecimal() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"must be a port from 0 to 65535, got {text!r}")
    return int(text)


def _number(text: str) -> float:
    """Parse a number; return NaN if the text is not a number."""
    try:
        return float(text)
    except ValueError:
        return math.nan


COMMANDS = {
    "run": "run", "hardware": "run", "demo": "demo", "view": "view", "info": "info", "check": "info",
    "export": "info", "presets": "info", "record": "run", "bag": "bag", "plot": "plot", "fit": "fit",
    "protocol": "fit", "collect": "collect", "sweep": "collect", "bench": "bench",
}  # fmt: skip
"""Module of `tactile_sim.commands` that defines each subcommand."""
COMPLETION = "_ARGCOMPLETE"
"""Environment variable that the shell sets to request completions."""
FULL = frozenset("argcomplete collada matplotlib mcap msgspec rosbags viser websockets zstandard".split())
"""Modules of the packages in requirements/full.txt."""
REMEDY = "; this command needs the extra full: python -m pip install 'tactile_sim[full]'"
EXAMPLES = """\
CONFIG is the path of a YAML file or the name of a shipped configuration:
{names}.

  tactile_sim demo touch_cube          show the forces on a rolling cube in the terminal
  tactile_sim view hand                show a simulation in the browser, without ROS (also plays bags)
  tactile_sim info infant              list bodies, taxels, joints and sensors of a scene
  tactile_sim run my_robot.yaml        run the ROS 2 node
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand."""
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
        package = error.name.partition(".")[0]
        remedy = REMEDY if package in FULL else ""
        print(f"tactile_sim: error: the package {package} is not installed{remedy}", file=sys.stderr)
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
    names = arguments[:1] if arguments[:1] and arguments[0] in COMMANDS else list(COMMANDS)
    if os.environ.get("MUJOCO_GL"):
        require_mujoco()
    parser = _parser(names)
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
    return int(args.main(args))


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


def _parser(names: Sequence[str]) -> argparse.ArgumentParser:
    parser = Parser(
        prog="tactile_sim",
        description="Simulated tactile skins for any MuJoCo model, with or without ROS 2.",
        epilog=EXAMPLES.format(names=textwrap.fill(", ".join(shipped_names("config")), 100)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tactile_sim {__version__}")
    subparsers = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", title="commands", parser_class=Parser
    )
    for name in names:
        getattr(import_module(f"tactile_sim.commands.{COMMANDS[name]}"), f"add_{name}")(subparsers)
    return parser

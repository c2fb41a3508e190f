"""The subcommands of ``tactile_sim``, and what they share: parsers, types of options and the console.

For each subcommand NAME, a module defines ``add_NAME(subparsers)``.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from tactile_sim import share
from tactile_sim.errors import readable

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

    return [*share.names("config"), *FilesCompleter(["yaml", "yml"])(prefix)]


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

"""The subcommands of ``tactile_sim``, one module each.

Each module except `console` and `option_types` defines ``add_parser(subparsers)`` and ``main(args) -> int``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

from tactile_sim import share
from tactile_sim.errors import readable


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
    subparsers: argparse._SubParsersAction[Parser], name: str, summary: str, details: str = ""
) -> Parser:
    """Add the parser of a subcommand.

    Args:
        subparsers: Object to which the parser is added.
        name: Name of the subcommand.
        summary: Short description for the list of commands and for the subcommand's help.
        details: Text at the end of the subcommand's help.
    """
    return subparsers.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=details or None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


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

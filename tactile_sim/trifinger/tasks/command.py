"""What the tasks' commands have in common, such as ``python -m tactile_sim.trifinger.tasks.move_cube``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from tactile_sim.errors import TactileSimError

Subparsers = argparse._SubParsersAction


def run(task: str, add_commands: Callable[[Subparsers], None]) -> None:
    """Runs the subcommand that the program's arguments name, and prints what it returns.

    Each parser that ``add_commands`` adds sets ``run``, a function of the parsed arguments that returns text.
    Ends the program with exit code 2 where the arguments, or the files they name, are of no use.
    """
    parser = argparse.ArgumentParser(prog=f"python -m tactile_sim.trifinger.tasks.{task}")
    add_commands(parser.add_subparsers(metavar="COMMAND", required=True))
    arguments = parser.parse_args()
    try:
        print(arguments.run(arguments))
    except (TactileSimError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def add_goal_from_config(subparsers: Subparsers, read: Callable[[str], str]) -> None:
    """Adds ``goal_from_config FILE``."""
    parser = subparsers.add_parser(
        "goal_from_config", help="print the goal of a file, or draw one as it says"
    )
    parser.add_argument("goal_config_file", help="JSON")
    parser.set_defaults(run=lambda arguments: read(arguments.goal_config_file))

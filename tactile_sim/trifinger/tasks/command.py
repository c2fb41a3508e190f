"""Shared code for the commands ``python -m tactile_sim.trifinger.tasks.TASK``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from tactile_sim.errors import TactileSimError

Subparsers = argparse._SubParsersAction


def run(task: str, add_commands: Callable[[Subparsers], None]) -> None:
    """Parse the command line of a task, run the subcommand and print the text that it returns.

    Invalid arguments or files end the program with exit code 2.

    Args:
        task: Name of the task.
        add_commands: Function that adds a parser for each subcommand. Each parser must set ``run``, a
            function that accepts the parsed arguments and returns text.
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
    """Add the subcommand ``goal_from_config FILE``.

    Args:
        subparsers: Subparsers of the command.
        read: Function that returns a file's goal as JSON text.
    """
    parser = subparsers.add_parser(
        "goal_from_config", help="print the goal of a file, or draw one of its difficulty"
    )
    parser.add_argument("goal_config_file", help="JSON")
    parser.set_defaults(run=lambda arguments: read(arguments.goal_config_file))

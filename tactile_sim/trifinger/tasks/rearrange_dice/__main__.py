"""Draw goals of ``rearrange_dice`` and parse patterns."""

from __future__ import annotations

import argparse

from tactile_sim.trifinger.tasks import command, rearrange_dice
from tactile_sim.trifinger.tasks.rearrange_dice import utils


def _sample(arguments) -> str:
    goal = rearrange_dice.sample_goal()
    if arguments.show:
        rearrange_dice.visualize_2d(goal)
    return rearrange_dice.goal_to_json(goal)


def _add_commands(subparsers: command.Subparsers) -> None:
    sample = subparsers.add_parser("sample_goal", help="draw a goal and print it as JSON")
    sample.add_argument("--show", action="store_true", help="show it in a window")
    sample.set_defaults(run=_sample)
    command.add_goal_from_config(subparsers, rearrange_dice.json_goal_from_config)
    template = subparsers.add_parser("create_pattern_template", help="print a pattern without dice")
    template.set_defaults(run=lambda _: utils.create_empty_pattern())
    pattern = subparsers.add_parser("parse_goal_pattern", help="print the goal of a pattern as JSON")
    pattern.add_argument(
        "infile", type=argparse.FileType("r"), nargs="?", default="-", help="pattern file; default: stdin"
    )
    pattern.set_defaults(
        run=lambda arguments: rearrange_dice.goal_to_json(utils.parse_pattern_file(arguments.infile))
    )


if __name__ == "__main__":
    command.run("rearrange_dice", _add_commands)

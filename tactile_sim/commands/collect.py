"""``tactile_sim collect CONFIG --episodes N --out DIR``: datasets of randomized episodes."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tactile_sim.commands import add_config, new_parser
from tactile_sim.errors import CommandError
from tactile_sim.text import counted

if TYPE_CHECKING:
    from tactile_sim.learning.episodes import Recipe

DETAILS = """\
The ranges of the configuration are drawn for each episode. To continue after an interruption, repeat the
command.

  tactile_sim collect gripper --episodes 100 --out grips
  tactile_sim collect balance --task tactile_sim/BallBalance-v0 --policy examples/balance.npz --out balls
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand ``collect`` and its arguments."""
    parser = new_parser(subparsers, "collect", "collect a dataset of randomized episodes (Parquet)", DETAILS)
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="DIR", help="folder of the dataset")
    parser.add_argument(
        "--format",
        choices=("parquet", "lerobot"),
        default="parquet",
        help="lerobot: with the metadata of LeRobot v3.0; parquet by default",
    )
    add_recipe(parser, 100, "number of episodes")
    _add_number(parser, "envs", 32, "episodes in a shard, which run at once")


def add_recipe(parser: argparse.ArgumentParser, episodes: int, text: str) -> None:
    """Add the arguments that specify the episodes and how to run them.

    Args:
        parser: Parser of a subcommand.
        episodes: Default number of episodes.
        text: Help text for the option ``--episodes``.
    """
    add_config(parser)
    for name, default, meaning in (
        ("episodes", episodes, text),
        ("steps", 500, "rows of an episode"),
        ("substeps", None, "time steps between two rows; by default those of the task, or tactile messages"),
        ("seed", 0, "seed of ranges, noise and initial states"),
        ("workers", 1, "processes"),
    ):
        _add_number(parser, name, default, meaning)
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="run on a Ray cluster: its address, auto, or local for one of --workers processes",
    )
    parser.add_argument("--task", default="", metavar="ID", help="task: initial states, actions, reward, end")
    parser.add_argument(
        "--policy", type=Path, metavar="FILE", help="LinearPolicy (.npz); random actions in a task by default"
    )
    parser.add_argument(
        "--touch", metavar="NAME", help="with --task or --policy: what the policy feels; contact by default"
    )


def _add_number(parser: argparse.ArgumentParser, name: str, default: int | None, text: str) -> None:
    """Add an option whose value is an integer."""
    shown = "" if default is None else f"; {default} by default"
    parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=text + shown)


def make_recipe(args: argparse.Namespace) -> Recipe:
    """Create a recipe from the options added by `add_recipe`.

    Raises:
        CommandError: An option is out of range, or requires another option that is missing.
    """
    from tactile_sim.learning.episodes import Recipe

    if args.substeps is not None and args.substeps < 1:
        raise CommandError(f"--substeps: must be >= 1, got {args.substeps}")
    if args.touch is not None and not (args.task or args.policy):
        raise CommandError(f"--touch: requires --task or --policy, got {args.touch!r} alone")
    touch = "contact" if args.touch is None else args.touch
    return Recipe(args.config, args.steps, args.substeps or 0, args.task, args.policy, touch)


def main(args: argparse.Namespace) -> int:
    """Collect the missing episodes of a dataset, print a summary and the throughput, and return 0."""
    from tactile_sim.learning.dataset import Collection, collect
    from tactile_sim.progress import progress

    collection = Collection(make_recipe(args), args.episodes, args.out, args.envs, args.seed, args.format)
    with progress("collecting") as update:
        start = time.monotonic()
        done = collect(collection, args.workers, update, args.ray)
        rate = done / (time.monotonic() - start)
    found = args.episodes - done
    print(
        f"{args.out}: {counted(args.episodes, 'episode')} in {counted(collection.shards, 'shard')}"
        + (f", {found} of them collected before" if found else "")
    )
    if done:
        print(f"{rate:.3g} episodes/s", file=sys.stderr)
    return 0

"""``tactile_sim collect`` and ``tactile_sim sweep``: datasets of episodes, and tables over keys."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tactile_sim.commands import add_config, new_parser
from tactile_sim.common.errors import CommandError
from tactile_sim.common.text import counted

if TYPE_CHECKING:
    from tactile_sim.learning.episodes import Recipe

COLLECT_DETAILS = """\
The ranges of the configuration are drawn for each episode. To continue after an interruption, repeat the
command.

  tactile_sim collect gripper --episodes 100 --out grips
  tactile_sim collect balance --task tactile_sim/BallBalance-v0 --policy examples/balance.npz --out balls
"""


def add_collect(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``collect``."""
    parser = new_parser(
        subparsers, _collect, "collect", "collect a dataset of randomized episodes (Parquet)", COLLECT_DETAILS
    )
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="DIR", help="folder of the dataset")
    parser.add_argument(
        "--format",
        choices=("parquet", "lerobot"),
        default="parquet",
        help="lerobot: with the metadata of LeRobot v3.0; parquet by default",
    )
    _add_recipe(parser, 100, "number of episodes")
    _add_number(parser, "envs", 32, "episodes in a shard, which run at once")


def _add_recipe(parser: argparse.ArgumentParser, episodes: int, text: str) -> None:
    """Add the arguments that specify the episodes and how to run them."""
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


def _make_recipe(args: argparse.Namespace) -> Recipe:
    """Create a recipe from the options added by `add_recipe`."""
    from tactile_sim.learning.episodes import Recipe

    if args.substeps is not None and args.substeps < 1:
        raise CommandError(f"--substeps: must be >= 1, got {args.substeps}")
    if args.touch is not None and not (args.task or args.policy):
        raise CommandError(f"--touch: requires --task or --policy, got {args.touch!r} alone")
    touch = "contact" if args.touch is None else args.touch
    return Recipe(args.config, args.steps, args.substeps or 0, args.task, args.policy, touch)


def _collect(args: argparse.Namespace) -> int:
    """Collect the missing episodes of a dataset, print a summary and the throughput, and return 0."""
    from tactile_sim.common.text import progress
    from tactile_sim.learning.dataset import Collection, collect

    collection = Collection(_make_recipe(args), args.episodes, args.out, args.envs, args.seed, args.format)
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


SWEEP_DETAILS = """\
--metric names a file with a function metric(episodes, simulation), which returns numbers by name. To continue
after an interruption, repeat the command.

  tactile_sim sweep hand --over skin.thickness=0.001:0.005:5 --over sensor.noise.std=0,0.01 \\
    --metric examples/metric.py
"""


def add_sweep(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``sweep``."""
    parser = new_parser(
        subparsers, _sweep, "sweep", "measure a metric over a grid of configuration keys", SWEEP_DETAILS
    )
    parser.add_argument(
        "--over",
        action="append",
        required=True,
        metavar="KEY=VALUES",
        help="a key and its values, A:B:N (N values from A to B) or A,B,...; repeat it for a grid",
    )
    parser.add_argument("--metric", required=True, metavar="FILE[:FUNCTION]", help="the metric, in Python")
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        default=Path("sweep.csv"),
        metavar="FILE",
        help="table, .csv or .parquet; sweep.csv by default",
    )
    parser.add_argument("--force", action="store_true", help="discard an existing table and complete points")
    _add_recipe(parser, 8, "episodes at each point, which run at once")


def _sweep(args: argparse.Namespace) -> int:
    """Run the missing points of the grid, write the table and return 0."""
    from tactile_sim.common.text import progress
    from tactile_sim.learning.sweep import Sweep, make_axes, sweep

    axes = make_axes(args.config, args.over)
    work = Sweep(_make_recipe(args), axes, args.metric, args.out, args.episodes, args.seed)
    with progress("sweeping") as update:
        done = sweep(work, args.workers, update, args.ray, args.force)
    found = work.points - done
    print(
        f"{args.out}: {counted(work.points, 'point')} of {counted(args.episodes, 'episode')}"
        + (f", {counted(found, 'point')} run before" if found else "")
    )
    return 0

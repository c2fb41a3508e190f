"""``tactile_sim sweep CONFIG --over KEY=VALUES --metric FILE``: a table over keys of a configuration."""

from __future__ import annotations

import argparse
from pathlib import Path

from tactile_sim.commands import new_parser
from tactile_sim.commands.collect import add_recipe, make_recipe
from tactile_sim.text import counted

DETAILS = """\
--metric names a file with a function metric(episodes, simulation), which returns numbers by name. To continue
after an interruption, repeat the command.

  tactile_sim sweep hand --over skin.thickness=0.001:0.005:5 --over sensor.noise.std=0,0.01 \\
    --metric examples/metric.py
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand ``sweep`` and its arguments."""
    parser = new_parser(subparsers, "sweep", "measure a metric over a grid of configuration keys", DETAILS)
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
    add_recipe(parser, 8, "episodes at each point, which run at once")


def main(args: argparse.Namespace) -> int:
    """Run the missing points of the grid, write the table and return 0."""
    from tactile_sim.learning.sweep import Sweep, make_axes, sweep
    from tactile_sim.progress import progress

    axes = make_axes(args.config, args.over)
    work = Sweep(make_recipe(args), axes, args.metric, args.out, args.episodes, args.seed)
    with progress("sweeping") as update:
        done = sweep(work, args.workers, update, args.ray, args.force)
    found = work.points - done
    print(
        f"{args.out}: {counted(work.points, 'point')} of {counted(args.episodes, 'episode')}"
        + (f", {counted(found, 'point')} run before" if found else "")
    )
    return 0

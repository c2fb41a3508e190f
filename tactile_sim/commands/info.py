"""``tactile_sim info CONFIG``: print the contents of a configuration's scene as tables or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from tactile_sim import config
from tactile_sim.commands import add_config, new_parser
from tactile_sim.errors import CommandError

if TYPE_CHECKING:
    from tactile_sim.simulation import Simulation
    from tactile_sim.simulation.inventory import Listing

PLOT_FORMATS = (".png", ".svg", ".pdf")
PLAIN_WIDTH = 160
"""Width of text that is written to a file or pipe [columns]."""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand."""
    parser = new_parser(
        subparsers, "info", "list bodies, geoms, taxels, joints, sensors of a scene", "Does not need ROS."
    )
    add_config(parser)
    parser.add_argument("--force", action="store_true", help="replace an existing file of --plot")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--short", action="store_true", help="only the summary and the pads")
    form.add_argument("--json", action="store_true", help="everything as JSON, in SI units")
    parser.add_argument(
        "--plot",
        metavar="FILE",
        type=Path,
        help="also plot the layout of the pads: ids, and first tangents as arrows (.png, .svg, .pdf)",
    )


def main(args: argparse.Namespace) -> int:
    """Print the tables and return 0."""
    if args.plot and args.plot.suffix.lower() not in PLOT_FORMATS:
        raise CommandError(f"--plot: must end in {', '.join(PLOT_FORMATS)}, got {args.plot.name!r}")
    if args.plot:
        from tactile_sim.bag.atomic_write import refuse_existing

        refuse_existing(args.plot, args.force)
    settings = config.load(args.config)
    from tactile_sim.simulation import Simulation, inventory  # imported late because it takes a second

    simulation = Simulation(settings)
    summary, listings = inventory.summary(simulation), inventory.contents(simulation)
    if args.json:
        everything = summary | {listing.key: listing.records() for listing in listings}
        print(json.dumps(everything, indent=1, default=lambda value: value.tolist()))
    else:
        console = Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, highlight=False)
        for key, value in summary.items():
            heading, show = inventory.SUMMARY[key]
            console.print(Text(f"{heading:<14} {show(value)}"))
        for listing in listings[: 1 if args.short else None]:
            console.print(_table(listing))
    if args.plot:
        _plot(simulation, args.plot)
        if not args.json:
            print(args.plot)
    return 0


def _table(listing: Listing) -> RenderableType:
    """Return a table for the terminal."""
    if not listing.rows:
        return Text(f"\nno {listing.title}")
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in listing.columns:
        justify: JustifyMethod = "right" if column.right else "left"
        table.add_column(Text(column.heading), justify=justify, overflow="fold")
    for row in listing.rows:
        cells = zip(listing.columns, row, strict=True)
        table.add_row(*(Text("" if value is None else column.show(value)) for column, value in cells))
    return Group(Text(f"\n{listing.title}", style="bold"), table)


def _plot(simulation: Simulation, file: Path) -> None:
    """Plot the layout of the pads to a file."""
    from tactile_sim.analysis import style
    from tactile_sim.analysis.pad_layout import pad_layout
    from tactile_sim.bag.atomic_write import fresh

    with style.figure_style(), fresh(file) as made:
        pad_layout(simulation.skin).savefig(made, format=file.suffix[1:].lower())

"""``tactile_sim presets``: the sensors that ``skin.pads.NAME.preset`` can name."""

from __future__ import annotations

import argparse

from rich import box
from rich.table import Table
from rich.text import Text

from tactile_sim import presets
from tactile_sim.commands import new_parser
from tactile_sim.commands.console import Output


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand ``presets`` and its arguments."""
    parser = new_parser(subparsers, "presets", "list the real sensors that pads can model", "Needs no ROS.")
    parser.add_argument(
        "preset", metavar="PRESET", nargs="?", help="show all figures of one, with their sources"
    )


def main(args: argparse.Namespace) -> int:
    """Print a table of all presets, or the properties of one preset, and return 0."""
    Output().print(_figures(args.preset) if args.preset else _overview())
    return 0


def _overview() -> Table:
    table = _table(("preset", "sensor", "layout", "range", "rate"))
    for name in presets.names():
        preset = presets.load(name)
        figures = [preset.figures.get(key) for key in ("layout", "range", "rate")]
        cells = [_marked(figure) if figure else "" for figure in figures]
        table.add_row(*map(Text, (name, preset.title, *cells)))
    table.caption = Text("(e): estimated")
    return table


def _figures(name: str) -> Table:
    table = _table(("figure", "value", "grade", "source"))
    for key, figure in presets.load(name).figures.items():
        table.add_row(*map(Text, (key, figure.value, figure.grade, figure.source)))
    return table


def _marked(figure: presets.Figure) -> str:
    return f"{figure.value} (e)" if figure.grade == "estimated" else figure.value


def _table(columns: tuple[str, ...]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table

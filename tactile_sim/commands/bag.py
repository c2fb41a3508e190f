"""``tactile_sim bag info|repair|export BAG``: what is in a bag, and how to get it out."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from tactile_sim.commands import counted, new_parser
from tactile_sim.errors import BagError


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand and its own subcommands."""
    parser = new_parser(subparsers, "bag", "look into, repair or export a bag (rosbag2, MCAP)")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", title="actions")
    info = new_parser(actions, "info", "list the topics of a bag")
    repair = new_parser(
        actions,
        "repair",
        "mend a bag whose recorder was killed",
        "The damaged file is kept beside the new one, as NAME.mcap.damaged.",
    )
    export = new_parser(
        actions,
        "export",
        "write a bag's messages as numpy arrays (.npz)",
        "numpy.load(OUT)['/tactile/frame/data']; the entry 'units' is JSON.",
    )
    for action in (info, repair, export):
        action.add_argument("bag", metavar="BAG", type=Path, help="a bag's folder or .mcap file")
    export.add_argument("topics", nargs="*", metavar="TOPIC", help="topics; all by default")
    export.add_argument(
        "-o", "--out", type=Path, metavar="OUT.npz", help="the file to write; BAG.npz by default"
    )


def main(args: argparse.Namespace) -> int:
    """Do it; returns 0."""
    return {"info": _info, "repair": _repair, "export": _export}[args.action](args)


def _info(args: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.table import Table

    from tactile_sim.bag.contents import contents

    found = contents(args.bag)
    table = Table(title=str(args.bag), title_justify="left")
    for title in ("topic", "type"):
        table.add_column(title, overflow="fold")
    for title in ("messages", "Hz", "MB"):
        table.add_column(title, justify="right")
    for name, topic in sorted(found.topics.items()):
        rate = f"{topic.rate:.1f}" if topic.rate else ""
        table.add_row(name, topic.type_name, f"{topic.count}", rate, f"{topic.size / 1e6:.2f}")
    console = Console(width=None if sys.stdout.isatty() else 160)  # in a pipe a row stays one line
    console.print(table)
    seconds, start = (found.stop - found.start) / 1e9, found.start / 1e9
    console.print(
        f"{counted(found.count, 'message')}, {seconds:.3f} s from {start:.3f} s on, "
        f"{found.file_size / 1e6:.2f} MB"
    )
    if found.damage:
        console.print(f"damaged: {found.damage}; tactile_sim bag repair {args.bag} mends it", style="red")
    return 0


def _repair(args: argparse.Namespace) -> int:
    from tactile_sim.bag.repair import repair

    done = repair(args.bag)
    if done.damage is None:
        print(f"{args.bag}: nothing to repair, {counted(done.messages, 'message')}")
    else:
        print(f"{done.file}: {done.damage}")
        print(
            f"saved {counted(done.messages, 'message')}, dropped {counted(done.lost_bytes, 'byte')}; "
            f"kept {done.file.name}.damaged"
        )
    return 0


def _export(args: argparse.Namespace) -> int:
    from tactile_sim.bag import read
    from tactile_sim.bag.export import export

    out = args.out or args.bag.with_name(args.bag.resolve().name.removesuffix(".mcap") + ".npz")
    if out.exists():
        raise BagError(f"{out} is already there: name another file with --out, or remove it")
    with warnings.catch_warnings(action="ignore"):  # the damage is told below
        bag = read(args.bag, args.topics or None)
    number = export(bag, out)
    print(f"{out}: {counted(number, 'array')} of {counted(len(bag), 'topic')}")
    if bag.damage:
        print(f"damaged: {bag.damage}; what lies before is exported")
    return 0

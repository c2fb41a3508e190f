"""``tactile_sim bag info|repair|export BAG``: inspect, repair or export a bag."""

from __future__ import annotations

import argparse
import textwrap
from itertools import groupby
from pathlib import Path

from tactile_sim.commands import new_console, new_parser
from tactile_sim.common import signals
from tactile_sim.common.errors import CommandError
from tactile_sim.common.text import counted


def add_bag(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``bag``."""
    parser = new_parser(subparsers, None, "bag", "inspect, repair or export a bag (rosbag2, MCAP)")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", title="actions")
    info = new_parser(actions, _info, "info", "list the topics of a bag")
    repair = new_parser(
        actions,
        _repair,
        "repair",
        "repair a bag that is damaged or whose recorder was killed",
        "The damaged file is kept next to the new one as NAME.mcap.damaged.",
    )
    export = new_parser(
        actions,
        _export,
        "export",
        "write a bag's messages as numpy arrays (.npz), Parquet files or a dataset of LeRobot",
        "npz: one file; numpy.load(OUT)['/tactile/frame/data'], the entry 'units' is JSON.\n"
        "parquet: a folder with one file per topic; units are in the metadata of the columns.\n"
        "lerobot: a dataset of LeRobot v3.0 with one episode per bag.",
    )
    for action in (info, repair, export):
        action.add_argument("bag", metavar="BAG", type=Path, help="a bag's folder or .mcap file")
    export.intermixed = True
    export.add_argument("topics", nargs="*", default=[], metavar="TOPIC", help="topics; all by default")
    export.add_argument(
        "--format", choices=("npz", "parquet", "lerobot"), default="npz", help="npz by default"
    )
    export.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="OUT",
        help="output path; BAG.npz, BAG_parquet or BAG_lerobot by default",
    )
    export.add_argument(
        "--more", type=Path, nargs="+", default=[], metavar="BAG", help="lerobot: bags of further episodes"
    )
    export.add_argument(
        "--rate", type=int, metavar="HZ", help="lerobot: rows per second; tactile messages by default"
    )
    export.add_argument("--task", default="", metavar="TEXT", help="lerobot: what the robot does")
    export.add_argument("--force", action="store_true", help="replace an existing output")


def _info(args: argparse.Namespace) -> int:
    from rich.table import Table

    from tactile_sim.bag.reader import contents
    from tactile_sim.common.text import progress
    from tactile_sim.figures.messages import robots

    with progress("reading") as update:
        found = contents(args.bag, update)
    table = Table(title=str(args.bag), title_justify="left")
    for title in ("topic", "type"):
        table.add_column(title, overflow="fold")
    for title in ("messages", "Hz", "MB unpacked"):
        table.add_column(title, justify="right")
    for _, names in groupby(sorted(found.topics, key=lambda name: (_pad(name), name)), _pad):
        for name in names:
            topic = found.topics[name]
            rate = f"{topic.rate:.1f}" if topic.rate else ""
            table.add_row(name, topic.type_name, f"{topic.count}", rate, f"{topic.size / 1e6:.2f}")
        table.add_section()
    console = new_console(markup=False)
    console.print(table)
    for robot in robots({name: topic.type_name for name, topic in found.topics.items()}).values():
        skins = {name: count for name, count in found.skins.items() if name in robot.layouts}
        where = f"{robot.namespace}: " if robot.namespace else ""
        if skins or robot.arrays or not robot.feelers:
            console.print(_wrapped(f"{where}{_skin(skins)}", console.width), soft_wrap=True)
        own = f"{robot.namespace}/tactile/"
        feelers = {name: count for name, count in found.feelers.items() if name.startswith(own)}
        if feelers:
            console.print(_wrapped(f"{where}{_per_body('feeler', feelers)}", console.width), soft_wrap=True)
    for name, view in found.views.items():
        at, to = (", ".join(f"{value:.3g}" for value in point) for point in (view.position, view.look_at))
        end = f"up to {view.scale_end:g}" if view.scale_end else "automatic"
        kind = "logarithmic" if view.logarithmic else "linear"
        text = f"{name}: camera at ({at}) m, looking at ({to}) m; {kind} color scale, {end}"
        console.print(_wrapped(text, console.width), soft_wrap=True)
    seconds, start = (found.stop - found.start) / 1e9, found.start / 1e9
    console.print(
        f"{counted(found.count, 'message')}, {seconds:.3f} s from {start:.3f} s on, "
        f"{found.file_size / 1e6:.2f} MB on disk"
    )
    if found.damage:
        console.print(
            f"damaged: {found.damage}; repair it with: tactile_sim bag repair {args.bag}", style="red"
        )
    return 0


def _pad(topic: str) -> str:
    """Return the topic prefix of a pad, such as ``/left/tactile/palm``; empty for topics without a pad."""
    start, found, rest = topic.partition("/tactile/")
    pad, *more = rest.split("/")
    return f"{start}{found}{pad}" if more else ""


def _wrapped(text: str, width: int) -> str:
    """Wrap text to a width. Null characters become spaces at which lines are not broken."""
    lines = textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


def _skin(taxels: dict[str, int]) -> str:
    """Return a summary of the taxels, such as ``3 taxels on 2 pads: palm 1, thumb 2``."""
    if not taxels:
        return "no layout of the taxels"
    return _per_body("taxel", taxels, "pad")


def _per_body(what: str, counts: dict[str, int], on: str = "body") -> str:
    """Format a total count, followed by the count on each body or pad."""
    bodies = {name.rpartition("/tactile/")[2].partition("/")[0]: count for name, count in counts.items()}
    listed = ", ".join(f"{body}\0{count}" for body, count in bodies.items())
    total = counted(sum(bodies.values()), what)
    return f"{total} on {counted(len(bodies), on, 'bodies' if on == 'body' else '')}: {listed}"


def _repair(args: argparse.Namespace) -> int:
    from tactile_sim.bag.mcap_file import repair
    from tactile_sim.common.text import progress

    with progress("reading") as update, signals.raising():
        done = repair(args.bag, update)
    if done.damage is None:
        rewritten = not done.described or done.misplaced
        print(
            f"{args.bag}: {'rewrote the metadata' if rewritten else 'nothing to repair'}, "
            f"{counted(done.messages, 'message')}"
        )
    else:
        print(f"{done.file}: {done.damage}")
        print(
            f"saved {counted(done.messages, 'message')}, dropped {counted(done.lost_bytes, 'byte')}; "
            f"kept {done.kept.name if done.kept else 'nothing'}"
        )
    return 0


def _export(args: argparse.Namespace) -> int:
    from tactile_sim.bag.atomic_write import beside, refuse_bag, refuse_existing

    write, end = _FORMATS[args.format]
    if args.format != "lerobot" and (args.more or args.rate is not None or args.task):
        raise CommandError("--more, --rate and --task: require --format lerobot")
    out = args.out or beside(args.bag, end)
    refuse_existing(out, args.force)
    for bag in (args.bag, *args.more):
        refuse_bag(out, bag)
    with signals.raising():
        damage = write(args, out)
    if damage:
        print(f"damaged: {damage}; the rest was exported")
    return 0


def _export_npz(args: argparse.Namespace, out: Path) -> str | None:
    from tactile_sim.bag.export import export
    from tactile_sim.common.text import progress

    with progress("exporting") as update:
        done = export(args.bag, out, args.topics or None, update)
    print(f"{out}: {counted(done.arrays, 'array')} of {counted(done.topics, 'topic')}")
    return done.damage


def _export_parquet(args: argparse.Namespace, out: Path) -> str | None:
    from tactile_sim.bag.export import export_parquet, require_pyarrow
    from tactile_sim.common.text import progress

    require_pyarrow()
    with progress("exporting") as update:
        files, damage = export_parquet(args.bag, out, args.topics or None, update)
    print(f"{out}: {counted(len(files), 'file')}, one per topic")
    return damage


def _export_lerobot(args: argparse.Namespace, out: Path) -> str | None:
    from tactile_sim.bag.export import require_pyarrow
    from tactile_sim.common.text import progress
    from tactile_sim.learning.from_bags import export_bags

    if args.rate is not None and not 1 <= args.rate <= _MOST_RATE:
        raise CommandError(
            f"--rate: must be from 1 to {_MOST_RATE} Hz, got {args.rate}; leave it out for the "
            "rate of the tactile messages"
        )
    require_pyarrow()
    bags = [args.bag, *args.more]
    with progress("exporting") as update:
        info, damage = export_bags(bags, out, args.topics or None, args.rate or 0, args.task, update)
    columns = counted(len(info["fields"]), "column")
    print(f"{out}: {counted(len(bags), 'episode')} at {info['rate']} Hz, {columns}")
    return damage


_MOST_RATE = 1_000_000
"""Maximum number of rows per second."""
_FORMATS = {
    "npz": (_export_npz, ".npz"),
    "parquet": (_export_parquet, "_parquet"),
    "lerobot": (_export_lerobot, "_lerobot"),
}
"""For each export format, the function that writes the output, and the ending of its default path."""

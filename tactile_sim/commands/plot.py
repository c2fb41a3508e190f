"""``tactile_sim plot BAG``: plot the tactile data of a bag as figures or as a video."""

from __future__ import annotations

import argparse
import fnmatch
import math
import os
import sys
from ctypes.util import find_library
from pathlib import Path
from typing import TYPE_CHECKING

from tactile_sim.commands import between, new_parser, seconds
from tactile_sim.common import signals
from tactile_sim.common.errors import BagError
from tactile_sim.common.processes import require_mujoco
from tactile_sim.common.text import counted

if TYPE_CHECKING:
    from tactile_sim.figures.messages import Robot, Span
    from tactile_sim.figures.recording import Recording

FIGURES = ("forces", "raster", "peak", "map", "contacts")
DETAILS = """\
figures:
  forces    net force on each body over time, and covered share of its feelers
  raster    reading of each taxel and each feeler over time
  peak      the skin at the time of the largest total reading
  map       the whole skin at that time, with its pads arranged as on the robot
  contacts  contact force between each pair of bodies over time

  tactile_sim plot touch forces raster --body 'left_*' --from 1 --to 2.5
  tactile_sim plot touch peak --format pdf --size 90x60mm
  tactile_sim plot touch --video touch.mp4
  tactile_sim plot touch --html touch.html
  tactile_sim plot touch --frames images
"""


def add_plot(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``plot``."""
    parser = new_parser(subparsers, _plot, "plot", "plot the tactile data of a bag", DETAILS)
    parser.intermixed = True
    parser.add_argument("bag", metavar="BAG", type=Path, help="a bag's folder or .mcap file")
    parser.add_argument(
        "figures", nargs="*", default=[], metavar="FIGURE", help=", ".join(FIGURES) + "; all by default"
    )
    parser.add_argument(
        "-o", "--out", type=Path, metavar="FOLDER", help="output folder; BAG_plots by default"
    )
    parser.add_argument("--format", choices=("png", "pdf", "svg"), default="png", help="png by default")
    parser.add_argument(
        "--style", choices=("light", "dark"), default="light", help="colors of figures; light by default"
    )
    parser.add_argument(
        "--dpi",
        type=between(20.0, 1200.0),
        default=130.0,
        metavar="N",
        help="pixels per inch of PNG files; 130 by default",
    )
    parser.add_argument(
        "--size", type=_size, metavar="WxH", help="size of each figure in inches, such as 7x4, or 180x100mm"
    )
    parser.add_argument(
        "--body",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only these bodies or pads: a name or shell pattern; may be repeated",
    )
    parser.add_argument(
        "--from",
        dest="start",
        type=seconds,
        default=-math.inf,
        metavar="S",
        help="begin at this simulation time [s]",
    )
    parser.add_argument(
        "--to",
        dest="stop",
        type=seconds,
        default=math.inf,
        metavar="S",
        help="end at this simulation time [s]",
    )
    parser.add_argument(
        "--namespace", metavar="NS", help="robot, if the bag has several: left for /left/tactile/frame"
    )
    parser.add_argument(
        "--video",
        type=Path,
        metavar="OUT.mp4",
        help="write a video of scene and skin; figures are then only drawn if named",
    )
    parser.add_argument(
        "--html",
        type=Path,
        metavar="OUT.html",
        help="write a page that replays the bag in 3D without network; figures are then only drawn if named",
    )
    parser.add_argument(
        "--frames",
        type=Path,
        metavar="DIR",
        help="write tactile images as DIR/BODY/0000000.png, ...; figures are then only drawn if named",
    )
    parser.add_argument(
        "--fps",
        type=between(1.0, 240.0),
        default=30.0,
        metavar="HZ",
        help="images per second of videos; 30 by default",
    )
    parser.add_argument(
        "--progress", action="store_true", help="report the progress in lines if there is no terminal"
    )
    parser.add_argument("--force", action="store_true", help="replace existing files")


def _plot(args: argparse.Namespace) -> int:
    """Write the requested figures, tactile images, replay page and video, and return 0."""
    if (
        args.video
        and not {"MUJOCO_GL", "DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()
        and find_library("EGL")
    ):
        os.environ["MUJOCO_GL"] = "egl"  # read by MuJoCo on import
        require_mujoco()
    from tactile_sim.bag.atomic_write import refuse_bag, refuse_existing
    from tactile_sim.bag.reader import contents
    from tactile_sim.common.text import progress, use_lines
    from tactile_sim.figures.messages import Span, choose
    from tactile_sim.figures.video import require_video

    if args.progress:
        use_lines()
    unknown = [name for name in args.figures if name not in FIGURES]
    if unknown:
        raise BagError(f"unknown figure {unknown[0]!r}; must be one of: {', '.join(FIGURES)}")
    if not args.start < args.stop:
        raise BagError(f"--from: must be less than --to {args.stop:g}, got {args.start:g}")
    if args.video:
        require_video(args.video)
        refuse_existing(args.video, args.force)
    if args.html:
        if args.html.suffix.lower() not in (".html", ".htm") or args.html.is_dir():
            raise BagError(f"--html: must be a file whose name ends in .html, got {args.html}")
        refuse_existing(args.html, args.force)
    for out in filter(None, (args.video, args.html)):
        refuse_bag(out, args.bag)
    with progress("reading") as update:
        found = contents(args.bag, update)
    robot = choose(args.bag, {name: topic.type_name for name, topic in found.topics.items()}, args.namespace)
    span = Span(args.start, args.stop)
    with signals.raising():
        if args.figures or not (args.video or args.frames or args.html):
            _draw(args, robot, span)
        if args.frames:
            _write_frames(args, robot, span)
        if args.html:
            _write_replay(args, robot)
        if args.video:
            _render(args, robot, span)
    if found.damage:
        print(f"damaged: {found.damage}; the rest was drawn", file=sys.stderr)
    return 0


def _draw(args: argparse.Namespace, robot: Robot, span: Span) -> None:
    from tactile_sim.bag.atomic_write import beside, fresh, fresh_folder, refuse_existing
    from tactile_sim.common.text import progress
    from tactile_sim.figures import style
    from tactile_sim.figures.colors import THEMES
    from tactile_sim.figures.plots import FIGURES as DRAW
    from tactile_sim.figures.plots import MissingTopics
    from tactile_sim.figures.recording import Recording

    folder = args.out or beside(args.bag, "_plots")
    files = {name: folder / f"{name}.{args.format}" for name in args.figures or FIGURES}
    for file in files.values():
        refuse_existing(file, args.force)
    with progress("reading") as update:
        recording = Recording(args.bag, robot, span, update)
    bodies = recording.bodies(args.body)
    with fresh_folder(folder), progress("drawing") as update, style.figure_style(THEMES[args.style]):
        for number, (name, file) in enumerate(files.items()):
            update(number, len(files))
            try:
                figure = DRAW[name](recording, bodies)
            except MissingTopics as error:
                if args.figures:
                    raise BagError(f"{args.bag}: no {name}: {error}") from None
                print(f"skipped {name}: {error}", file=sys.stderr)
                continue
            with fresh(file) as path:
                if args.size:
                    figure.set_size_inches(args.size)
                figure.savefig(path, format=args.format, dpi=args.dpi, metadata=_metadata(args.format))
            print(file)
    _report_left_out(recording)


def _render(args: argparse.Namespace, robot: Robot, span: Span) -> None:
    from tactile_sim.bag.atomic_write import fresh
    from tactile_sim.common.text import progress
    from tactile_sim.figures.recording import Recording
    from tactile_sim.figures.video import HEIGHT, WIDTH, Video, video

    with progress("reading") as update:
        recording = Recording(args.bag, robot, span, update)
    movie = Video(recording, recording.bodies(args.body), args.fps)
    with (
        progress("rendering") as update,
        fresh(args.video) as path,
        video(path, args.fps, WIDTH, HEIGHT) as encode,
    ):
        for number, image in enumerate(movie.images(), start=1):
            encode(image)
            update(number, len(movie.stamps))
    print(f"{args.video}: {counted(len(movie.stamps), 'image')}, {len(movie.stamps) / args.fps:.2f} s")
    _report_left_out(recording)


def _write_replay(args: argparse.Namespace, robot: Robot) -> None:
    from tactile_sim.bag.atomic_write import fresh, fresh_folder
    from tactile_sim.common.text import progress
    from tactile_sim.view.replay import write_bag_replay

    with fresh_folder(args.html.parent), progress("recording") as update, fresh(args.html) as path:
        summary = write_bag_replay(
            args.bag, path, robot.namespace, args.start, args.stop, args.fps, args.body, update
        )
    for note in summary.notes:
        print(note, file=sys.stderr)
    megabytes = args.html.stat().st_size / 1e6
    print(f"{args.html}: {counted(summary.frames, 'frame')}, {summary.duration:.2f} s, {megabytes:.1f} MB")


def _write_frames(args: argparse.Namespace, robot: Robot, span: Span) -> None:
    from tactile_sim.common.errors import suggest
    from tactile_sim.common.text import progress
    from tactile_sim.figures.video import body_of, write_frames

    bodies = sorted(map(body_of, robot.images))
    for pattern in args.body:
        if not fnmatch.filter(bodies, pattern):
            raise BagError(f"{args.bag}: no tactile image matches {pattern!r}{suggest(pattern, bodies)}")
    topics = [
        topic
        for topic in sorted(robot.images)
        if not args.body or any(fnmatch.fnmatchcase(body_of(topic), pattern) for pattern in args.body)
    ]
    with progress("reading") as update:
        counts = write_frames(args.bag, topics, span, args.frames, args.force, update)
    for folder, count in counts.items():
        print(f"{folder}: {counted(count, 'image')}")


def _report_left_out(recording: Recording) -> None:
    for left_out, why in (
        (recording.touch.left_out, "with another layout of the skin than the first"),
        (recording.feelers.left_out, "with another layout of the feelers than the first"),
        (recording.covers.unknown, "of feelers before their layout (tactile/BODY/feelers_layout)"),
    ):
        if left_out:
            print(f"skipped {counted(left_out, 'snapshot')} {why}", file=sys.stderr)


def _metadata(form: str) -> dict[str, None]:
    """Return the metadata with which a figure is saved, so that every run writes the same file."""
    return {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form, {})


def _size(text: str) -> tuple[float, float]:
    """Parse a figure size and return it in inches."""
    unit = 25.4 if text.endswith("mm") else 1.0
    try:
        width, height = (float(part) / unit for part in text.removesuffix("mm").removesuffix("in").split("x"))
    except ValueError:
        width = height = math.nan
    if not (2.0 <= width <= 50.0 and 2.0 <= height <= 50.0):
        raise argparse.ArgumentTypeError(f"must be WxH from 2 to 50 inches or with mm, got {text!r}")
    return width, height

"""``tactile_sim plot BAG``: figures and a video of what was felt."""

from __future__ import annotations

import argparse
import math
import os
import sys
from ctypes.util import find_library
from pathlib import Path
from typing import TYPE_CHECKING

from tactile_sim import signals
from tactile_sim.commands import new_parser, require_mujoco
from tactile_sim.errors import BagError
from tactile_sim.text import counted

if TYPE_CHECKING:
    from tactile_sim.analysis.recording import Recording
    from tactile_sim.analysis.robots import Robot
    from tactile_sim.analysis.span import Span

FIGURES = ("forces", "raster", "peak", "contacts")
DETAILS = """\
figures:
  forces    the net force on each body over time, and how far its feelers are covered
  raster    what each taxel and each feeler feels over time
  peak      the skin at the instant at which it feels the most
  contacts  which bodies touch when, and how strongly

  tactile_sim plot touch forces raster --body 'left_*' --from 1 --to 2.5
  tactile_sim plot touch --video touch.mp4
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand."""
    parser = new_parser(subparsers, "plot", "draw what was felt, from a bag", DETAILS)
    parser.intermixed = True
    parser.add_argument("bag", metavar="BAG", type=Path, help="a bag's folder or .mcap file")
    parser.add_argument(
        "figures", nargs="*", metavar="FIGURE", help="forces, raster, peak, contacts; all by default"
    )
    parser.add_argument("-o", "--out", type=Path, metavar="FOLDER", help="where to; BAG_plots by default")
    parser.add_argument("--format", choices=("png", "svg"), default="png", help="png by default")
    parser.add_argument(
        "--body",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only these bodies: a name or shell pattern; may be repeated",
    )
    parser.add_argument(
        "--from",
        dest="start",
        type=_time,
        default=-math.inf,
        metavar="S",
        help="begin at this simulation time [s]",
    )
    parser.add_argument(
        "--to", dest="stop", type=_time, default=math.inf, metavar="S", help="end at this simulation time [s]"
    )
    parser.add_argument(
        "--namespace", metavar="NS", help="the robot, where the bag has several: left for /left/tactile/frame"
    )
    parser.add_argument(
        "--video",
        type=Path,
        metavar="OUT.mp4",
        help="write a video of scene and skin; figures then only if named",
    )
    parser.add_argument(
        "--fps", type=_rate, default=30.0, metavar="HZ", help="pictures a second of the video; 30 by default"
    )
    parser.add_argument("--force", action="store_true", help="replace what is there")


def main(args: argparse.Namespace) -> int:
    """Draw; returns 0."""
    if (
        args.video
        and not {"MUJOCO_GL", "DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()
        and find_library("EGL")
    ):
        os.environ["MUJOCO_GL"] = "egl"  # MuJoCo looks at it as it is imported
        require_mujoco()
    from tactile_sim.analysis.encode import require_video
    from tactile_sim.analysis.robots import choose
    from tactile_sim.analysis.span import Span
    from tactile_sim.bag.atomic_write import refuse_existing
    from tactile_sim.bag.contents import contents
    from tactile_sim.progress import progress

    unknown = [name for name in args.figures if name not in FIGURES]
    if unknown:
        raise BagError(f"there is no figure {unknown[0]!r}; there are: {', '.join(FIGURES)}")
    if not args.start < args.stop:
        raise BagError(f"--from {args.start:g} is not before --to {args.stop:g}")
    if args.video:
        require_video(args.video)
        refuse_existing(args.video, args.force)
    with progress("looking through") as told:
        found = contents(args.bag, told)
    robot = choose(args.bag, {name: topic.type_name for name, topic in found.topics.items()}, args.namespace)
    span = Span(args.start, args.stop)
    with signals.raising():
        if args.figures or not args.video:
            _draw(args, robot, span)
        if args.video:
            _film(args, robot, span)
    if found.damage:
        print(f"damaged: {found.damage}; all else is drawn", file=sys.stderr)
    return 0


def _draw(args: argparse.Namespace, robot: Robot, span: Span) -> None:
    from tactile_sim.analysis import style
    from tactile_sim.analysis.figures import FIGURES as DRAW
    from tactile_sim.analysis.figures import MissingTopics
    from tactile_sim.analysis.recording import Recording
    from tactile_sim.bag.atomic_write import beside, fresh, fresh_folder, refuse_existing
    from tactile_sim.progress import progress

    folder = args.out or beside(args.bag, "_plots")
    files = {name: folder / f"{name}.{args.format}" for name in args.figures or FIGURES}
    for file in files.values():
        refuse_existing(file, args.force)
    with progress("reading") as told:
        recording = Recording(args.bag, robot, span, told)
    bodies = recording.bodies(args.body)
    with fresh_folder(folder), progress("drawing") as told, style.figure_style():
        for number, (name, file) in enumerate(files.items()):
            told(number, len(files))
            try:
                figure = DRAW[name](recording, bodies)
            except MissingTopics as error:
                if args.figures:
                    raise BagError(f"{args.bag}: no {name}: {error}") from None
                print(f"left out {name}: {error}", file=sys.stderr)
                continue
            with fresh(file) as path:
                figure.savefig(path, format=args.format, metadata=_metadata(args.format))
            print(file)
    _tell(recording)


def _film(args: argparse.Namespace, robot: Robot, span: Span) -> None:
    from tactile_sim.analysis.encode import video
    from tactile_sim.analysis.recording import Recording
    from tactile_sim.analysis.video import HEIGHT, WIDTH, Video
    from tactile_sim.bag.atomic_write import fresh
    from tactile_sim.progress import progress

    with progress("reading") as told:
        recording = Recording(args.bag, robot, span, told)
    movie = Video(recording, recording.bodies(args.body), args.fps)
    with (
        progress("filming") as told,
        fresh(args.video) as path,
        video(path, args.fps, WIDTH, HEIGHT) as encoder,
    ):
        for number, image in enumerate(movie.images(), start=1):
            encoder.add(image)
            told(number, len(movie.stamps))
    print(f"{args.video}: {counted(len(movie.stamps), 'picture')}, {len(movie.stamps) / args.fps:.2f} s")
    _tell(recording)


def _tell(recording: Recording) -> None:
    for left_out, why in (
        (recording.touch.left_out, "of another layout of the skin than the first"),
        (recording.feelers.left_out, "of another layout of the feelers than the first"),
        (
            recording.covers.unknown,
            "of feelers without a layout (tactile/BODY/feelers_layout) before",
        ),
    ):
        if left_out:
            print(f"left out {counted(left_out, 'instant')} {why}", file=sys.stderr)


def _metadata(form: str) -> dict[str, None]:
    """Nothing that would differ from run to run."""
    return {"Date": None} if form == "svg" else {}


def _time(text: str) -> float:
    """A time [s] from the command line."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"expected a number of seconds, not {text!r}")
    return value


def _rate(text: str) -> float:
    """Pictures a second from the command line."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 1.0 <= value <= 240.0:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 240, not {text!r}")
    return value

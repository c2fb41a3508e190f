"""``tactile_sim run CONFIG``: run the ROS 2 node in this process."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path

from tactile_sim.commands import add_config, new_parser
from tactile_sim.commands.option_types import positive
from tactile_sim.environment import require_ros
from tactile_sim.errors import CommandError
from tactile_sim.signals import StopRequest


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand ``run`` and its arguments."""
    parser = new_parser(
        subparsers,
        "run",
        "run the ROS 2 node",
        "Arguments between --ros-args and -- (or the end) are passed to ROS:\n"
        "  tactile_sim run touch_cube --ros-args -r __ns:=/left -p real_time_factor:=0.5",
    )
    add_config(parser)
    parser.add_argument(
        "--duration",
        type=positive,
        metavar="S",
        help="end after S seconds of simulation time; after a physics fault, end at once with exit code 2",
    )
    parser.add_argument("--record", metavar="BAG", help="record all topics into a new bag (MCAP)")
    parser.add_argument(
        "--web",
        action=argparse.BooleanOptionalAction,
        help="serve a view in the browser at web.host and web.port of the configuration",
    )
    parser.add_argument(
        "--web-allow-other-port",
        action="store_true",
        help="with --web: use the next free port if web.port is in use",
    )
    parser.add_argument(
        "--web-out",
        type=Path,
        metavar="DIR",
        help="with --web: folder for bags, films and replays that users make in the panel; default: the "
        "current folder, or none if web.host serves other machines",
    )
    parser.set_defaults(ros_args=[])


def main(args: argparse.Namespace) -> int:
    """Run the node until a signal arrives or the duration has passed; return the exit code."""
    for option, given in (("--web-out", args.web_out), ("--web-allow-other-port", args.web_allow_other_port)):
        if given and not args.web:
            raise CommandError(f"{option}: requires --web")
    require_ros("tactile_sim run")
    from tactile_sim.ros import node
    from tactile_sim.ros.recorder_process import RecorderProcess

    with StopRequest() as stop, ExitStack() as stack:
        recorder = stack.enter_context(RecorderProcess(args.record)) if args.record else None
        return node.run(
            args.config,
            args.duration,
            args.ros_args,
            stop,
            recorder=recorder,
            web=bool(args.web),
            allow_other_port=args.web_allow_other_port,
            out=args.web_out,
        )

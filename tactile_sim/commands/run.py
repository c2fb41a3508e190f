"""``tactile_sim run CONFIG``: the ROS 2 node, in this process."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tactile_sim.child import Child
from tactile_sim.commands import CONFIG_HELP, new_parser, require_ros, seconds
from tactile_sim.errors import BagError

RECORDED_DEPTH = 500  # messages of a topic that wait for the recorder: all of some seconds
RECORDER_PATIENCE = 60.0  # s until the recorder must be up
MATCHING_PATIENCE = 30.0  # s that it may take to find all topics


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand."""
    parser = new_parser(
        subparsers,
        "run",
        "run the ROS 2 node",
        "What follows --ros-args, up to -- or the end, goes to ROS:\n"
        "  tactile_sim run touch_cube --ros-args -r __ns:=/left -p real_time_factor:=0.5",
    )
    parser.add_argument("config", metavar="CONFIG", help=CONFIG_HELP)
    parser.add_argument(
        "--duration", type=seconds, metavar="S", help="end after S seconds of simulation time"
    )
    parser.add_argument("--record", metavar="BAG", help="record all topics into a new bag (MCAP)")
    parser.add_argument(
        "--web",
        action=argparse.BooleanOptionalAction,
        help="show the node in the browser, at web.host and web.port of the configuration",
    )
    parser.add_argument(
        "--web-allow-other-port",
        action="store_true",
        help="with --web: use the next free port if web.port is in use",
    )
    parser.set_defaults(ros_args=[])


def main(args: argparse.Namespace) -> int:
    """Run the node until it is told to stop or the duration is over."""
    require_ros("tactile_sim run")
    from tactile_sim.ros import node

    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # from here on there is something to end properly
        signal.signal(signal.SIGINT, signal.default_int_handler)
    web = {"web": bool(args.web), "allow_other_port": args.web_allow_other_port}
    if not args.record:
        return node.run(args.config, args.duration, args.ros_args, **web)
    with _recorder(args.record):
        return node.run(
            args.config, args.duration, args.ros_args, RECORDED_DEPTH, **web, recorded=MATCHING_PATIENCE
        )


@contextmanager
def _recorder(bag: str) -> Iterator[None]:
    """A recorder in a process of its own: there before the node's first message, ended after its last."""
    with Child("record", bag) as child:
        if not child.wait_for("recording", RECORDER_PATIENCE):
            said = " ".join(child.last_lines[-1:]).removeprefix("tactile_sim: error: ")
            raise BagError(f"the recorder did not start: {said or 'no answer'}")
        yield
        early = child.returncode is not None
    said = " ".join(child.last_lines[-1:]).removeprefix("tactile_sim: error: ")
    if early:
        raise BagError(f"the recorder ended before the node: {said}")
    print(said, file=sys.stderr)

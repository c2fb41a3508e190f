"""``tactile_sim run|hardware|record``: commands that run a ROS 2 node or a recorder in this process."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path

from tactile_sim.commands import add_config, new_parser, positive
from tactile_sim.common.errors import CommandError
from tactile_sim.common.processes import require_ros
from tactile_sim.common.signals import StopRequest


def add_run(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``run``."""
    parser = new_parser(
        subparsers,
        _run,
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


def _run(args: argparse.Namespace) -> int:
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


HARDWARE_DETAILS = """\
The pads of the configuration keep their names, layouts and topics; `hardware` in it says where their readings
come from. A controller runs unchanged.

  tactile_sim hardware gripper
  tactile_sim hardware gripper --ros-args -p hardware.address:=ws://192.168.0.7:5000
"""


def add_hardware(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``hardware``."""
    parser = new_parser(
        subparsers, _hardware, "hardware", "publish the readings of real sensors", HARDWARE_DETAILS
    )
    add_config(parser)
    parser.set_defaults(ros_args=[])


def _hardware(args: argparse.Namespace) -> int:
    """Run the node until a signal arrives; return the exit code."""
    require_ros("tactile_sim hardware")
    from tactile_sim.ros import hardware

    with StopRequest() as stop:
        return hardware.run(args.config, args.ros_args, stop)


def add_record(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``record``."""
    parser = new_parser(
        subparsers,
        _record,
        "record",
        "record topics into a bag (rosbag2, MCAP)",
        "Stop with Ctrl-C. ros2 bag play, Foxglove and tactile_sim bag can read the bag.",
    )
    parser.add_argument("out", metavar="OUT", type=Path, help="folder to create")
    parser.add_argument(
        "topics", nargs="*", default=[], metavar="TOPIC", help="topics; by default all, including later ones"
    )


def _record(args: argparse.Namespace) -> int:
    """Record until a signal arrives, and return 0."""
    require_ros("tactile_sim record")
    from tactile_sim.ros.record import record  # requires rclpy

    return record(args.out, args.topics)

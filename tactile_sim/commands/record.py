"""``tactile_sim record OUT [TOPIC...]``: record topics into a bag; does not require rosbag2."""

from __future__ import annotations

import argparse
from pathlib import Path

from tactile_sim.commands import new_parser
from tactile_sim.environment import require_ros


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand ``record`` and its arguments."""
    parser = new_parser(
        subparsers,
        "record",
        "record topics into a bag (rosbag2, MCAP)",
        "Stop with Ctrl-C. ros2 bag play, Foxglove and tactile_sim bag can read the bag.",
    )
    parser.add_argument("out", metavar="OUT", type=Path, help="folder to create")
    parser.add_argument(
        "topics", nargs="*", default=[], metavar="TOPIC", help="topics; by default all, including later ones"
    )


def main(args: argparse.Namespace) -> int:
    """Record until a signal arrives, and return 0."""
    require_ros("tactile_sim record")
    from tactile_sim.ros.record import record  # requires rclpy

    return record(args.out, args.topics)

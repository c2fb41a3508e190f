"""``tactile_sim record OUT [TOPIC...]``: messages into a bag, with or without an installed rosbag2."""

from __future__ import annotations

import argparse
from pathlib import Path

from tactile_sim.commands import new_parser
from tactile_sim.environment import require_ros


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand."""
    parser = new_parser(
        subparsers,
        "record",
        "record topics into a bag (rosbag2, MCAP)",
        "Ctrl-C ends it. ros2 bag play, Foxglove and tactile_sim bag read what comes out.",
    )
    parser.add_argument("out", metavar="OUT", type=Path, help="the folder to make")
    parser.add_argument(
        "topics", nargs="*", default=[], metavar="TOPIC", help="topics; all, also later ones, by default"
    )


def main(args: argparse.Namespace) -> int:
    """Record until a signal ends it; return 0."""
    require_ros("tactile_sim record")
    from tactile_sim.ros.record import record  # needs rclpy

    return record(args.out, args.topics)

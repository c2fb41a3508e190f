"""``tactile_sim hardware CONFIG``: publish the readings of real sensors as the simulation does."""

from __future__ import annotations

import argparse

from tactile_sim.commands import add_config, new_parser
from tactile_sim.environment import require_ros
from tactile_sim.signals import StopRequest

DETAILS = """\
The pads of the configuration keep their names, layouts and topics; `hardware` in it says where their readings
come from. A controller runs unchanged.

  tactile_sim hardware gripper
  tactile_sim hardware gripper --ros-args -p hardware.address:=ws://192.168.0.7:5000
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand ``hardware`` and its arguments."""
    parser = new_parser(subparsers, "hardware", "publish the readings of real sensors", DETAILS)
    add_config(parser)
    parser.set_defaults(ros_args=[])


def main(args: argparse.Namespace) -> int:
    """Run the node until a signal arrives; return the exit code."""
    require_ros("tactile_sim hardware")
    from tactile_sim.ros import hardware

    with StopRequest() as stop:
        return hardware.run(args.config, args.ros_args, stop)

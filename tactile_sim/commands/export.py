"""``tactile_sim export CONFIG FOLDER``: write scene and skin for C++ programs and MuJoCo's plugin."""

from __future__ import annotations

import argparse
from pathlib import Path

from tactile_sim.commands import add_config, new_parser
from tactile_sim.errors import CommandError


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand ``export`` and its arguments."""
    parser = new_parser(
        subparsers,
        "export",
        "write the scene and the skin for C++ programs and for MuJoCo's plugin",
        "Writes scene.mjb, skin.layout and skin.xml, without the signal chain; see docs/cpp.md and "
        "docs/mujoco_plugin.md.",
    )
    add_config(parser)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="folder of the files")


def main(args: argparse.Namespace) -> int:
    """Write the files and return 0.

    Raises:
        TactileSimError: The configuration is invalid, or the files cannot be written.
    """
    from tactile_sim import load
    from tactile_sim.simulation.export import SCENE, SENSORS, SKIN, export

    try:
        export(load(args.config), args.folder)
    except OSError as error:
        raise CommandError(f"{args.folder}: cannot be written: {error.strerror}") from None
    print(f"wrote {SCENE}, {SKIN} and {SENSORS} in {args.folder}")
    return 0

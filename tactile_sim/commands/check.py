"""``tactile_sim check CONFIG``: everything that can be checked before anything starts."""

from __future__ import annotations

import argparse

from tactile_sim import config
from tactile_sim.commands import CONFIG_HELP, counted, new_parser, shortened


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand."""
    parser = new_parser(
        subparsers, "check", "check a configuration and its scene", "Exit code 0, or 2 and what is wrong."
    )
    parser.add_argument("config", metavar="CONFIG", help=CONFIG_HELP)


def main(args: argparse.Namespace) -> int:
    """Say in one line that the configuration is fine; raise what is wrong with it."""
    settings = config.load(args.config)
    if settings.bridges:
        from tactile_sim.ros import bridges

        bridges.require(settings)
    from tactile_sim.simulation import Simulation  # its kernels take a second to import: --help does without

    simulation = Simulation(settings)
    skin, model = simulation.skin, simulation.engine.model
    count = len(simulation.feelers.positions)
    feelers = f"{counted(count, 'feeler')}, " if count else ""
    print(
        f"{args.config}: fine. {counted(model.nbody - 1, 'body', 'bodies')}, {len(skin.bodies)} with skin, "
        f"{counted(len(skin.positions), 'taxel')}, {feelers}"
        f"{counted(model.njnt, 'joint')}, "
        f"{counted(model.nu, 'actuator')}, {counted(len(simulation.engine.sensor_ids), 'sensor')}."
    )
    if without := simulation.commander.without_position:
        reasons: dict[str, list[str]] = {}
        for joint, why in without.items():
            reasons.setdefault(why, []).append(joint)
        lines = (f"{shortened(joints)} ({why})" for why, joints in reasons.items())
        print(f"Joints that take no position command: {'; '.join(lines)}. Add control to command them.")
    return 0

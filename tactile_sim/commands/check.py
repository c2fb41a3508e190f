"""``tactile_sim check CONFIG``: check a configuration without running it."""

from __future__ import annotations

import argparse

from tactile_sim.commands import add_config, new_parser
from tactile_sim.errors import TactileSimError
from tactile_sim.text import counted, shortened


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand ``check`` and its arguments."""
    parser = new_parser(
        subparsers, "check", "check a configuration and its scene", "Exits with 2 and a list of all errors."
    )
    add_config(parser)


def main(args: argparse.Namespace) -> int:
    """Print a summary of a valid configuration and return 0.

    Raises:
        TactileSimError: The configuration is invalid.
    """
    from tactile_sim import config
    from tactile_sim.config.review import implausible_values, swapped_quaternions
    from tactile_sim.config.settings import HardwareSettings

    settings = config.load(args.config, scene_errors=True)
    if settings.bridges:
        from tactile_sim.ros import bridges

        bridges.require(settings)
    from tactile_sim.simulation import Simulation  # imported late because it takes a second
    from tactile_sim.skin.warnings import inward_pads, open_meshes

    try:
        simulation = Simulation(settings)
    except TactileSimError as error:
        config.raise_all(settings, error)
    skin, model = simulation.skin, simulation.engine.model
    if settings.hardware != HardwareSettings():
        from tactile_sim.hardware import pad_inputs

        pad_inputs(simulation)
    bodies, count = len({pad.body_id for pad in skin.pads}), len(simulation.feelers.positions)
    feelers = f"{counted(count, 'feeler')}, " if count else ""
    print(
        f"{args.config}: fine. {counted(model.nbody - 1, 'body', 'bodies')}, {bodies} with skin, "
        f"{counted(len(skin.positions), 'taxel')} on {counted(len(skin.pads), 'pad')}, {feelers}"
        f"{counted(model.njnt, 'joint')}, "
        f"{counted(model.nu, 'actuator')}, {counted(len(simulation.engine.sensor_ids), 'sensor')}."
    )
    warnings = [*settings.rates_above(1 / simulation.engine.timestep), *inward_pads(model, skin)]
    warnings += [*swapped_quaternions(settings), *implausible_values(settings)]
    if "elastic_foundation" in simulation.functions.responses:
        warnings += open_meshes(model)
    for line in warnings:
        print(f"warning: {line}")
    for pad in skin.pads:
        area = float(skin.areas[pad.start : pad.stop].sum())
        if pad.is_whole and pad.spacing**2 > area:
            print(
                f"warning: skin.scales: a taxel with a spacing of {pad.spacing:g} m is larger than the"
                f" surface of {pad.name!r}, {area * 1e4:.3g} cm²; spacings are in meters"
            )
    if without := simulation.commander.without_position:
        reasons: dict[str, list[str]] = {}
        for joint, why in without.items():
            reasons.setdefault(why, []).append(joint)
        lines = (f"{shortened(joints)} ({why})" for why, joints in reasons.items())
        print(f"Joints that accept no position commands: {'; '.join(lines)}. Add control to command them.")
    return 0

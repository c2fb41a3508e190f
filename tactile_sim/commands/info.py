"""``tactile_sim info|check|export CONFIG`` and ``tactile_sim presets``: commands about a configuration."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tactile_sim.commands import add_config, new_console, new_parser
from tactile_sim.common.errors import CommandError, TactileSimError
from tactile_sim.common.text import counted, shortened

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tactile_sim.simulation import Simulation
    from tactile_sim.simulation.inventory import Listing

PLOT_FORMATS = (".png", ".svg", ".pdf")

SUMMARY: dict[str, Callable[[Any], str]] = {
    "timestep": lambda seconds: f"{seconds * 1e3:g} ms",
    "moving_mass": lambda mass: f"{mass:.6g} kg",
    "skin_area": lambda area: f"{area * 1e4:.1f} cm²",
}
"""Functions that format values of the summary, keyed by name. Other values are printed unchanged."""
COLUMNS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "ids": ("ids", lambda ids: f"{ids[0]} to {ids[1]}"),
    "spacing": ("spacing [mm]", lambda spacing: f"{spacing * 1e3:.3g}"),
    "length": ("length [mm]", lambda length: f"{length * 1e3:.3g}"),
    "area": ("area [cm²]", lambda area: f"{area * 1e4:.2f}"),
    "rate": ("rate [Hz]", lambda rate: f"{rate:g}"),
    "image": ("image", lambda size: f"{size[0]} x {size[1]}"),
    "mass": ("mass [kg]", lambda mass: f"{mass:.4g}"),
    "range": ("range", lambda limits: f"{limits[0]:.4g} to {limits[1]:.4g}"),
}
"""For each column with numbers, keyed by name: its heading, and a function that formats its values."""


def add_info(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``info``."""
    parser = new_parser(
        subparsers,
        _info,
        "info",
        "list bodies, geoms, taxels, joints, sensors of a scene",
        "Does not need ROS.",
    )
    add_config(parser)
    parser.add_argument("--force", action="store_true", help="replace an existing file of --plot")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--short", action="store_true", help="only the summary and the pads")
    form.add_argument("--json", action="store_true", help="everything as JSON, in SI units")
    parser.add_argument(
        "--plot",
        metavar="FILE",
        type=Path,
        help="also plot the layout of the pads: ids, and first tangents as arrows (.png, .svg, .pdf)",
    )


def _info(args: argparse.Namespace) -> int:
    """Print the tables and return 0."""
    if args.plot and args.plot.suffix.lower() not in PLOT_FORMATS:
        raise CommandError(f"--plot: must end in {', '.join(PLOT_FORMATS)}, got {args.plot.name!r}")
    if args.plot:
        from tactile_sim.bag.atomic_write import refuse_existing

        refuse_existing(args.plot, args.force)
        if not args.plot.absolute().parent.is_dir():
            raise CommandError(f"--plot: cannot write {args.plot}: there is no folder {args.plot.parent}")
    from rich.text import Text

    from tactile_sim import config

    settings = config.load(args.config)
    from tactile_sim.simulation import Simulation, inventory  # imported late because it takes a second

    simulation = Simulation(settings)
    summary, listings = inventory.summary(simulation), inventory.contents(simulation)
    if args.json:
        everything = summary | {listing.key: listing.records() for listing in listings}
        print(json.dumps(_plain(everything), indent=1, allow_nan=False))
    else:
        console = new_console()
        for key, value in summary.items():
            console.print(Text(f"{key.replace('_', ' '):<14} {SUMMARY.get(key, str)(value)}"))
        for listing in listings[: 1 if args.short else None]:
            console.print(_table(listing))
    if args.plot:
        _plot(simulation, args.plot)
        if not args.json:
            print(args.plot)
    return 0


def _plain(value: Any) -> Any:
    """Convert a value for JSON: arrays become lists, and infinite and NaN numbers become null."""
    import numpy as np

    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _table(listing: Listing) -> RenderableType:
    """Format a listing as a table with a title, or as one line if it is empty."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    if not listing.rows:
        return Text(f"\nno {listing.title}")
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    columns = [COLUMNS.get(column, (column.replace("_", " "), _shown)) for column in listing.columns]
    for k, (heading, show) in enumerate(columns):
        numbers = show is not _shown or all(type(row[k]) is int for row in listing.rows)
        table.add_column(Text(heading), justify="right" if numbers else "left", overflow="fold")
    for row in listing.rows:
        cells = zip(columns, row, strict=True)
        table.add_row(*(Text("" if value is None else show(value)) for (_, show), value in cells))
    return Group(Text(f"\n{listing.title}", style="bold"), table)


def _shown(value: Any) -> str:
    """Format a value: join lists with commas, write booleans as yes or no, and other values with ``str``."""
    import numpy as np

    if isinstance(value, list):
        return ", ".join(value)
    return {True: "yes", False: "no"}[bool(value)] if isinstance(value, bool | np.bool_) else str(value)


def _plot(simulation: Simulation, file: Path) -> None:
    """Plot the taxels of all pads and save the figure to a file."""
    from tactile_sim.bag.atomic_write import fresh
    from tactile_sim.figures import style
    from tactile_sim.figures.pad_layout import pad_layout

    with style.figure_style(), fresh(file) as made:
        pad_layout(simulation.skin).savefig(made, format=file.suffix[1:].lower())


def add_check(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``check``."""
    parser = new_parser(
        subparsers,
        _check,
        "check",
        "check a configuration and its scene",
        "Exits with 2 and a list of all errors.",
    )
    add_config(parser)


def _check(args: argparse.Namespace) -> int:
    """Print a summary of a valid configuration and return 0."""
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
        from tactile_sim.ros.pad_input import pad_inputs

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


def add_export(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``export``."""
    parser = new_parser(
        subparsers,
        _export,
        "export",
        "write the scene and the skin for C++ programs and for MuJoCo's plugin",
        "Writes scene.mjb, skin.layout and skin.xml, without the signal chain; see docs/cpp.md and "
        "docs/mujoco_plugin.md.",
    )
    add_config(parser)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="folder of the files")


def _export(args: argparse.Namespace) -> int:
    """Write the files and return 0."""
    from tactile_sim import load
    from tactile_sim.simulation.export import SCENE, SENSORS, SKIN, export

    try:
        export(load(args.config), args.folder)
    except OSError as error:
        raise CommandError(f"{args.folder}: cannot be written: {error.strerror}") from None
    print(f"wrote {SCENE}, {SKIN} and {SENSORS} in {args.folder}")
    return 0


def add_presets(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``presets``."""
    parser = new_parser(
        subparsers, _presets, "presets", "list the real sensors that pads can model", "Needs no ROS."
    )
    parser.add_argument(
        "preset", metavar="PRESET", nargs="?", help="show all figures of one, with their sources"
    )


def _presets(args: argparse.Namespace) -> int:
    """Print a table of all presets, or the properties of one preset, and return 0."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from tactile_sim import presets

    def cell(figure: presets.Figure | None) -> str:
        return (
            f"{figure.value} (e)"
            if figure and figure.grade == "estimated"
            else figure.value
            if figure
            else ""
        )

    keys = ("layout", "range", "rate")
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    if args.preset:
        columns = ("figure", "value", "grade", "source")
        figures = presets.load(args.preset).figures.items()
        rows = [(key, figure.value, figure.grade, figure.source) for key, figure in figures]
    else:
        columns = ("preset", "sensor", *keys)
        found = [(name, presets.load(name)) for name in presets.names()]
        rows = [(name, each.title, *(cell(each.figures.get(key)) for key in keys)) for name, each in found]
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    if not args.preset:
        table.caption = Text("(e): estimated")
    new_console().print(table)
    return 0

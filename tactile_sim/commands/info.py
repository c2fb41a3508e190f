"""``tactile_sim info CONFIG``: print the contents of a configuration's scene as tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tactile_sim import config
from tactile_sim.commands import CONFIG_HELP, new_parser
from tactile_sim.errors import CommandError
from tactile_sim.names import topic_token
from tactile_sim.scenes.drives import FIELDS, read_drives
from tactile_sim.text import counted

if TYPE_CHECKING:
    from tactile_sim.simulation import Simulation
    from tactile_sim.skin import Pad

PLOT_FORMATS = (".png", ".svg", ".pdf")
PLAIN_WIDTH = 160
"""Width of text that is written to a file or pipe [columns]."""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand."""
    parser = new_parser(
        subparsers, "info", "list bodies, geoms, taxels, joints, sensors of a scene", "Does not need ROS."
    )
    parser.add_argument("config", metavar="CONFIG", help=CONFIG_HELP)
    parser.add_argument(
        "--plot",
        metavar="FILE",
        type=Path,
        help="also plot the layout of the pads: ids, and first tangents as arrows (.png, .svg, .pdf)",
    )


def main(args: argparse.Namespace) -> int:
    """Print the tables and return 0."""
    if args.plot and args.plot.suffix.lower() not in PLOT_FORMATS:
        raise CommandError(f"--plot: must end in {', '.join(PLOT_FORMATS)}, got {args.plot.name!r}")
    settings = config.load(args.config)
    from tactile_sim.simulation import Simulation  # imported late because it takes a second

    simulation = Simulation(settings)
    console = Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, highlight=False)
    console.print(_summary(simulation))
    for table in (_skin, _bodies, _geoms, _joints, _actuators, _contact_sensors, _sensors, _feelers):
        console.print(table(simulation))
    if args.plot:
        _plot(simulation, args.plot)
    return 0


def _plot(simulation: Simulation, file: Path) -> None:
    """Write the layout of the pads, in place of a file that exists."""
    from tactile_sim.analysis import style
    from tactile_sim.analysis.pad_layout import pad_layout

    with style.figure_style():
        try:
            pad_layout(simulation.skin).savefig(file)
        except OSError as error:
            raise CommandError(f"--plot: {file}: {error.strerror}") from None
    print(file)


def _summary(simulation: Simulation) -> Text:
    settings, model, skin = simulation.settings, simulation.engine.model, simulation.skin
    lines = (
        f"configuration  {settings.source}",
        f"scene          {settings.title}",
        f"engine         {settings.engine}, timestep {model.opt.timestep * 1e3:g} ms",
        f"moving mass    {model.body_mass[model.body_weldid != 0].sum():.6g} kg",
        f"skin           {counted(len(skin.positions), 'taxel')}, {skin.areas.sum() * 1e4:.1f} cm²",
        f"feelers        {len(simulation.feelers.positions)}",
    )
    return Text("\n".join(lines))


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> RenderableType:
    """Return a table. Columns whose name starts with ``>`` are right-aligned."""
    if not rows:
        return Text(f"\nno {title}")
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        right = column.startswith(">")
        table.add_column(Text(column.lstrip(">")), justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return Group(Text(f"\n{title}", style="bold"), table)


def _flex_of(simulation: Simulation, pad: Pad) -> str:
    """Return the flex that a pad without geoms covers."""
    return f"flex {mujoco.mj_id2name(simulation.engine.model, mujoco.mjtObj.mjOBJ_FLEX, pad.flex)}"


def _skin(simulation: Simulation) -> RenderableType:
    skin, names = simulation.skin, simulation.names
    rates = {"tactile": simulation.settings.rates.tactile} | simulation.pad_rates
    quantities = simulation.functions.quantities
    rows = [
        (
            _with_topic(pad.name),
            names.bodies[pad.body_id],
            str(pad.stop - pad.start),
            f"{skin.ids[pad.start : pad.stop].min()} to {skin.ids[pad.start : pad.stop].max()}",
            f"{pad.spacing * 1e3:.3g}",
            f"{skin.areas[pad.start : pad.stop].sum() * 1e4:.2f}",
            f"{rates[simulation.stream_of(pad.name)]:g}",
            quantity,
            ", ".join(names.geoms[geom] for geom in pad.geom_ids) or _flex_of(simulation, pad),
        )
        for pad, quantity in zip(skin.pads, quantities, strict=True)
    ]
    numbers = (">taxels", ">ids", ">spacing [mm]", ">area [cm²]", ">rate [Hz]")
    return _table("pads", ("pad", "body", *numbers, "quantity", "geoms"), rows)


def _feelers(simulation: Simulation) -> RenderableType:
    feelers, names = simulation.feelers, simulation.names
    rows = [
        (
            _with_topic(body.name),
            str(body.stop - body.start),
            f"{body.placed.spacing * 1e3:.3g}",
            f"{feelers.lengths[body.start : body.stop].max(initial=0.0) * 1e3:g}",
            f"{body.placed.width} x {body.placed.height}",
            ", ".join(names.geoms[part.geom_id] for part in body.placed.parts),
        )
        for body in feelers.bodies
    ]
    columns = ("body", ">feelers", ">spacing [mm]", ">length [mm]", ">image", "geoms")
    return _table("feelers", columns, rows)


def _with_topic(body: str) -> str:
    """Return a body's name, with its topic if that differs: ``left.palm (tactile/left_palm)``."""
    token = topic_token(body)
    return body if token == body else f"{body} (tactile/{token})"


def _bodies(simulation: Simulation) -> RenderableType:
    model, names = simulation.engine.model, simulation.names
    rows = [
        (
            names.bodies[i],
            names.bodies[model.body_parentid[i]],
            f"{model.body_mass[i]:.4g}",
            ", ".join(_kind(mujoco.mjtJoint, kind) for kind in model.jnt_type[model.jnt_bodyid == i]),
        )
        for i in range(1, model.nbody)
    ]
    return _table("bodies", ("body", "parent", ">mass [kg]", "joints"), rows)


def _geoms(simulation: Simulation) -> RenderableType:
    model, names = simulation.engine.model, simulation.names
    collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    rows = [
        (
            names.geoms[i],
            names.bodies[model.geom_bodyid[i]],
            _kind(mujoco.mjtGeom, model.geom_type[i]),
            "yes" if collides[i] else "no",
        )
        for i in range(model.ngeom)
    ]
    return _table("geoms", ("geom", "body", "type", "collides"), rows)


def _joints(simulation: Simulation) -> RenderableType:
    model, names = simulation.engine.model, simulation.names
    metres = model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE
    commander = simulation.commander
    drivers: dict[int, list[str]] = {}
    for drive in read_drives(model):
        drivers.setdefault(drive.joint, []).append(
            f"{FIELDS[drive.field]} by {names.actuators[drive.actuator]}"
        )
    rows = [
        (
            name,
            names.bodies[model.jnt_bodyid[i]],
            _kind(mujoco.mjtJoint, model.jnt_type[i]),
            f"{_range(model.jnt_range[i])} {'m' if metres[i] else 'rad'}" if model.jnt_limited[i] else "",
            f"no: {commander.without_position[name]}"
            if name in commander.without_position
            else "yes"
            if name in commander.joint_names
            else "",
            ", ".join(drivers.get(i, ())),
        )
        for i, name in enumerate(names.joints)
    ]
    return _table("joints", ("joint", "body", "type", "range", "takes a position", "driven"), rows)


def _actuators(simulation: Simulation) -> RenderableType:
    model, names = simulation.engine.model, simulation.names
    rows = [
        (
            names.controls[k],
            _driven(simulation, i),
            _range(model.actuator_ctrlrange[k]) if model.actuator_ctrllimited[k] else "",
        )
        for i, (first, count) in enumerate(zip(model.actuator_ctrladr, model.actuator_ctrlnum, strict=True))
        for k in range(first, first + count)
    ]
    return _table("actuators", ("actuator", "drives", "ctrl range"), rows)


def _driven(simulation: Simulation, actuator: int) -> str:
    model, names = simulation.engine.model, simulation.names
    transmission = mujoco.mjtTrn(model.actuator_trntype[actuator])
    target = model.actuator_trnid[actuator, 0]
    if transmission in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT):
        return f"joint {names.joints[target]}"
    if transmission == mujoco.mjtTrn.mjTRN_BODY:
        return f"body {names.bodies[target]}"
    tendon = transmission == mujoco.mjtTrn.mjTRN_TENDON
    kind = mujoco.mjtObj.mjOBJ_TENDON if tendon else mujoco.mjtObj.mjOBJ_SITE
    return f"{_kind(mujoco.mjtTrn, transmission)} {mujoco.mj_id2name(model, kind, target) or target}"


def _contact_sensors(simulation: Simulation) -> RenderableType:
    engine = simulation.engine
    rows = []
    for name in engine.contact_sensor_names:
        layout, sensor = engine.contact_layout(name), engine.sensor_ids[name]
        first, second = (_object(simulation, sensor, side) for side in ("obj", "ref"))
        rows.append((name, first, second, " ".join(layout.data), str(layout.slots), layout.reduce))
    columns = ("contact sensor", "object 1", "object 2", "data", ">slots", "reduce")
    return _table("contact sensors", columns, rows)


def _object(simulation: Simulation, sensor: int, side: str) -> str:
    """Return an object of a contact sensor: ``geom palm``, ``subtree hand``, ``in site tip`` or ``any``."""
    model, names = simulation.engine.model, simulation.names
    kind = mujoco.mjtObj(getattr(model, f"sensor_{side}type")[sensor])
    thing = int(getattr(model, f"sensor_{side}id")[sensor])
    if kind == mujoco.mjtObj.mjOBJ_GEOM:
        return f"geom {names.geoms[thing]}"
    if kind in (mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_XBODY):
        word = "body" if kind == mujoco.mjtObj.mjOBJ_BODY else "subtree"
        return f"{word} {names.bodies[thing]}"
    if kind == mujoco.mjtObj.mjOBJ_SITE:
        return f"in site {mujoco.mj_id2name(model, kind, thing)}"
    return "any"


def _sensors(simulation: Simulation) -> RenderableType:
    engine = simulation.engine
    model = engine.model
    rows = [
        (name, _kind(mujoco.mjtSensor, model.sensor_type[i]), str(model.sensor_dim[i]))
        for name, i in engine.sensor_ids.items()
        if name not in engine.contact_sensor_names
    ]
    return _table("sensors", ("sensor", "type", ">values"), rows)


def _kind(enum: type, value: int) -> str:
    """Return MuJoCo's name of a type, such as ``box`` for ``mjGEOM_BOX``."""
    return enum(value).name.split("_", 1)[1].lower()


def _range(limits: np.ndarray) -> str:
    return f"{limits[0]:.4g} to {limits[1]:.4g}"

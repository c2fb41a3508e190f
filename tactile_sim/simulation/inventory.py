"""Lists of the contents of a simulated scene: pads, bodies, joints, sensors, ..."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import mujoco
import numpy as np

from tactile_sim.actuators import control_spans
from tactile_sim.names import topic_token
from tactile_sim.scenes.drives import FIELDS, read_drives
from tactile_sim.simulation.simulation import Simulation
from tactile_sim.skin import Pad


class Column(NamedTuple):
    """A column of a table."""

    key: str
    """Key in JSON."""
    heading: str
    show: Callable[[Any], str] = str
    """Returns the text of a value."""
    right: bool = False
    """True if the column is aligned to the right."""


@dataclass
class Listing:
    """A table of one kind of elements of a scene; values are in SI units."""

    key: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]

    @property
    def title(self) -> str:
        """Name of the table, such as ``contact sensors``."""
        return self.key.replace("_", " ")

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as mappings for JSON."""
        keys = [column.key for column in self.columns]
        return [dict(zip(keys, row, strict=True)) for row in self.rows]


SUMMARY: dict[str, tuple[str, Callable[[Any], str]]] = {
    "configuration": ("configuration", str),
    "scene": ("scene", str),
    "engine": ("engine", str),
    "timestep": ("timestep", lambda value: f"{value * 1e3:g} ms"),
    "moving_mass": ("moving mass", lambda value: f"{value:.6g} kg"),
    "taxels": ("taxels", str),
    "skin_area": ("skin area", lambda value: f"{value * 1e4:.1f} cm²"),
    "feelers_total": ("feelers", str),
}
"""Heading and function that returns the text of each value of the summary, by its key in JSON."""


def summary(simulation: Simulation) -> dict[str, Any]:
    """Return the configuration, the engine and the totals of a scene, with the keys of `SUMMARY`."""
    settings, model, skin = simulation.settings, simulation.engine.model, simulation.skin
    return {
        "configuration": str(settings.source),
        "scene": settings.title,
        "engine": settings.engine,
        "timestep": model.opt.timestep,
        "moving_mass": float(model.body_mass[model.body_weldid != 0].sum()),
        "taxels": len(skin.positions),
        "skin_area": float(skin.areas.sum()),
        "feelers_total": len(simulation.feelers.positions),
    }


def _listed(values: Sequence[str]) -> str:
    return ", ".join(values)


def _millimetres(metres: float) -> str:
    return f"{metres * 1e3:.3g}"


def _flex_of(simulation: Simulation, pad: Pad) -> str:
    """Return the flex that a pad without geoms covers."""
    return f"flex {mujoco.mj_id2name(simulation.engine.model, mujoco.mjtObj.mjOBJ_FLEX, pad.flex)}"


def _pads(simulation: Simulation) -> Listing:
    skin, names = simulation.skin, simulation.names
    rates = {"tactile": simulation.settings.rates.tactile} | simulation.pad_rates
    rows = [
        (
            pad.name,
            f"tactile/{topic_token(pad.name)}",
            names.bodies[pad.body_id],
            pad.stop - pad.start,
            [skin.ids[pad.start : pad.stop].min(), skin.ids[pad.start : pad.stop].max()],
            pad.spacing,
            skin.areas[pad.start : pad.stop].sum(),
            rates[simulation.stream_of(pad.name)],
            quantity,
            [names.geoms[geom] for geom in pad.geom_ids] or [_flex_of(simulation, pad)],
        )
        for pad, quantity in zip(skin.pads, simulation.functions.quantities, strict=True)
    ]
    columns = (
        Column("pad", "pad"),
        Column("topic", "topic"),
        Column("body", "body"),
        Column("taxels", "taxels", right=True),
        Column("ids", "ids", lambda ids: f"{ids[0]} to {ids[1]}", right=True),
        Column("spacing", "spacing [mm]", _millimetres, right=True),
        Column("area", "area [cm²]", lambda area: f"{area * 1e4:.2f}", right=True),
        Column("rate", "rate [Hz]", lambda rate: f"{rate:g}", right=True),
        Column("quantity", "quantity"),
        Column("geoms", "geoms", _listed),
    )
    return Listing("pads", columns, rows)


def _feelers(simulation: Simulation) -> Listing:
    feelers, names = simulation.feelers, simulation.names
    rows = [
        (
            body.name,
            f"tactile/{topic_token(body.name)}",
            body.stop - body.start,
            body.placed.spacing,
            feelers.lengths[body.start : body.stop].max(initial=0.0),
            [body.placed.width, body.placed.height],
            [names.geoms[part.geom_id] for part in body.placed.parts],
        )
        for body in feelers.bodies
    ]
    columns = (
        Column("body", "body"),
        Column("topic", "topic"),
        Column("feelers", "feelers", right=True),
        Column("spacing", "spacing [mm]", _millimetres, right=True),
        Column("length", "length [mm]", _millimetres, right=True),
        Column("image", "image", lambda size: f"{size[0]} x {size[1]}", right=True),
        Column("geoms", "geoms", _listed),
    )
    return Listing("feelers", columns, rows)


def _bodies(simulation: Simulation) -> Listing:
    model, names = simulation.engine.model, simulation.names
    rows = [
        (
            names.bodies[i],
            names.bodies[model.body_parentid[i]],
            model.body_mass[i],
            [_kind(mujoco.mjtJoint, kind) for kind in model.jnt_type[model.jnt_bodyid == i]],
        )
        for i in range(1, model.nbody)
    ]
    columns = (
        Column("body", "body"),
        Column("parent", "parent"),
        Column("mass", "mass [kg]", lambda mass: f"{mass:.4g}", right=True),
        Column("joints", "joints", _listed),
    )
    return Listing("bodies", columns, rows)


def _geoms(simulation: Simulation) -> Listing:
    model, names = simulation.engine.model, simulation.names
    collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    rows = [
        (
            names.geoms[i],
            names.bodies[model.geom_bodyid[i]],
            _kind(mujoco.mjtGeom, model.geom_type[i]),
            collides[i],
        )
        for i in range(model.ngeom)
    ]
    columns = (
        Column("geom", "geom"),
        Column("body", "body"),
        Column("type", "type"),
        Column("collides", "collides", lambda collides: "yes" if collides else "no"),
    )
    return Listing("geoms", columns, rows)


def _joints(simulation: Simulation) -> Listing:
    model, names = simulation.engine.model, simulation.names
    units = {int(mujoco.mjtJoint.mjJNT_SLIDE): "m", int(mujoco.mjtJoint.mjJNT_HINGE): "rad"}
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
            model.jnt_range[i] if model.jnt_limited[i] else None,
            units.get(int(model.jnt_type[i])),
            f"no: {commander.without_position[name]}"
            if name in commander.without_position
            else "yes"
            if name in commander.joint_names
            else None,
            drivers.get(i, []),
        )
        for i, name in enumerate(names.joints)
    ]
    columns = (
        Column("joint", "joint"),
        Column("body", "body"),
        Column("type", "type"),
        Column("range", "range", _range),
        Column("unit", "unit"),
        Column("takes_position", "takes a position"),
        Column("driven", "driven", _listed),
    )
    return Listing("joints", columns, rows)


def _actuators(simulation: Simulation) -> Listing:
    model, names = simulation.engine.model, simulation.names
    rows = [
        (
            names.controls[k],
            _target(simulation, i),
            model.actuator_ctrlrange[k] if model.actuator_ctrllimited[k] else None,
        )
        for i, (first, count) in enumerate(control_spans(model))
        for k in range(first, first + count)
    ]
    columns = (
        Column("actuator", "actuator"),
        Column("drives", "drives"),
        Column("range", "ctrl range", _range),
    )
    return Listing("actuators", columns, rows)


def _target(simulation: Simulation, actuator: int) -> str:
    """Return what an actuator drives: ``joint elbow``, ``body cube``, ``tendon split`` or ``site tip``."""
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


def _contact_sensors(simulation: Simulation) -> Listing:
    engine = simulation.engine
    rows = []
    for name in engine.contact_sensor_names:
        layout, sensor = engine.contact_layout(name), engine.sensor_ids[name]
        first, second = (_object(simulation, sensor, side) for side in ("obj", "ref"))
        rows.append((name, first, second, list(layout.data), layout.slots, layout.reduce))
    columns = (
        Column("sensor", "contact sensor"),
        Column("object1", "object 1"),
        Column("object2", "object 2"),
        Column("data", "data", " ".join),
        Column("slots", "slots", right=True),
        Column("reduce", "reduce"),
    )
    return Listing("contact_sensors", columns, rows)


def _object(simulation: Simulation, sensor: int, side: str) -> str:
    """Return an object of a contact sensor: ``geom palm``, ``subtree hand``, ``in site tip`` or ``any``."""
    model, names = simulation.engine.model, simulation.names
    kind = mujoco.mjtObj(getattr(model, f"sensor_{side}type")[sensor])
    index = int(getattr(model, f"sensor_{side}id")[sensor])
    if kind == mujoco.mjtObj.mjOBJ_GEOM:
        return f"geom {names.geoms[index]}"
    if kind in (mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_XBODY):
        word = "body" if kind == mujoco.mjtObj.mjOBJ_BODY else "subtree"
        return f"{word} {names.bodies[index]}"
    if kind == mujoco.mjtObj.mjOBJ_SITE:
        return f"in site {mujoco.mj_id2name(model, kind, index)}"
    return "any"


def _sensors(simulation: Simulation) -> Listing:
    engine = simulation.engine
    model = engine.model
    rows = [
        (name, _kind(mujoco.mjtSensor, model.sensor_type[i]), model.sensor_dim[i])
        for name, i in engine.sensor_ids.items()
        if name not in engine.contact_sensor_names
    ]
    columns = Column("sensor", "sensor"), Column("type", "type"), Column("values", "values", right=True)
    return Listing("sensors", columns, rows)


def _kind(enum: type, value: int) -> str:
    """Return MuJoCo's name of a type, such as ``box`` for ``mjGEOM_BOX``."""
    return enum(value).name.split("_", 1)[1].lower()


def _range(limits: np.ndarray) -> str:
    return f"{limits[0]:.4g} to {limits[1]:.4g}"


def contents(simulation: Simulation) -> list[Listing]:
    """Return the tables of the contents of a scene.

    Args:
        simulation: The simulation.

    Returns:
        The tables of pads, bodies, geoms, joints, actuators, contact sensors, other sensors and feelers.
    """
    makers = (_pads, _bodies, _geoms, _joints, _actuators, _contact_sensors, _sensors, _feelers)
    return [make(simulation) for make in makers]

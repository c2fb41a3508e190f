"""List the contents of a simulated scene: pads, bodies, joints, sensors and so on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco

from tactile_sim.common.names import control_spans, topic_token
from tactile_sim.scenes.drives import FIELDS, read_drives
from tactile_sim.simulation.simulation import Simulation
from tactile_sim.skin import Pad


@dataclass
class Listing:
    """A table of all elements of one kind in a scene; values are in SI units."""

    key: str
    """Name of the table in JSON, such as ``contact_sensors``."""
    columns: Sequence[str]
    """Name of each column."""
    rows: Sequence[Sequence[Any]]

    @property
    def title(self) -> str:
        """Name of the table, such as ``contact sensors``."""
        return self.key.replace("_", " ")

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as mappings for JSON."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def summary(simulation: Simulation) -> dict[str, Any]:
    """Return a scene's configuration, engine, time step and totals (mass, taxels, area), in SI units."""
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


def _flex_of(simulation: Simulation, pad: Pad) -> str:
    """Return ``flex NAME`` for a pad that covers a flex instead of geoms."""
    return f"flex {mujoco.mj_id2name(simulation.engine.model, mujoco.mjtObj.mjOBJ_FLEX, pad.flex)}"


def _pads(simulation: Simulation) -> Listing:
    skin, names = simulation.skin, simulation.names
    rates = {"tactile": simulation.settings.rates.tactile} | simulation.schedule.pad_rates
    rows = [
        (
            pad.name,
            f"tactile/{topic_token(pad.name)}",
            names.bodies[pad.body_id],
            pad.stop - pad.start,
            [skin.ids[pad.start : pad.stop].min(), skin.ids[pad.start : pad.stop].max()],
            pad.spacing,
            skin.areas[pad.start : pad.stop].sum(),
            rates[simulation.schedule.pad_stream(pad.name)],
            quantity,
            [names.geoms[geom] for geom in pad.geom_ids] or [_flex_of(simulation, pad)],
        )
        for pad, quantity in zip(skin.pads, simulation.functions.quantities, strict=True)
    ]
    columns = ("pad", "topic", "body", "taxels", "ids", "spacing", "area", "rate", "quantity", "geoms")
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
    columns = ("body", "topic", "feelers", "spacing", "length", "image", "geoms")
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
    columns = ("body", "parent", "mass", "joints")
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
    columns = ("geom", "body", "type", "collides")
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
    columns = ("joint", "body", "type", "range", "unit", "takes_position", "driven")
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
    columns = ("actuator", "drives", "range")
    return Listing("actuators", columns, rows)


def _target(simulation: Simulation, actuator: int) -> str:
    """Name the target of an actuator: ``joint elbow``, ``body cube``, ``tendon split`` or ``site tip``."""
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
    columns = ("sensor", "object1", "object2", "data", "slots", "reduce")
    return Listing("contact_sensors", columns, rows)


def _object(simulation: Simulation, sensor: int, side: str) -> str:
    """Describe an object of a contact sensor: ``geom palm``, ``subtree hand``, ``in site tip`` or ``any``."""
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
    columns = ("sensor", "type", "values")
    return Listing("sensors", columns, rows)


def _cameras(simulation: Simulation) -> Listing:
    rows = [
        (
            name,
            f"cameras/{topic_token(name)}",
            simulation.names.bodies[camera.body],
            [camera.width, camera.height],
            camera.rate or simulation.settings.rates.images,
            camera.depth,
        )
        for name, camera in simulation.cameras.items()
    ]
    return Listing("cameras", ("camera", "topic", "body", "image", "rate", "depth"), rows)


def _kind(enum: type, value: int) -> str:
    """Return the short lower-case name of a value of a MuJoCo enum, such as ``box`` for ``mjGEOM_BOX``."""
    return enum(value).name.split("_", 1)[1].lower()


def contents(simulation: Simulation) -> list[Listing]:
    """Return tables that list the contents of a scene.

    Args:
        simulation: Simulation of the scene.

    Returns:
        Tables of pads, bodies, geoms, joints, actuators, contact sensors, other sensors, feelers and cameras.
    """
    makers = (_pads, _bodies, _geoms, _joints, _actuators, _contact_sensors, _sensors, _feelers, _cameras)
    return [make(simulation) for make in makers]

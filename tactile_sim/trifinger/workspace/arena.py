"""Add the table, the border and the floor to a robot, with collision shapes and visual meshes.

MuJoCo uses the convex hull of a mesh for collisions. The border's mesh is concave, and its hull would fill
the arena. Therefore, the border's collision shapes are invisible boxes, one for each facet of its inner side.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim.trifinger.robot import contact
from tactile_sim.trifinger.robot.files import mesh_file

THICKNESS = 0.02
"""Thickness of the border [m], measured outwards from its inner side."""
FLOOR = -0.01
"""Height of the floor around the table [m]."""
HALF_TABLES = {"stage": (0.3, 0.34, 0.006), "table": (0.38, 0.38, 0.005)}
"""Half sizes of the tables along x, y and z [m]. Their tops are at height 0."""


class Border(NamedTuple):
    """The inner side of a border's mesh: a ring of flat facets in each layer."""

    facets: int
    """Number of facets in a ring."""
    azimuth: float
    """Azimuth of the middle of a facet [deg]."""
    profile: tuple[tuple[float, float], ...]
    """Height of each edge between layers, and distance of the facets from the axis there [m]."""


BOWL = Border(45, 2.0, ((0.0, 0.1945), (0.0265, 0.1945), (0.037, 0.1985), (0.1746, 0.2784)))
BORDERS = {
    "trifingerpro": BOWL,
    "trifingerone": BOWL,
    "trifingeredu": Border(37, 7.3, ((0.0, 0.2411), (0.25, 0.2411))),
    "finger": Border(50, 3.6, (
        (0.0, 0.2128), (0.002, 0.2288), (0.0079, 0.2438), (0.0174, 0.257), (0.0299, 0.2674),
        (0.0445, 0.2744), (0.0627, 0.2782),
    )),
}  # fmt: skip
"""Borders by finger type; single-finger types use ``finger``."""
MESHES = {
    "trifingerpro": "object_containment_sim.stl",
    "trifingerone": "object_containment_sim.stl",
    "trifingeredu": "edu/frame_wall.stl",
    "finger": "Stage_simplified.stl",
}
"""File name of each border's visual mesh, by finger type as in `BORDERS`.

The mesh for single-finger types includes the table.
"""
COLORS = {
    "trifingerpro": ((0.21, 0.23, 0.2, 1.0), (0.56, 0.55, 0.58, 1.0)),
    "trifingerone": ((0.18, 0.15, 0.19, 1.0), (0.73, 0.68, 0.72, 1.0)),
    "trifingeredu": ((0.95, 0.95, 0.95, 1.0), (0.95, 0.95, 0.95, 0.5)),
    "finger": ((0.73, 0.68, 0.72, 1.0), (0.73, 0.68, 0.72, 1.0)),
}
"""RGBA colours of the table and of the border, by finger type as in `BORDERS`."""
TABLE_FRICTION = 1.0
RESTING_SOLREF = (0.01, 1.0)
RESTING_SOLIMP = (0.7, 0.95, 0.001, 0.5, 2.0)
"""Solimp of contacts between objects, and between objects and the floor; the solref is `RESTING_SOLREF`.

The impedance is low at first touch. If the contact were stiff, MuJoCo's friction cone would lift a sliding
object, and the object could fly over the border.
"""


def add_stage(spec: mujoco.MjSpec, finger_type: str) -> None:
    """Add floor, table (geom ``table``) and border (body ``border``, geoms ``border_0``, ...) to a robot.

    Args:
        spec: Robot whose links already have contact parameters.
        finger_type: Finger type of the robot.
    """
    kind = finger_type if finger_type in BORDERS else "finger"
    table, border = COLORS[kind]
    half = HALF_TABLES["stage" if kind == "finger" else "table"]
    spec.worldbody.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=(0, 0, FLOOR),
        size=(1, 1, 0.1),
        solref=RESTING_SOLREF,
        solimp=RESTING_SOLIMP,
        margin=sink(RESTING_SOLREF, RESTING_SOLIMP),
        rgba=(0.4, 0.4, 0.4, 1),
    )
    # Links collide with a plane instead, because contacts between a mesh and a box have tilted normals.
    spec.worldbody.add_body(name="table").add_geom(
        name="table",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=(0, 0, -half[2]),
        size=half,
        friction=(TABLE_FRICTION, contact.TORSIONAL, contact.ROLLING),
        solref=RESTING_SOLREF,
        solimp=RESTING_SOLIMP,
        margin=sink(RESTING_SOLREF, RESTING_SOLIMP),
        rgba=table,
    )
    friction = contact.LINK_FRICTION
    if kind == "finger":
        # In trifinger_simulation this table is part of the border's mesh.
        spec.geom("table").friction[0] = contact.WALL_FRICTION
        spec.geom("table").group = contact.COLLISION_GROUP
        friction = contact.LINK_PAIR_FRICTION
    contact.add_for_links(spec, "table", friction, type=mujoco.mjtGeom.mjGEOM_PLANE, size=(1, 1, 0.1))
    _add_border(spec, kind, border)


def support(spec: mujoco.MjSpec, name: str) -> None:
    """Make the contact between an object and the table as stiff as the time step allows.

    The object stops within one step and hardly rebounds. Friction stays as soft as with `RESTING_SOLREF`, for
    the reason given at `RESTING_SOLIMP`.

    Args:
        spec: Scene. If it has no table, nothing changes.
        name: Name of the object's geom, which must be a box with a friction of 1.
    """
    table = spec.geom("table")
    if table is None:
        return
    solref = (2.0 * spec.option.timestep, 2.0)
    spec.add_pair(
        geomname1="table",
        geomname2=name,
        friction=(table.friction[0],) * 2 + (contact.TORSIONAL, contact.ROLLING, contact.ROLLING),
        condim=3,
        solref=solref,
        solreffriction=RESTING_SOLREF,
        solimp=RESTING_SOLIMP,
        margin=sink(solref, RESTING_SOLIMP),
    )


def sink(solref: tuple[float, float], solimp: tuple[float, float, float, float, float]) -> float:
    """Return the depth to which a box that rests on four corners sinks into the surface [m].

    The depth r depends on neither size nor mass: r = g (1 - d) / (4 d² k) with the impedance d(r) and
    k = 1 / (d_max² T² ζ²) (MuJoCo, "Solver parameters"). With a contact margin of r, contact starts at a
    height of r above the surface, so the box comes to rest at the height of the surface.

    Args:
        solref: Time constant T [s] and damping ratio ζ.
        solimp: d_0, d_max, width [m], midpoint 0.5 and power 2.
    """
    time_constant, damping_ratio = solref
    low, high, width, _, _ = solimp
    stiffness = 1.0 / (high * time_constant * damping_ratio) ** 2
    depth = 0.0
    for _ in range(50):
        part = min(depth / width, 1.0)
        rise = 2.0 * part**2 if part < 0.5 else 1.0 - 2.0 * (1.0 - part) ** 2
        impedance = low + rise * (high - low)
        depth = (depth + 9.81 * (1.0 - impedance) / (4.0 * impedance**2 * stiffness)) / 2.0
    return depth


def _add_border(spec: mujoco.MjSpec, kind: str, color: tuple[float, ...]) -> None:
    """Add the border's visual mesh, and boxes whose inner sides follow the profile in `BORDERS`."""
    body = spec.worldbody.add_body(name="border")
    spec.add_mesh(name="border", file=str(mesh_file(MESHES[kind])))
    body.add_geom(
        name="border",
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname="border",
        contype=0,
        conaffinity=0,
        mass=0,
        rgba=color,
    )
    for link in {geom.parent.name: None for geom in contact.moving_link_geoms(spec)}:
        for stage in ("table", "border"):
            spec.add_exclude(bodyname1=stage, bodyname2=link)
    number = 0
    facets, azimuth, profile = BORDERS[kind]
    for (low, inner), (high, outer) in zip(profile[:-1], profile[1:], strict=True):
        lean = math.atan2(outer - inner, high - low)
        slope = math.hypot(outer - inner, high - low) / 2
        width = (outer + THICKNESS) * math.tan(math.pi / facets)
        # Shift the centre from the middle of the inner side into the wall.
        radius = (inner + outer) / 2 + THICKNESS / 2 * math.cos(lean)
        height = (low + high) / 2 - THICKNESS / 2 * math.sin(lean)
        for angle in math.radians(azimuth) + np.arange(facets) * 2 * math.pi / facets:
            box = {
                "type": mujoco.mjtGeom.mjGEOM_BOX,
                "pos": (radius * math.cos(angle), radius * math.sin(angle), height),
                "quat": _turned(angle, lean),
                "size": (THICKNESS / 2, width, slope),
            }
            contact.add_wall(spec, body, f"border_{number}", **box)
            number += 1


def _turned(angle: float, lean: float) -> np.ndarray:
    """Return the quaternion (w, x, y, z) of a rotation by ``lean`` about y, then ``angle`` about z [rad]."""
    about_y = np.array([math.cos(lean / 2), 0.0, math.sin(lean / 2), 0.0])
    about_z = np.array([math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)])
    out = np.empty(4)
    mujoco.mju_mulQuat(out, about_z, about_y)
    return out

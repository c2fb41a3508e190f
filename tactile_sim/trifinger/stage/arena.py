"""Table and border of each robot, as shapes that MuJoCo collides with.

The shipped border is one concave mesh, of which MuJoCo would take the hull: it would fill the arena. Here it
is rings of boxes that lean against its inner side.
"""

from __future__ import annotations

import math

import mujoco
import numpy as np

SECTORS = 36
THICKNESS = 0.02
"""[m] of the border, outwards."""
FLOOR = -0.01
"""[m] height of the floor around the table."""
HALF_TABLES = {"stage": (0.3, 0.34, 0.006), "table": (0.38, 0.38, 0.005)}
"""Half sizes of the tables [m], whose tops are at height 0."""
BOWL = ((0.0, 0.1945), (0.025, 0.1945), (0.175, 0.2782))
"""Heights and inner radii [m] of the border of the three-finger types, but for Edu."""
BORDERS = {
    "trifingerpro": BOWL,
    "trifingerone": BOWL,
    "trifingeredu": ((0.0, 0.2415), (0.25, 0.2415)),
    "finger": ((0.0, 0.213), (0.008, 0.244), (0.03, 0.268), (0.065, 0.2785)),
}
"""The same of each; all single fingers stand on one stage."""
COLORS = {
    "trifingerpro": ((0.21, 0.23, 0.2, 1.0), (0.56, 0.55, 0.58, 1.0)),
    "trifingerone": ((0.18, 0.15, 0.19, 1.0), (0.73, 0.68, 0.72, 1.0)),
    "trifingeredu": ((0.95, 0.95, 0.95, 1.0), (0.95, 0.95, 0.95, 0.5)),
    "finger": ((0.73, 0.68, 0.72, 1.0), (0.73, 0.68, 0.72, 1.0)),
}
"""RGBA of tables and borders."""
TABLE_FRICTION, BORDER_FRICTION = 1.0, 0.5
BORDER_PRIORITY = 1
"""So that its friction counts against objects: MuJoCo would take the larger one."""
BORDER_SOLREF = (0.004, 2.0)
"""Time constant [s] and damping ratio of what hits the border: stiff, and without a rebound."""
RESTING_SOLREF = (0.01, 1.0)
RESTING_SOLIMP = (0.7, 0.95, 0.001, 0.5, 2.0)
"""Solref and solimp of objects, table and floor against each other. They are soft at the first touch: what
slides on a stiff contact is lifted by MuJoCo's cone of friction, fast enough to fly over the border."""
SINK = 0.00012866
"""[m] that a box of any size and mass sinks into a contact of these with four corners: from r = g (1 - d) /
(4 d² k) with the impedance d(r) of the solimp and k = 1 / (0.95² 0.01²) / s² (MuJoCo, "Solver parameters").
Contacts with table and floor begin so much above them, and what lies there lies at their height."""


def add_stage(spec: mujoco.MjSpec, finger_type: str) -> None:
    """Adds floor, table (``table``) and border (``border_0``, ...) of a type to the world of a spec."""
    kind = finger_type if finger_type in BORDERS else "finger"
    table, border = COLORS[kind]
    half = HALF_TABLES["table" if finger_type in BORDERS else "stage"]
    spec.worldbody.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=(0, 0, FLOOR),
        size=(1, 1, 0.1),
        solref=RESTING_SOLREF,
        solimp=RESTING_SOLIMP,
        margin=SINK,
        rgba=(0.4, 0.4, 0.4, 1),
    )
    spec.worldbody.add_geom(
        name="table",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=(0, 0, -half[2]),
        size=half,
        friction=(TABLE_FRICTION, 0.005, 0.0001),
        solref=RESTING_SOLREF,
        solimp=RESTING_SOLIMP,
        margin=SINK,
        rgba=table,
    )
    _add_border(spec, BORDERS[kind], border)


def _add_border(
    spec: mujoco.MjSpec, profile: tuple[tuple[float, float], ...], color: tuple[float, ...]
) -> None:
    """Boxes whose inner sides go through the heights and radii of a profile."""
    number = 0
    for (low, inner), (high, outer) in zip(profile[:-1], profile[1:], strict=True):
        lean = math.atan2(outer - inner, high - low)
        slope = math.hypot(outer - inner, high - low) / 2
        width = (outer + THICKNESS) * math.tan(math.pi / SECTORS)
        # From the middle of the inner side into the wall.
        radius = (inner + outer) / 2 + THICKNESS / 2 * math.cos(lean)
        height = (low + high) / 2 - THICKNESS / 2 * math.sin(lean)
        for angle in np.arange(SECTORS) * 2 * math.pi / SECTORS:
            spec.worldbody.add_geom(
                name=f"border_{number}",
                type=mujoco.mjtGeom.mjGEOM_BOX,
                pos=(radius * math.cos(angle), radius * math.sin(angle), height),
                quat=_turned(angle, lean),
                size=(THICKNESS / 2, width, slope),
                friction=(BORDER_FRICTION, 0.005, 0.0001),
                priority=BORDER_PRIORITY,
                solref=BORDER_SOLREF,
                rgba=color,
            )
            number += 1


def _turned(angle: float, lean: float) -> np.ndarray:
    """(4,) wxyz: first about y by the lean outwards, then about z."""
    about_y = np.array([math.cos(lean / 2), 0.0, math.sin(lean / 2), 0.0])
    about_z = np.array([math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)])
    out = np.empty(4)
    mujoco.mju_mulQuat(out, about_z, about_y)
    return out

"""Things for the fingers to handle: the coloured cube, boxes and dice, put into a robot's spec."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.robot.contact import (
    COLLISION_GROUP,
    moving_link_geoms,
    pair_with_friction,
    wall_contact,
)
from tactile_sim.trifinger.tasks.move_cube import CUBE_WIDTH
from tactile_sim.trifinger.tasks.rearrange_dice import DIE_WIDTH
from tactile_sim.trifinger.values import numbers, quaternion, sizes
from tactile_sim.trifinger.workspace import arena

CUBE_MASS = 0.094
"""[kg]"""
CUBE_INERTIA = 6.619e-5
"""About each axis through its centre [kg m²]."""
DIE_MASS = 0.012
"""[kg]"""
DIE_COLOR = (10 / 255, 125 / 255, 207 / 255, 1.0)
FRICTION = (1.0, 0.001, 0.0001)
"""Sliding and, where two things of one contact have it, spinning [m] and rolling [m]."""
GREY = (0.5, 0.5, 0.5, 1.0)
FACES = {
    (1, 0, 0): (0.76, 0.19, 0.0),
    (-1, 0, 0): (0.66, 0.36, 0.65),
    (0, 1, 0): (0.61, 0.82, 0.38),
    (0, -1, 0): (1.0, 0.93, 0.4),
    (0, 0, 1): (0.0, 0.14, 0.38),
    (0, 0, -1): (0.47, 0.79, 0.76),
}
"""The cube's sides: red, magenta, green, yellow, blue and cyan."""

_PLATE = 0.0002  # half the thickness of what is seen of a side [m]


def add_cube(
    spec: mujoco.MjSpec,
    name: str = "cube",
    position: Sequence[float] = (0.0, 0.0, CUBE_WIDTH / 2),
    orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
) -> str:
    """Adds the cube whose sides have six colours, free to move; its name.

    Args:
        spec: a robot's, not yet compiled or about to be compiled anew.
        name: of its body and of the geom that collides.
        position: (3,) of its centre in the world [m].
        orientation: quaternion (x, y, z, w).
    """
    half = CUBE_WIDTH / 2
    body = _add_body(spec, name, position, orientation)
    body.add_freejoint(name=name)
    body.explicitinertial = True
    body.mass = CUBE_MASS
    body.inertia = [CUBE_INERTIA] * 3
    # Left out, MuJoCo would put the centre of mass as far from the body's origin as that is from the world's.
    body.ipos, body.iquat = (0, 0, 0), (1, 0, 0, 0)
    geom = _add_box(body, name, (half,) * 3, GREY)
    geom.group = COLLISION_GROUP
    arena.support(spec, name)
    for normal, color in FACES.items():
        axis = np.abs(normal)
        body.add_geom(
            name=f"{name}_{'+' if sum(normal) > 0 else '-'}{'xyz'[int(axis.argmax())]}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=np.multiply(normal, half - _PLATE),
            size=np.where(axis, _PLATE, half),
            rgba=(*color, 1.0),
            contype=0,
            conaffinity=0,
            mass=0,
        )
    return name


def add_box(
    spec: mujoco.MjSpec,
    name: str,
    half_extents: Sequence[float],
    mass: float,
    position: Sequence[float],
    orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
    color: Sequence[float] | None = None,
) -> str:
    """Adds a box of even density; its name. Arguments as in :func:`add_cube`, further:

    Args:
        half_extents: (3,) half its edges [m].
        mass: [kg]; 0 for a box that stands still.
        color: red, green, blue and alpha, 0 to 1; grey without.
    """
    half, weight, rgba = sizes("half_extents", half_extents, 3), numbers("mass", mass), _rgba(color)
    if weight < 0:
        raise InvalidValueError(f"mass: kg of 0 or more are needed, not {mass!r}")
    body = _add_body(spec, name, position, orientation)
    geom = _add_box(body, name, half, rgba)
    if weight:
        body.add_freejoint(name=name)
        geom.mass = weight
        arena.support(spec, name)
    return name


def add_mesh(
    spec: mujoco.MjSpec,
    name: str,
    file: str,
    position: Sequence[float],
    orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
    color: Sequence[float] | None = None,
) -> str:
    """Add a fixed mesh that collides with its convex hull, and return its name.

    Args:
        spec: Robot to which the mesh is added.
        name: Name of its body, its geom and the mesh.
        file: Absolute path of an STL, OBJ or MSH file [m].
        position: (3,) position in the world [m].
        orientation: Quaternion (x, y, z, w).
        color: (4,) red, green, blue and alpha, 0 to 1; grey by default.

    Raises:
        ValueError: An argument has another shape or is not finite.
    """
    rgba = _rgba(color)
    spec.add_mesh(name=name, file=file)
    _add_body(spec, name, position, orientation).add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname=name,
        **wall_contact(),
        rgba=rgba,
    )
    for link in moving_link_geoms(spec):
        pair_with_friction(spec, link.name, name)
    return name


def add_dice(spec: mujoco.MjSpec, positions: Iterable[Sequence[float]]) -> list[str]:
    """Adds a die at each position (3,) [m]; their names ``die_0``, ..."""
    half = (DIE_WIDTH / 2,) * 3
    return [
        add_box(spec, f"die_{index}", half, DIE_MASS, position, color=DIE_COLOR)
        for index, position in enumerate(positions)
    ]


def int_to_rgba(color: int, alpha: int = 255) -> tuple[float, float, float, float]:
    """Red, green, blue and alpha, 0 to 1, of a colour such as ``0xFF8800`` and an alpha of 0 to 255."""
    red, green, blue = (color >> shift & 0xFF for shift in (16, 8, 0))
    return red / 255, green / 255, blue / 255, (alpha & 0xFF) / 255


def get_pose(model: mujoco.MjModel, data: mujoco.MjData, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Position (3,) [m] and orientation (x, y, z, w) of an object of this module, as they are now."""
    joint = model.body(name).jntadr[0]
    if joint < 0:
        body = model.body(name)
        return body.pos.copy(), np.roll(body.quat, -1)
    pose = data.qpos[model.jnt_qposadr[joint] :][:7]
    return pose[:3].copy(), np.roll(pose[3:], -1)


def set_pose(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    name: str,
    position: Sequence[float],
    orientation: Sequence[float],
) -> None:
    """Puts an object of this module somewhere, at rest; arguments as in :func:`add_cube`.

    What follows from the state is not computed: ``FingerPhysics.restart`` does that.
    """
    joint = model.body(name).jntadr[0]
    place, turn = numbers("position", position, 3), wxyz(orientation)
    if joint < 0:
        model.body(name).pos = place
        model.body(name).quat = turn
    else:
        data.qpos[model.jnt_qposadr[joint] :][:7] = [*place, *turn]
        data.qvel[model.jnt_dofadr[joint] :][:6] = 0.0


def _add_body(
    spec: mujoco.MjSpec, name: str, position: Sequence[float], orientation: Sequence[float]
) -> mujoco.MjsBody:
    place, turn = numbers("position", position, 3), wxyz(orientation)
    return spec.worldbody.add_body(name=name, pos=place, quat=turn)


def _add_box(body: mujoco.MjsBody, name: str, half_extents: ArrayLike, color: ArrayLike) -> mujoco.MjsGeom:
    return body.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=half_extents,
        friction=FRICTION,
        solref=arena.RESTING_SOLREF,
        solimp=arena.RESTING_SOLIMP,
        rgba=color,
    )


def _rgba(color: Sequence[float] | None) -> np.ndarray:
    return numbers("color_rgba", GREY if color is None else color, 4)


def wxyz(orientation: ArrayLike) -> np.ndarray:
    """MuJoCo's unit quaternion of one whose scalar comes last; ValueError where it is none."""
    return np.roll(quaternion("orientation", orientation), 1)

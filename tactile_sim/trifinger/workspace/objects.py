"""Add objects to a robot's spec: the coloured cube, boxes, dice and meshes."""

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
"""Mass of the cube [kg]."""
CUBE_INERTIA = 6.619e-5
"""Moment of inertia of the cube about each axis through its centre [kg m²]."""
DIE_MASS = 0.012
"""Mass of a die [kg]."""
DIE_COLOR = (10 / 255, 125 / 255, 207 / 255, 1.0)
FRICTION = (1.0, 0.001, 0.0001)
"""Friction coefficients of objects: sliding, torsional [m] and rolling [m]."""
GREY = (0.5, 0.5, 0.5, 1.0)
FACES = {
    (1, 0, 0): (0.76, 0.19, 0.0),
    (-1, 0, 0): (0.66, 0.36, 0.65),
    (0, 1, 0): (0.61, 0.82, 0.38),
    (0, -1, 0): (1.0, 0.93, 0.4),
    (0, 0, 1): (0.0, 0.14, 0.38),
    (0, 0, -1): (0.47, 0.79, 0.76),
}
"""RGB colours of the cube's faces, keyed by the outward normal of the face."""

_PLATE = 0.0002  # half thickness of a coloured face [m]


def add_cube(
    spec: mujoco.MjSpec,
    name: str = "cube",
    position: Sequence[float] = (0.0, 0.0, CUBE_WIDTH / 2),
    orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
) -> str:
    """Add the cube with six colours and return its name.

    Args:
        spec: Scene to extend; must be compiled afterwards.
        name: Name for the cube's body, free joint and colliding geom.
        position: (3,) position of its centre in the world [m].
        orientation: Quaternion (x, y, z, w).
    """
    half = CUBE_WIDTH / 2
    body = _add_body(spec, name, position, orientation)
    body.add_freejoint(name=name)
    body.explicitinertial = True
    body.mass = CUBE_MASS
    body.inertia = [CUBE_INERTIA] * 3
    # MuJoCo's default is not the origin of the body.
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
    """Add a box of uniform density and return its name.

    Args:
        spec: Scene to extend; must be compiled afterwards.
        name: Name for the box's body, free joint and geom.
        half_extents: (3,) half lengths of the edges [m].
        mass: Mass [kg]; 0 for a fixed box.
        position: (3,) position of its centre in the world [m].
        orientation: Quaternion (x, y, z, w).
        color: (4,) red, green, blue and alpha, 0 to 1; grey by default.

    Raises:
        InvalidValueError: An argument is invalid.
    """
    half, weight, rgba = sizes("half_extents", half_extents, 3), numbers("mass", mass), _rgba(color)
    if weight < 0:
        raise InvalidValueError(f"mass: must be >= 0 kg, got {mass!r}")
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
    """Add a fixed mesh, whose convex hull is used for collisions, and return its name.

    Args:
        spec: Scene to extend; must be compiled afterwards.
        name: Name for the body, its geom and the mesh.
        file: Absolute path of an STL, OBJ or MSH file with lengths in metres.
        position: (3,) position in the world [m].
        orientation: Quaternion (x, y, z, w).
        color: (4,) red, green, blue and alpha, 0 to 1; grey by default.

    Raises:
        InvalidValueError: An argument is invalid.
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
    """Add a die at each position (3,) [m] and return the names of the dice, ``die_0``, ...

    Args:
        spec: Scene to extend; must be compiled afterwards.
        positions: (3,) position of each die in the world [m].
    """
    half = (DIE_WIDTH / 2,) * 3
    return [
        add_box(spec, f"die_{index}", half, DIE_MASS, position, color=DIE_COLOR)
        for index, position in enumerate(positions)
    ]


def int_to_rgba(color: int, alpha: int = 255) -> tuple[float, float, float, float]:
    """Convert a 24-bit colour and an 8-bit alpha to floats from 0 to 1.

    Args:
        color: 24-bit RGB value, such as ``0xFF8800``.
        alpha: Alpha from 0 to 255.

    Returns:
        Red, green, blue and alpha, 0 to 1.
    """
    red, green, blue = (color >> shift & 0xFF for shift in (16, 8, 0))
    return red / 255, green / 255, blue / 255, (alpha & 0xFF) / 255


def get_pose(model: mujoco.MjModel, qpos: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the pose of an object.

    Args:
        model: Compiled scene.
        qpos: (nq,) generalized positions.
        name: Name of the object.

    Returns:
        Position (3,) [m] and orientation (x, y, z, w) in the world.
    """
    joint = model.body(name).jntadr[0]
    if joint < 0:
        body = model.body(name)
        return body.pos.copy(), np.roll(body.quat, -1)
    pose = qpos[model.jnt_qposadr[joint] :][:7]
    return pose[:3].copy(), np.roll(pose[3:], -1)


def set_pose(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    name: str,
    position: Sequence[float],
    orientation: Sequence[float],
) -> None:
    """Set the pose of an object, and set its velocity to zero. Call `FingerPhysics.restart` afterwards.

    Args:
        model: Compiled scene.
        data: State of the scene.
        name: Name of the object.
        position: (3,) position in the world [m].
        orientation: Quaternion (x, y, z, w) of any norm > 0.
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
    """Convert a quaternion (x, y, z, w) to a unit quaternion (w, x, y, z).

    Args:
        orientation: Quaternion of any norm > 0.

    Raises:
        InvalidValueError: The argument is not a quaternion.
    """
    return np.roll(quaternion("orientation", orientation), 1)

"""Objects for the fingers to manipulate, with the interface of ``trifinger_simulation``.

An object belongs to a simulation, by default the one with id 0. Creating an object recompiles the model but
keeps the state. When the object is garbage collected, it is removed from the simulation before the next step.
Positions (3,) are in the world [m]. Orientations are quaternions (x, y, z, w) of any norm > 0. Colors are
red, green, blue and alpha, 0 to 1; gray by default. Invalid arguments raise `InvalidValueError`.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.trifinger.checks import InvalidValueError, color, numbers, sizes, wxyz
from tactile_sim.trifinger.scene import (
    COLLISION_GROUP,
    RESTING_SOLIMP,
    RESTING_SOLREF,
    WALL,
    pair_with_links,
    support,
)
from tactile_sim.trifinger.sim_finger import find_simulation
from tactile_sim.trifinger.tasks import CUBE_WIDTH, DIE_WIDTH

CUBE_MASS = 0.094
"""Mass of the cube [kg]."""
CUBE_INERTIA = 6.619e-5
"""Moment of inertia of the cube about each axis through its center [kg m²]."""
DIE_MASS = 0.012
"""Mass of a die [kg]."""
DIE_COLOR = (10 / 255, 125 / 255, 207 / 255, 1.0)
FRICTION = (1.0, 0.001, 0.0001)
"""Friction coefficients of objects: sliding, torsional [m] and rolling [m]."""
GRAY = (0.5, 0.5, 0.5, 1.0)
FACES = {
    (1, 0, 0): (0.76, 0.19, 0.0),
    (-1, 0, 0): (0.66, 0.36, 0.65),
    (0, 1, 0): (0.61, 0.82, 0.38),
    (0, -1, 0): (1.0, 0.93, 0.4),
    (0, 0, 1): (0.0, 0.14, 0.38),
    (0, 0, -1): (0.47, 0.79, 0.76),
}
"""RGB colors of the cube's faces, keyed by the outward normal of the face."""

_PLATE = 0.0002  # half thickness of a colored face [m]
_numbers = itertools.count()


class BaseCollisionObject:
    """Base class of the objects in this module.

    Attributes:
        name: Name of the object's body in the model.
    """

    def __init__(self, pybullet_client_id: int, name: str):
        """Create an object for a body of the simulation with this id."""
        self._simulation = find_simulation(pybullet_client_id)
        self.name = name

    def set_state(self, position: Sequence[float], orientation: Sequence[float]) -> None:
        """Set the position and orientation of the object, and set its velocity to zero."""
        physics = self._simulation.physics
        model, data = physics.model, physics.data
        place, turn = numbers("position", position, 3), wxyz(orientation)
        joint = model.body(self.name).jntadr[0]
        with self._simulation.stepping:
            if joint < 0:
                model.body(self.name).pos, model.body(self.name).quat = place, turn
            else:
                data.qpos[model.jnt_qposadr[joint] :][:7] = [*place, *turn]
                data.qvel[model.jnt_dofadr[joint] :][:6] = 0.0
            physics.restart()

    def get_state(self) -> tuple[list[float], list[float]]:
        """Return the position [m] and the orientation (x, y, z, w) in the world."""
        physics = self._simulation.physics
        position, orientation = get_pose(physics.model, physics.data.qpos, self.name)
        return position.tolist(), orientation.tolist()


class Cuboid(BaseCollisionObject):
    """Box of uniform density."""

    def __init__(
        self,
        position: Sequence[float],
        orientation: Sequence[float],
        half_extents: Sequence[float],
        mass: float,
        color_rgba: Sequence[float] | None = None,
        pybullet_client_id: int = 0,
    ):
        """Add a box with half lengths of its edges (3,) [m] and a mass [kg], which is 0 for a fixed box."""
        super().__init__(pybullet_client_id, f"box_{next(_numbers)}")
        self._simulation.add_bodies(
            self,
            [self.name],
            lambda spec: add_box(spec, self.name, half_extents, mass, position, orientation, color_rgba),
        )


class Cube(Cuboid):
    """Cube of uniform density."""

    def __init__(
        self,
        position: Sequence[float] = (0.15, 0.0, 0.0425),
        orientation: Sequence[float] = (0, 0, 0, 1),
        half_width: float = 0.0325,
        mass: float = 0.08,
        color_rgba: Sequence[float] | None = None,
        pybullet_client_id: int = 0,
    ):
        """Add a cube with half the length of its edges [m] and a mass [kg], which is 0 for a fixed cube."""
        half = [float(sizes("half_width", half_width))] * 3
        super().__init__(position, orientation, half, mass, color_rgba, pybullet_client_id)


Block = Cube
"""Former name of `Cube`."""


class ColoredCubeV2(BaseCollisionObject):
    """Cube with six colors, a width of 0.065 m and a mass of 0.094 kg."""

    def __init__(
        self,
        position: Sequence[float] = (0, 0, 0),
        orientation: Sequence[float] = (0, 0, 0, 1),
        pybullet_client_id: int = 0,
    ):
        """Add a cube."""
        super().__init__(pybullet_client_id, f"cube_{next(_numbers)}")
        self._simulation.add_bodies(
            self, [self.name], lambda spec: add_cube(spec, self.name, position, orientation)
        )


def import_mesh(
    mesh_file_path: str | os.PathLike[str],
    position: Sequence[float],
    orientation: Sequence[float] = (0, 0, 0, 1),
    is_concave: bool = False,
    color_rgba: Sequence[float] | None = None,
    pybullet_client_id: int = 0,
) -> int:
    """Add a fixed mesh, which cannot be removed, and return the id of its body in the current model.

    Args:
        mesh_file_path: STL, OBJ or MSH file with lengths in meters.
        position: Position.
        orientation: Orientation.
        is_concave: Must be False, because the convex hull of a mesh is used for collisions.
        color_rgba: Color.
        pybullet_client_id: Id of the simulation.

    Raises:
        SceneError: The file cannot be read or is not a mesh.
    """
    if is_concave:
        raise InvalidValueError(
            f"is_concave: must be False, got {is_concave!r} for {mesh_file_path}; import convex parts instead"
        )
    simulation, name = find_simulation(pybullet_client_id), f"mesh_{next(_numbers)}"

    def add(spec: mujoco.MjSpec) -> None:
        rgba = _rgba(color_rgba)
        spec.add_mesh(name=name, file=os.path.abspath(mesh_file_path))
        _add_body(spec, name, position, orientation).add_geom(
            name=name, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, **WALL, rgba=rgba
        )
        pair_with_links(spec, name)

    simulation.edit_scene(add)
    return int(simulation.physics.model.body(name).id)


def add_cube(
    spec: mujoco.MjSpec,
    name: str = "cube",
    position: Sequence[float] = (0.0, 0.0, CUBE_WIDTH / 2),
    orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
) -> None:
    """Add the cube with six colors to a scene. Its body, free joint and colliding geom have the name."""
    half = CUBE_WIDTH / 2
    body = _add_body(spec, name, position, orientation)
    body.add_freejoint(name=name)
    body.explicitinertial = True
    body.mass = CUBE_MASS
    body.inertia = [CUBE_INERTIA] * 3
    # MuJoCo's default is not the origin of the body.
    body.ipos, body.iquat = (0, 0, 0), (1, 0, 0, 0)
    _add_box(body, name, (half,) * 3, GRAY).group = COLLISION_GROUP
    support(spec, name)
    for normal, face_color in FACES.items():
        axis = np.abs(normal)
        body.add_geom(
            name=f"{name}_{'+' if sum(normal) > 0 else '-'}{'xyz'[int(axis.argmax())]}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=np.multiply(normal, half - _PLATE),
            size=np.where(axis, _PLATE, half),
            rgba=(*face_color, 1.0),
            contype=0,
            conaffinity=0,
            mass=0,
        )


def add_box(
    spec: mujoco.MjSpec,
    name: str,
    half_extents: Sequence[float],
    mass: float,
    position: Sequence[float],
    orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
    color_rgba: Sequence[float] | None = None,
) -> None:
    """Add a box of uniform density to a scene; its body, free joint (if mass > 0) and geom have the name."""
    half, weight, rgba = sizes("half_extents", half_extents, 3), numbers("mass", mass), _rgba(color_rgba)
    if weight < 0:
        raise InvalidValueError(f"mass: must be >= 0 kg, got {mass!r}")
    body = _add_body(spec, name, position, orientation)
    geom = _add_box(body, name, half, rgba)
    if weight:
        body.add_freejoint(name=name)
        geom.mass = weight
        support(spec, name)


def add_dice(spec: mujoco.MjSpec, positions: Iterable[Sequence[float]]) -> list[str]:
    """Add a die at each position (3,) [m] to a scene, and return their names, ``die_0``, ..."""
    half, names = (DIE_WIDTH / 2,) * 3, []
    for index, position in enumerate(positions):
        names.append(f"die_{index}")
        add_box(spec, names[-1], half, DIE_MASS, position, color_rgba=DIE_COLOR)
    return names


def get_pose(model: mujoco.MjModel, qpos: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the position (3,) [m] and orientation (x, y, z, w) of an object in the world."""
    body = model.body(name)
    joint = body.jntadr[0]
    if joint < 0:
        return body.pos.copy(), np.roll(body.quat, -1)
    pose = qpos[model.jnt_qposadr[joint] :][:7]
    return pose[:3].copy(), np.roll(pose[3:], -1)


def _add_body(
    spec: mujoco.MjSpec, name: str, position: Sequence[float], orientation: Sequence[float]
) -> mujoco.MjsBody:
    place, turn = numbers("position", position, 3), wxyz(orientation)
    return spec.worldbody.add_body(name=name, pos=place, quat=turn)


def _add_box(body: mujoco.MjsBody, name: str, half_extents: ArrayLike, rgba: ArrayLike) -> mujoco.MjsGeom:
    return body.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=half_extents,
        friction=FRICTION,
        solref=RESTING_SOLREF,
        solimp=RESTING_SOLIMP,
        rgba=rgba,
    )


def _rgba(rgba: Sequence[float] | None) -> np.ndarray:
    return color("color_rgba", GRAY if rgba is None else rgba)

"""Visual markers that do not collide, with the interface of ``trifinger_simulation``.

A marker shows the goal of a tip or of an object in camera images and browser views. It belongs to a
simulation, by default the one with id 0. Like objects in `collision_objects`, it is removed when it is
garbage collected.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.running import simulations
from tactile_sim.trifinger.values import count, numbers, sizes
from tactile_sim.trifinger.workspace.objects import wxyz

if TYPE_CHECKING:
    from tactile_sim.trifinger.sim_finger import SimFinger

_COLORS = ((1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1))
_UPRIGHT = (0, 0, 0, 1)
_numbers = itertools.count()

BOX = 3
"""PyBullet's ``GEOM_BOX``."""
SHAPES = {
    2: (mujoco.mjtGeom.mjGEOM_SPHERE, ("radius",)),
    BOX: (mujoco.mjtGeom.mjGEOM_BOX, ("halfExtents",)),
    4: (mujoco.mjtGeom.mjGEOM_CYLINDER, ("radius", "length")),
    7: (mujoco.mjtGeom.mjGEOM_CAPSULE, ("radius", "length")),
}
"""MuJoCo's geom type and the names of the size arguments for each shape.

The keys are PyBullet's shape numbers, such as ``GEOM_SPHERE`` = 2.
"""


class Marker:
    """Red, green and blue balls that mark goals.

    Attributes:
        names: Names of the balls' bodies in the model.
    """

    def __init__(
        self,
        number_of_goals: int,
        goal_size: float = 0.015,
        initial_position: Sequence[float] = (0.18, 0.18, 0.08),
        physicsClientId: int = 0,
    ):
        """Add balls.

        Args:
            number_of_goals: Number of balls.
            goal_size: Radius of the balls [m].
            initial_position: (3,) initial position of all balls [m].
            physicsClientId: Id of the simulation.

        Raises:
            InvalidValueError: An argument is invalid.
        """
        self._simulation = simulations.find(physicsClientId)
        number = count("number_of_goals", number_of_goals)
        self.names = [f"mark_{next(_numbers)}" for _ in range(number)]
        names, size = self.names, (float(sizes("goal_size", goal_size)), 0, 0)

        def add(spec: mujoco.MjSpec) -> None:
            for name, color in zip(names, itertools.cycle(_COLORS), strict=False):
                _add(spec, name, mujoco.mjtGeom.mjGEOM_SPHERE, size, initial_position, _UPRIGHT, color)

        simulations.join(self._simulation, self, names, add)

    def set_state(self, positions: Sequence[ArrayLike]) -> None:
        """Set the positions of the balls.

        Args:
            positions: Position (3,) in the world [m] for each ball.

        Raises:
            InvalidValueError: The positions are not three finite numbers for each ball.
        """
        shape = (len(self.names), 3) if self.names else (0,)
        for name, position in zip(self.names, numbers("positions", positions, *shape), strict=True):
            _move(self._simulation, name, position, _UPRIGHT)


class ObjectMarker:
    """Marker in the shape of a ball, box, cylinder or capsule.

    Attributes:
        name: Name of the marker's body in the model.
    """

    def __init__(
        self,
        shape_type: int,
        position: ArrayLike,
        orientation: ArrayLike,
        color: Sequence[float] = (0, 1, 0, 0.5),
        pybullet_client_id: int = 0,
        **kwargs: Any,
    ):
        """Add a marker.

        Args:
            shape_type: PyBullet's shape number; must be a key of `SHAPES`.
            position: (3,) position in the world [m].
            orientation: Quaternion (x, y, z, w).
            color: (4,) red, green, blue and alpha, 0 to 1.
            pybullet_client_id: Id of the simulation.
            kwargs: Size [m]: ``halfExtents`` (3,) of a box, ``radius`` of the other shapes, and ``length`` of
                a cylinder or of the cylindrical part of a capsule.

        Raises:
            InvalidValueError: The shape is unknown, or an argument is invalid.
        """
        if shape_type not in SHAPES:
            raise InvalidValueError(
                f"shape_type: must be one of {', '.join(map(str, SHAPES))}, got {shape_type!r}"
            )
        shape, wanted = SHAPES[shape_type]
        if set(kwargs) != set(wanted):
            raise InvalidValueError(
                f"shape_type {shape_type}: needs {' and '.join(wanted)}, got {', '.join(kwargs) or 'no size'}"
            )
        size = np.zeros(3)
        if "halfExtents" in kwargs:
            size[:] = sizes("halfExtents", kwargs["halfExtents"], 3)
        else:
            size[0] = sizes("radius", kwargs["radius"])
        if "length" in kwargs:
            size[1] = sizes("length", kwargs["length"]) / 2
        self._simulation = simulations.find(pybullet_client_id)
        self.name = name = f"mark_{next(_numbers)}"
        simulations.join(
            self._simulation,
            self,
            [name],
            lambda spec: _add(spec, name, shape, size, position, orientation, color),
        )

    def set_state(self, position: ArrayLike, orientation: ArrayLike) -> None:
        """Set the pose of the marker.

        Args:
            position: (3,) position in the world [m].
            orientation: Quaternion (x, y, z, w).
        """
        _move(self._simulation, self.name, position, orientation)


class CuboidMarker(ObjectMarker):
    """Marker in the shape of a box."""

    def __init__(
        self,
        size: ArrayLike,
        position: ArrayLike,
        orientation: ArrayLike,
        color: Sequence[float] = (0, 1, 0, 0.5),
        pybullet_client_id: int = 0,
    ):
        """Add a box.

        Args:
            size: (3,) lengths of the edges [m].
            position: (3,) position in the world [m].
            orientation: Quaternion (x, y, z, w).
            color: (4,) red, green, blue and alpha, 0 to 1.
            pybullet_client_id: Id of the simulation.

        Raises:
            InvalidValueError: An argument is invalid.
        """
        half = sizes("size", size, 3) / 2
        super().__init__(BOX, position, orientation, color, pybullet_client_id, halfExtents=half)


class CubeMarker(CuboidMarker):
    """Marker in the shape of a cube."""

    def __init__(
        self,
        width: float,
        position: ArrayLike,
        orientation: ArrayLike,
        color: Sequence[float] = (0, 1, 0, 0.5),
        pybullet_client_id: int = 0,
    ):
        """Add a cube.

        Args:
            width: Length of the edges [m].
            position: (3,) position in the world [m].
            orientation: Quaternion (x, y, z, w).
            color: (4,) red, green, blue and alpha, 0 to 1.
            pybullet_client_id: Id of the simulation.

        Raises:
            InvalidValueError: An argument is invalid.
        """
        super().__init__([float(sizes("width", width))] * 3, position, orientation, color, pybullet_client_id)


def _add(
    spec: mujoco.MjSpec,
    name: str,
    shape: mujoco.mjtGeom,
    size: ArrayLike,
    position: ArrayLike,
    orientation: ArrayLike,
    color: Sequence[float],
) -> None:
    place, rgba = numbers("position", position, 3), numbers("color", color, 4)
    if rgba.min() < 0.0 or rgba.max() > 1.0:
        raise InvalidValueError(f"color: must be from 0 to 1, got {rgba.tolist()}")
    body = spec.worldbody.add_body(name=name, pos=place, quat=wxyz(orientation), mocap=True)
    body.add_geom(name=name, type=shape, size=size, rgba=rgba, contype=0, conaffinity=0)


def _move(simulation: SimFinger, name: str, position: ArrayLike, orientation: ArrayLike) -> None:
    physics = simulation.physics
    mark = physics.model.body(name).mocapid[0]
    place, turn = numbers("position", position, 3), wxyz(orientation)
    with simulation.stepping:
        physics.data.mocap_pos[mark], physics.data.mocap_quat[mark] = place, turn

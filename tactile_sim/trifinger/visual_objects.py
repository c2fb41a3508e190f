"""Visual markers that do not collide, with the interface of ``trifinger_simulation``.

A marker shows the goal of a tip or of an object in camera images and browser views. It belongs to a
simulation, by default the one with id 0. Like objects in `collision_objects`, it is removed when it is
garbage collected. Positions (3,) are in the world [m], orientations are quaternions (x, y, z, w), colors are
red, green, blue and alpha, 0 to 1. Invalid arguments raise `InvalidValueError`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.trifinger.checks import InvalidValueError, count, numbers, sizes, wxyz
from tactile_sim.trifinger.checks import color as checked_color
from tactile_sim.trifinger.sim_finger import SimFinger, find_simulation

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
        """Add balls with a radius of ``goal_size`` [m], all at the initial position."""
        self._simulation = find_simulation(physicsClientId)
        number = count("number_of_goals", number_of_goals)
        self.names = [f"mark_{next(_numbers)}" for _ in range(number)]
        names, size = self.names, (float(sizes("goal_size", goal_size)), 0, 0)

        def add(spec: mujoco.MjSpec) -> None:
            for name, color in zip(names, itertools.cycle(_COLORS), strict=False):
                _add(spec, name, mujoco.mjtGeom.mjGEOM_SPHERE, size, initial_position, _UPRIGHT, color)

        self._simulation.add_bodies(self, names, add)

    def set_state(self, positions: Sequence[ArrayLike]) -> None:
        """Set the position of each ball."""
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
            position: Position.
            orientation: Orientation.
            color: Color.
            pybullet_client_id: Id of the simulation.
            kwargs: Size [m]: ``halfExtents`` (3,) of a box, ``radius`` of the other shapes, and ``length`` of
                a cylinder or of the cylindrical part of a capsule.
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
        self._simulation = find_simulation(pybullet_client_id)
        self.name = name = f"mark_{next(_numbers)}"
        self._simulation.add_bodies(
            self, [name], lambda spec: _add(spec, name, shape, size, position, orientation, color)
        )

    def set_state(self, position: ArrayLike, orientation: ArrayLike) -> None:
        """Set the position and orientation of the marker."""
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
        """Add a box with lengths of its edges (3,) [m]."""
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
        """Add a cube with the length of its edges [m]."""
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
    place, rgba = numbers("position", position, 3), checked_color("color", color)
    body = spec.worldbody.add_body(name=name, pos=place, quat=wxyz(orientation), mocap=True)
    body.add_geom(name=name, type=shape, size=size, rgba=rgba, contype=0, conaffinity=0)


def _move(simulation: SimFinger, name: str, position: ArrayLike, orientation: ArrayLike) -> None:
    physics = simulation.physics
    mark = physics.model.body(name).mocapid[0]
    place, turn = numbers("position", position, 3), wxyz(orientation)
    with simulation.stepping:
        physics.data.mocap_pos[mark], physics.data.mocap_quat[mark] = place, turn

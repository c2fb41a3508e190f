"""Marks that are seen and touch nothing: goals of tips and objects, as programs for ``trifinger_simulation``
make them.

Each belongs to a simulation, by default to the first that was made, joins it at once and leaves it when it
has gone, as the objects of ``collision_objects`` do; it is seen in pictures and views.
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
"""By PyBullet's numbers ``GEOM_SPHERE``, ...: MuJoCo's, and what says how large one is."""


class Marker:
    """Balls at several positions, red, green and blue in turn."""

    def __init__(
        self,
        number_of_goals: int,
        goal_size: float = 0.015,
        initial_position: Sequence[float] = (0.18, 0.18, 0.08),
        physicsClientId: int = 0,
    ):
        """Arguments:

        number_of_goals: how many balls.
        goal_size: their radius [m].
        initial_position: (3,) where all are at first [m].
        physicsClientId: the number of their simulation.
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
        """Puts the balls at positions (3,) [m], one each."""
        for name, position in zip(self.names, positions, strict=False):
            _move(self._simulation, name, position, _UPRIGHT)


class ObjectMarker:
    """A ball, a box, a cylinder or a capsule."""

    def __init__(
        self,
        shape_type: int,
        position: ArrayLike,
        orientation: ArrayLike,
        color: Sequence[float] = (0, 1, 0, 0.5),
        pybullet_client_id: int = 0,
        **kwargs: Any,
    ):
        """Arguments:

        shape_type: PyBullet's number of the shape, a key of `SHAPES`.
        position, orientation: (3,) [m] and quaternion (x, y, z, w).
        color: red, green, blue and alpha, 0 to 1.
        pybullet_client_id: the number of its simulation.
        kwargs: its size [m]: ``halfExtents`` (3,) of a box, ``radius`` of the others, and ``length`` of a
            cylinder, or of a capsule without its caps.

        Raises:
            ValueError: no such shape, or another size.
        """
        if shape_type not in SHAPES:
            raise InvalidValueError(f"no shape_type {shape_type!r}; there are: {', '.join(map(str, SHAPES))}")
        shape, wanted = SHAPES[shape_type]
        if set(kwargs) != set(wanted):
            raise InvalidValueError(
                f"shape_type {shape_type} takes {' and '.join(wanted)}, not {', '.join(kwargs) or 'nothing'}"
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
        """Puts it somewhere: position (3,) [m], orientation a quaternion (x, y, z, w)."""
        _move(self._simulation, self.name, position, orientation)


class CuboidMarker(ObjectMarker):
    """A box."""

    def __init__(
        self,
        size: ArrayLike,
        position: ArrayLike,
        orientation: ArrayLike,
        color: Sequence[float] = (0, 1, 0, 0.5),
        pybullet_client_id: int = 0,
    ):
        """size: (3,) its edges [m]; the rest as of :class:`ObjectMarker`."""
        half = sizes("size", size, 3) / 2
        super().__init__(BOX, position, orientation, color, pybullet_client_id, halfExtents=half)


class CubeMarker(CuboidMarker):
    """A cube."""

    def __init__(
        self,
        width: float,
        position: ArrayLike,
        orientation: ArrayLike,
        color: Sequence[float] = (0, 1, 0, 0.5),
        pybullet_client_id: int = 0,
    ):
        """width: its edge [m]; the rest as of :class:`CuboidMarker`."""
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
    body = spec.worldbody.add_body(name=name, pos=place, quat=wxyz(orientation), mocap=True)
    body.add_geom(name=name, type=shape, size=size, rgba=rgba, contype=0, conaffinity=0)


def _move(simulation: SimFinger, name: str, position: ArrayLike, orientation: ArrayLike) -> None:
    physics = simulation.physics
    mark = physics.model.body(name).mocapid[0]
    place, turn = numbers("position", position, 3), wxyz(orientation)
    with simulation.stepping:
        physics.data.mocap_pos[mark], physics.data.mocap_quat[mark] = place, turn

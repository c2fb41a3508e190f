"""Marks that are seen and touch nothing: goals of tips and objects, as programs for ``trifinger_simulation``
make them.

Each belongs to a simulation, by default to the first that was made, and joins it at once, as the objects of
``collision_objects`` do; it is seen in pictures and views.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.trifinger import worlds
from tactile_sim.trifinger.objects import wxyz

if TYPE_CHECKING:
    from tactile_sim.trifinger.sim_finger import SimFinger

_COLORS = ((1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1))
_UPRIGHT = (0, 0, 0, 1)
_numbers = itertools.count()


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
        self._simulation = worlds.find(physicsClientId)
        self.names = [f"mark_{next(_numbers)}" for _ in range(number_of_goals)]
        self._simulation.edit_scene(lambda spec: self._add(spec, goal_size, initial_position))

    def _add(self, spec: mujoco.MjSpec, radius: float, position: Sequence[float]) -> None:
        for name, color in zip(self.names, itertools.cycle(_COLORS), strict=False):
            _add(spec, name, mujoco.mjtGeom.mjGEOM_SPHERE, (radius, 0, 0), position, _UPRIGHT, color)

    def set_state(self, positions: Sequence[ArrayLike]) -> None:
        """Puts the balls at positions (3,) [m], one each."""
        for name, position in zip(self.names, positions, strict=False):
            _move(self._simulation, name, position, _UPRIGHT)


class CuboidMarker:
    """A box."""

    def __init__(
        self,
        size: ArrayLike,
        position: ArrayLike,
        orientation: ArrayLike,
        color: Sequence[float] = (0, 1, 0, 0.5),
        pybullet_client_id: int = 0,
    ):
        """Arguments:

        size: (3,) its edges [m].
        position, orientation: (3,) [m] and quaternion (x, y, z, w).
        color: red, green, blue and alpha, 0 to 1.
        pybullet_client_id: the number of its simulation.
        """
        self._simulation = worlds.find(pybullet_client_id)
        self.name = f"mark_{next(_numbers)}"
        half = np.asarray(size) / 2
        self._simulation.edit_scene(
            lambda spec: _add(spec, self.name, mujoco.mjtGeom.mjGEOM_BOX, half, position, orientation, color)
        )

    def set_state(self, position: ArrayLike, orientation: ArrayLike) -> None:
        """Puts it somewhere: position (3,) [m], orientation a quaternion (x, y, z, w)."""
        _move(self._simulation, self.name, position, orientation)


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
        super().__init__([width] * 3, position, orientation, color, pybullet_client_id)


def _add(
    spec: mujoco.MjSpec,
    name: str,
    shape: mujoco.mjtGeom,
    size: ArrayLike,
    position: ArrayLike,
    orientation: ArrayLike,
    color: Sequence[float],
) -> None:
    body = spec.worldbody.add_body(name=name, pos=position, quat=wxyz(orientation), mocap=True)
    body.add_geom(name=name, type=shape, size=size, rgba=color, contype=0, conaffinity=0)


def _move(simulation: SimFinger, name: str, position: ArrayLike, orientation: ArrayLike) -> None:
    physics = simulation.physics
    mark = physics.model.body(name).mocapid[0]
    physics.data.mocap_pos[mark] = position
    physics.data.mocap_quat[mark] = wxyz(orientation)

"""Objects for the fingers to manipulate, with the interface of ``trifinger_simulation``.

An object belongs to a simulation, by default the one with id 0. Creating an object recompiles the model but
keeps the state. When the object is garbage collected, it is removed from the simulation before the next step.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence

import mujoco

from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.running import simulations
from tactile_sim.trifinger.values import sizes
from tactile_sim.trifinger.workspace import objects

_numbers = itertools.count()


def import_mesh(
    mesh_file_path: str | os.PathLike[str],
    position: Sequence[float],
    orientation: Sequence[float] = (0, 0, 0, 1),
    is_concave: bool = False,
    color_rgba: Sequence[float] | None = None,
    pybullet_client_id: int = 0,
) -> int:
    """Add a fixed mesh, which cannot be removed.

    Args:
        mesh_file_path: STL, OBJ or MSH file with lengths in metres.
        position: (3,) position in the world [m].
        orientation: Quaternion (x, y, z, w).
        is_concave: Must be False, because the convex hull of a mesh is used for collisions.
        color_rgba: (4,) red, green, blue and alpha, 0 to 1; grey by default.
        pybullet_client_id: Id of the simulation.

    Returns:
        Id of the mesh's body in the current model.

    Raises:
        InvalidValueError: ``is_concave`` is True, or the simulation or another argument is invalid.
        SceneError: The file cannot be read or is not a mesh.
    """
    if is_concave:
        raise InvalidValueError(
            f"is_concave: must be False, got {is_concave!r} for {mesh_file_path}; import convex parts instead"
        )
    simulation, name = simulations.find(pybullet_client_id), f"mesh_{next(_numbers)}"
    path = os.path.abspath(mesh_file_path)
    simulation.edit_scene(lambda spec: objects.add_mesh(spec, name, path, position, orientation, color_rgba))
    return int(simulation.physics.model.body(name).id)


class BaseCollisionObject:
    """Base class of the objects in this module.

    Attributes:
        name: Name of the object's body in the model.
    """

    def __init__(self, pybullet_client_id: int, name: str):
        """Create an object for an existing body.

        Args:
            pybullet_client_id: Id of the simulation.
            name: Name of the body.
        """
        self._simulation = simulations.find(pybullet_client_id)
        self.name = name

    def _join(self, add: Callable[[mujoco.MjSpec], object]) -> None:
        simulations.join(self._simulation, self, [self.name], add)

    def set_state(self, position: Sequence[float], orientation: Sequence[float]) -> None:
        """Set the pose of the object, and set its velocity to zero.

        Args:
            position: (3,) position in the world [m].
            orientation: Quaternion (x, y, z, w).
        """
        physics = self._simulation.physics
        with self._simulation.stepping:
            objects.set_pose(physics.model, physics.data, self.name, position, orientation)
            physics.restart()

    def get_state(self) -> tuple[list[float], list[float]]:
        """Return the position [m] and the orientation (x, y, z, w) in the world."""
        physics = self._simulation.physics
        position, orientation = objects.get_pose(physics.model, physics.data.qpos, self.name)
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
        """Add a box.

        Args:
            position: (3,) position in the world [m].
            orientation: Quaternion (x, y, z, w).
            half_extents: (3,) half lengths of the edges [m].
            mass: Mass [kg]; 0 for a fixed box.
            color_rgba: (4,) red, green, blue and alpha, 0 to 1; grey by default.
            pybullet_client_id: Id of the simulation.

        Raises:
            InvalidValueError: An argument is invalid.
        """
        super().__init__(pybullet_client_id, f"box_{next(_numbers)}")
        self._join(
            lambda spec: objects.add_box(
                spec, self.name, half_extents, mass, position, orientation, color_rgba
            )
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
        """Add a cube.

        Args:
            position: (3,) position in the world [m].
            orientation: Quaternion (x, y, z, w).
            half_width: Half length of the edges [m].
            mass: Mass [kg]; 0 for a fixed cube.
            color_rgba: (4,) red, green, blue and alpha, 0 to 1; grey by default.
            pybullet_client_id: Id of the simulation.

        Raises:
            InvalidValueError: An argument is invalid.
        """
        half = [float(sizes("half_width", half_width))] * 3
        super().__init__(position, orientation, half, mass, color_rgba, pybullet_client_id)


Block = Cube
"""Former name of `Cube`."""


class ColoredCubeV2(BaseCollisionObject):
    """Cube with six colours, a width of 0.065 m and a mass of 0.094 kg."""

    def __init__(
        self,
        position: Sequence[float] = (0, 0, 0),
        orientation: Sequence[float] = (0, 0, 0, 1),
        pybullet_client_id: int = 0,
    ):
        """Add a cube.

        Args:
            position: (3,) position in the world [m].
            orientation: Quaternion (x, y, z, w).
            pybullet_client_id: Id of the simulation.

        Raises:
            InvalidValueError: An argument is invalid.
        """
        super().__init__(pybullet_client_id, f"cube_{next(_numbers)}")
        self._join(lambda spec: objects.add_cube(spec, self.name, position, orientation))

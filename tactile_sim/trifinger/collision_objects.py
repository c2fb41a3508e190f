"""Objects that the fingers can push, lift and throw, as programs for ``trifinger_simulation`` make them.

Each belongs to a simulation, by default to the first that was made, and joins it at once: the model is
compiled anew, the state stays. When the object has gone, it leaves the simulation before the next step.
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
    """Adds a mesh that stands still and stays; the id that its body has then.

    Args:
        mesh_file_path: STL, OBJ or MSH, in metres.
        position, orientation: (3,) [m] and quaternion (x, y, z, w).
        is_concave: has to be False: the convex hull of the mesh is what collides.
        color_rgba: red, green, blue and alpha, 0 to 1; grey without.
        pybullet_client_id: the number of its simulation.

    Raises:
        ValueError: a concave mesh was asked for, or there is no such simulation.
        SceneError: the file cannot be read or is no mesh.
    """
    if is_concave:
        raise InvalidValueError(
            f"{mesh_file_path}: meshes collide by their hulls; import convex parts with is_concave=False"
        )
    simulation, name = simulations.find(pybullet_client_id), f"mesh_{next(_numbers)}"
    path = os.path.abspath(mesh_file_path)
    simulation.edit_scene(lambda spec: objects.add_mesh(spec, name, path, position, orientation, color_rgba))
    return int(simulation.physics.model.body(name).id)


class BaseCollisionObject:
    """An object of a simulation; use a class of a certain shape."""

    def __init__(self, pybullet_client_id: int, name: str):
        """pybullet_client_id: the number of its simulation. name: of its body there."""
        self._simulation = simulations.find(pybullet_client_id)
        self.name = name

    def _join(self, add: Callable[[mujoco.MjSpec], object]) -> None:
        simulations.join(self._simulation, self, [self.name], add)

    def set_state(self, position: Sequence[float], orientation: Sequence[float]) -> None:
        """Puts it somewhere, at rest: position (3,) [m], orientation a quaternion (x, y, z, w)."""
        physics = self._simulation.physics
        with self._simulation.stepping:
            objects.set_pose(physics.model, physics.data, self.name, position, orientation)
            physics.restart()

    def get_state(self) -> tuple[list[float], list[float]]:
        """Its position [m] and its orientation (x, y, z, w)."""
        physics = self._simulation.physics
        position, orientation = objects.get_pose(physics.model, physics.data, self.name)
        return position.tolist(), orientation.tolist()


class Cuboid(BaseCollisionObject):
    """A box."""

    def __init__(
        self,
        position: Sequence[float],
        orientation: Sequence[float],
        half_extents: Sequence[float],
        mass: float,
        color_rgba: Sequence[float] | None = None,
        pybullet_client_id: int = 0,
    ):
        """Arguments:

        position, orientation: (3,) [m] and quaternion (x, y, z, w), where it starts.
        half_extents: (3,) half its edges [m].
        mass: [kg]; 0 for a box that stands still.
        color_rgba: red, green, blue and alpha, 0 to 1.
        pybullet_client_id: the number of its simulation.
        """
        super().__init__(pybullet_client_id, f"box_{next(_numbers)}")
        self._join(
            lambda spec: objects.add_box(
                spec, self.name, half_extents, mass, position, orientation, color_rgba
            )
        )


class Cube(Cuboid):
    """A cube of even density."""

    def __init__(
        self,
        position: Sequence[float] = (0.15, 0.0, 0.0425),
        orientation: Sequence[float] = (0, 0, 0, 1),
        half_width: float = 0.0325,
        mass: float = 0.08,
        color_rgba: Sequence[float] | None = None,
        pybullet_client_id: int = 0,
    ):
        """half_width: half its edge [m]; the rest as of :class:`Cuboid`."""
        half = [float(sizes("half_width", half_width))] * 3
        super().__init__(position, orientation, half, mass, color_rgba, pybullet_client_id)


Block = Cube
"""The older name."""


class ColoredCubeV2(BaseCollisionObject):
    """The cube of 0.065 m and 0.094 kg whose sides have six colours."""

    def __init__(
        self,
        position: Sequence[float] = (0, 0, 0),
        orientation: Sequence[float] = (0, 0, 0, 1),
        pybullet_client_id: int = 0,
    ):
        """Arguments as of :class:`Cuboid`."""
        super().__init__(pybullet_client_id, f"cube_{next(_numbers)}")
        self._join(lambda spec: objects.add_cube(spec, self.name, position, orientation))

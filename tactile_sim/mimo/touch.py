"""MIMo's touch classes on top of `tactile_sim.skin`, as a replacement for ``mimoTouch.touch``.

Taxels are called sensors here, the name that MIMo uses. docs/mimo.md lists the differences from MIMo. Plots
import matplotlib when they are called.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.common import schema
from tactile_sim.common.errors import ConfigError, SceneError
from tactile_sim.common.names import Names
from tactile_sim.mimo.base import SkinTouch, Touch, new_spacing, scale_linear, spacing_of
from tactile_sim.skin import PLACEMENTS, Loads, Pad, Skin, TouchFunction
from tactile_sim.skin.placement.merge import Placement, colliding_geoms
from tactile_sim.skin.placement.shapes import Shape
from tactile_sim.skin.placement.surface import BodySurface, Surface

if TYPE_CHECKING:
    import trimesh
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Mesh = trimesh.Trimesh | trimesh.PointCloud

__all__ = ["DiscreteTouch", "Touch", "TrimeshTouch", "scale_linear"]

LINK = 3.0
"""Distance up to which explicitly positioned sensors are neighbors, as a multiple of their spacing."""


class DiscreteTouch(SkinTouch):
    """Touch sensors on each geom separately, including surfaces inside other geoms of the body.

    Vectors are in the frame of the sensing geom, except those of ``force_vector_global``. Changes to
    ``sensor_positions``, its entries or their elements take effect at the next `get_touch_obs`.

    In all methods ``contact_id`` is an index into ``m_data.contact``, ``geom_id`` is the id of a sensing
    geom, and ``force`` is the output (channels,) of the touch function.
    """

    def add_body(
        self, body_id: int | None = None, body_name: str | None = None, scale: float = math.inf
    ) -> int:
        """Add sensors to all colliding geoms of a body, or change their spacing.

        Args:
            body_id: Id of the body; takes precedence over ``body_name``.
            body_name: Name of the body.
            scale: Distance between sensors [m]; infinite for one sensor per geom.

        Returns:
            The number of sensors on these geoms.

        Raises:
            SceneError: If the body does not exist or has no colliding geom.
            ConfigError: If the scale is invalid or results in too many sensors.
        """
        body = self._find("body", body_id, body_name)
        geoms = colliding_geoms(self.m_model, body).tolist()
        if not geoms:
            raise SceneError(f"body {self.names.bodies[body]!r} has no colliding geom to put sensors on")
        self._add(geoms, scale, "add_body")
        self.sensor_scales[body] = scale
        return sum(map(self.get_sensor_count, geoms))

    def add_geom(
        self, geom_id: int | None = None, geom_name: str | None = None, scale: float = math.inf
    ) -> int:
        """Add sensors to a geom, or change their spacing.

        Args:
            geom_id: Id of the geom; takes precedence over ``geom_name``.
            geom_name: Name of the geom.
            scale: Distance between sensors [m]; infinite for one sensor per geom.

        Returns:
            The number of sensors on the geom.

        Raises:
            SceneError: If the geom does not exist or does not collide.
            ConfigError: If the scale is invalid or results in too many sensors.
        """
        geom = self._find("geom", geom_id, geom_name)
        body = int(self.m_model.geom_bodyid[geom])
        if geom not in colliding_geoms(self.m_model, body):
            raise SceneError(
                f"geom {self.names.geoms[geom]!r} does not collide; set contype or conaffinity to a"
                " nonzero value"
            )
        self._add([geom], scale, "add_geom")
        self.sensor_scales.setdefault(body, scale)
        return self.get_sensor_count(geom)

    @property
    def sensing_geoms(self) -> list[int]:
        """Ids of the geoms with sensors."""
        return list(self._slices)

    def has_sensors(self, geom_id: int) -> bool:
        """Return whether a geom has sensors."""
        return super().has_sensors(geom_id)

    def get_sensor_count(self, geom_id: int) -> int:
        """Return the number of sensors on a geom."""
        return len(self._sensors(geom_id))

    @property
    def sensor_positions(self) -> dict[int, np.ndarray]:
        """Positions (n, 3) [m] of the sensors, keyed by geom id, in the geom's frame."""
        self._are_positions_shared = True
        return self._positions

    @sensor_positions.setter
    def sensor_positions(self, positions: dict[int, np.ndarray]) -> None:
        self._are_positions_shared = True
        self._positions = positions

    def get_touch_obs(self) -> np.ndarray:
        """Return the readings (n, touch_size) float32 of all sensors, grouped by geom in id order.

        ``sensor_outputs`` contains the same readings by geom, in the order of ``sensor_positions``.
        """
        if self._are_positions_shared and self._positions_changed():
            self._build(*self._read_positions())
        return super().get_touch_obs()

    # -- queries ---------------------------------------------------------------------------------------------

    def get_nearest_sensor(self, contact_id: int, geom_id: int) -> tuple[int, float]:
        """Return the index and distance [m] of the sensor on a geom that is nearest to a contact."""
        distances = self._distances(contact_id, geom_id)
        nearest = int(np.argmin(distances))
        return nearest, float(distances[nearest])

    def get_k_nearest_sensors(self, contact_id: int, geom_id: int, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the k sensors on a geom that are nearest to a contact, nearest first.

        Returns:
            Indices (k,) and distances (k,) [m]; fewer if the geom has fewer than k sensors.
        """
        distances = self._distances(contact_id, geom_id)
        order = np.argsort(distances, kind="stable")[: schema.whole("k", k)]
        return order, distances[order]

    def get_sensors_within_distance(
        self, contact_id: int, geom_id: int, distance: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices and distances [m] of a geom's sensors within a distance [m] of a contact."""
        distances = self._distances(contact_id, geom_id)
        within = np.flatnonzero(distances < schema.distance("distance", distance))
        return within, distances[within]

    # -- one contact -----------------------------------------------------------------------------------------

    def get_contact_position_relative(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Return a contact's position (3,) [m] on the surface of a geom, in the geom's frame."""
        return super().get_contact_position_relative(contact_id, geom_id)

    def get_contact_normal(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Return a contact's unit normal (3,), pointing into the geom, in the geom's frame."""
        return super().get_contact_normal(contact_id, geom_id)

    def get_raw_force(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Return the force (3,) on a geom [N] along the axes of MuJoCo's contact frame.

        The axes are the normal and two tangents. The normal points out of the first geom, so a compressive
        force on that geom is negative.
        """
        return super().get_raw_force(contact_id, geom_id)

    # -- touch functions -------------------------------------------------------------------------------------

    def normal(self, contact_id: int, geom_id: int) -> float:
        """Return the force along the contact normal [N], positive in compression."""
        return self._evaluate("normal", contact_id, geom_id)

    def normal_force(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Return the normal component of the force as a vector (3,) [N], in the geom's frame."""
        return self._evaluate("normal_force", contact_id, geom_id)

    def force_vector(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Return the force (3,) including friction [N], in the geom's frame."""
        return self._evaluate("force_vector", contact_id, geom_id)

    def force_vector_global(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Return the force (3,) including friction [N], in the world frame."""
        return self._evaluate("force_vector_global", contact_id, geom_id)

    def friction(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Return the tangential component of the force as a vector (3,) [N], in the geom's frame."""
        return self._evaluate("friction", contact_id, geom_id)

    def slip(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Return the tangential velocity (3,) of the other surface [m/s], in the geom's frame.

        The velocity is relative to the geom. A sensor reads the mean over its contacts, weighted by normal
        force.
        """
        return self._evaluate("slip", contact_id, geom_id)

    # -- response functions ----------------------------------------------------------------------------------

    def nearest(self, contact_id: int, geom_id: int, force: Any) -> None:
        """Add the output of the touch function to the nearest sensor."""
        self._respond("nearest", contact_id, geom_id, force)

    def spread_linear(self, contact_id: int, geom_id: int, force: Any) -> None:
        """Distribute the touch function's output, with shares that fall linearly to 0 at twice the scale."""
        self._respond("spread_linear", contact_id, geom_id, force)

    def hertz(self, contact_id: int, geom_id: int, force: Any) -> None:
        """Distribute the output of the touch function like the Hertz pressure between elastic bodies."""
        self._respond("hertz", contact_id, geom_id, force)

    # -- plots -----------------------------------------------------------------------------------------------

    def plot_sensors_geom(
        self, geom_id: int | None = None, geom_name: str | None = None
    ) -> tuple[Figure, Axes]:
        """Plot the sensor positions of a geom, in the geom's frame; see `plots.plot_sensors_geom`."""
        from tactile_sim.mimo import plots

        return plots.plot_sensors_geom(self, geom_id, geom_name)

    def plot_force_geom(
        self, geom_id: int | None = None, geom_name: str | None = None
    ) -> tuple[Figure, Axes]:
        """Plot the readings of a geom, in the geom's frame; see `plots.plot_force_geom`."""
        from tactile_sim.mimo import plots

        return plots.plot_force_geom(self, geom_id, geom_name)

    def plot_force_body(
        self, body_id: int | None = None, body_name: str | None = None
    ) -> tuple[Figure, Axes]:
        """Plot the readings of all geoms of a body, in the body's frame; see `plots.plot_force_body`."""
        from tactile_sim.mimo import plots

        return plots.plot_force_body(self, body_id, body_name)

    # -- internal --------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._placed: dict[int, np.ndarray] = {}
        """Sensor positions of the current skin, keyed by geom id, in the geom's frame [m]."""
        self._moved: dict[int, np.ndarray] = {}
        """Positions [m] that were set through ``sensor_positions``, keyed by geom id, in the geom's frame."""
        geoms = {body: colliding_geoms(self.m_model, body).tolist() for body in self.sensor_scales}
        scales = {geom: scale for body, scale in self.sensor_scales.items() for geom in geoms[body]}
        self._build({geom: spacing_of(scale, "touch_params: scales") for geom, scale in scales.items()}, {})
        self._are_positions_shared = False

    def _add(self, geoms: list[int], scale: float, where: str) -> None:
        spacing = new_spacing(self.m_model, geoms, scale, f"{where}: scale")
        spacings, moved = self._read_positions()
        self._build(
            {**spacings, **dict.fromkeys(geoms, spacing)},
            {geom: points for geom, points in moved.items() if geom not in geoms},
        )

    def _positions_changed(self) -> bool:
        """Return whether ``sensor_positions`` differs from the positions of the current skin."""
        given = self._positions
        if not isinstance(given, dict):
            raise ConfigError(f"sensor_positions: must be a dict of geom ids to positions, got {given!r}")
        if list(given) != list(self._placed) or any(np.shape(p)[1:] != (3,) for p in given.values()):
            return True
        return bool(given) and not np.array_equal(np.concatenate(list(given.values())), self._block)

    def _read_positions(self) -> tuple[dict[int, float], dict[int, np.ndarray]]:
        """Check ``sensor_positions``, and find the geoms whose sensors were moved.

        Returns:
            Two dictionaries keyed by geom id: the spacing of the sensors on each geom [m], and the positions
            (n, 3) [m] of the sensors on each geom whose sensors were moved.
        """
        spacings, moved = {}, {}
        for geom, given in self._positions.items():
            if geom not in self._spacings:
                raise SceneError(
                    f"sensor_positions: {self._called(geom)} has no sensors; call add_geom first"
                )
            spacings[geom] = self._spacings[geom]
            points = schema.as_array(given)
            if points.ndim != 2 or points.shape[1] != 3 or len(points) == 0 or not np.isfinite(points).all():
                raise ConfigError(
                    f"sensor_positions: {self._called(geom)}: must be (n, 3) finite numbers [m] with"
                    f" n >= 1, got {schema.described(given)}"
                )
            if geom in self._moved or not np.array_equal(points, self._placed[geom]):
                moved[geom] = points
        return spacings, moved

    def _build(self, spacings: dict[int, float], moved: dict[int, np.ndarray]) -> None:
        """Build the skin and its ``sensor_positions``.

        Args:
            spacings: Distance between sensors [m], keyed by geom id.
            moved: Explicit positions (n, 3) [m] of the sensors on some geoms, keyed by geom id.
        """
        shapes = {geom: Shape.of_geom(self.m_model, geom) for geom in spacings}
        self._set_skin(_skin_of_geoms(self.m_model, shapes, spacings, moved, self._options), spacings)
        self._spacings, self._moved = spacings, moved
        by_slot = [shapes[geom] for geom in self.skin.patch_ids.tolist()]
        self._rotations = np.array([shape.rotation for shape in by_slot]).reshape(-1, 3, 3)
        self._placed = dict(moved)
        for geom, where in self._slices.items():
            shape = shapes[geom]
            self._placed.setdefault(geom, (self.skin.positions[where] - shape.position) @ shape.rotation)
        self._placed = {geom: self._placed[geom] for geom in spacings}
        self._block = np.concatenate([np.empty((0, 3)), *self._placed.values()])
        kept = {
            geom: self._positions[geom] for geom in moved if isinstance(self._positions[geom], np.ndarray)
        }
        placed = {geom: points.copy() for geom, points in self._placed.items()}
        self._positions.clear()
        self._positions.update({**placed, **kept})
        boxes = self.m_model.geom_aabb.reshape(-1, 2, 3)
        self.plotting_limits = {geom: float(np.abs(boxes[geom]).sum(axis=0).max()) for geom in spacings}

    def _called(self, geom_id: int) -> str:
        is_geom = schema.is_index(geom_id, self.m_model.ngeom)
        return f"geom {self.names.geoms[geom_id]!r}" if is_geom else f"geom {geom_id!r}"

    def _parts_of(self, geoms: np.ndarray) -> np.ndarray:
        return geoms

    def _pose(self, geom_id: int) -> tuple[np.ndarray, np.ndarray]:
        return self.m_data.geom_xpos[geom_id], self.m_data.geom_xmat[geom_id].reshape(3, 3)

    def _in_part(self, touch: TouchFunction) -> TouchFunction:
        return touch._replace(evaluate=lambda loads: touch.evaluate(self._in_geoms(loads)))

    def _in_geoms(self, loads: Loads) -> Loads:
        """Return the loads with force, normal and velocity in geom frames."""
        turned = Loads(loads.table.copy())
        _turn_loads(turned, self._rotations)
        return turned

    def _sensors(self, geom_id: int) -> np.ndarray:
        self._check_sensing(geom_id)
        return self._positions[geom_id]

    def _distances(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Return the distances (n,) [m] of a geom's sensors from a contact."""
        position = self.get_contact_position_relative(contact_id, geom_id)
        return np.linalg.norm(self._sensors(geom_id) - position, axis=1)


def _skin_of_geoms(
    model: mujoco.MjModel,
    shapes: Mapping[int, Shape],
    spacings: Mapping[int, float],
    moved: Mapping[int, np.ndarray],
    options: Mapping[str, Any],
) -> Skin:
    """Return a skin in which each geom is a separate patch.

    Args:
        model: The model.
        shapes: Shape of each geom, keyed by geom id.
        spacings: Distance between sensors [m], keyed by geom id.
        moved: Positions (n, 3) [m] in the geom's frame that replace the default ones, keyed by geom id.
        options: Further arguments of `Skin`.
    """

    def cover(_: Any, body: int, spacing: float, placement: Placement, names: Names) -> BodySurface:
        geoms = [geom for geom in sorted(shapes) if model.geom_bodyid[geom] == body]
        lay = placement.alone or placement.cover
        surfaces, links, start = [], [], 0
        for geom in geoms:
            surface = lay(shapes[geom], spacings[geom])
            if geom in moved:
                surface = _move(surface, shapes[geom], moved[geom])
                tree = cKDTree(surface.positions)
                links.append(start + tree.query_pairs(LINK * spacings[geom], output_type="ndarray"))
            surfaces.append(surface)
            start += len(surface)
        whole = BodySurface.of_parts(np.array(geoms, np.int32), surfaces)
        each = np.array([spacings[geom] for geom in geoms])
        return replace(whole, edges=np.concatenate([whole.edges, *links]), spacings=each)

    bodies = {int(model.geom_bodyid[geom]): spacing for geom, spacing in spacings.items()}
    return Skin(model, bodies, kind=cover, **options)


def _move(surface: Surface, shape: Shape, points: np.ndarray) -> Surface:
    """Replace the taxels of a geom by taxels at ``points`` (n, 3) in the geom's frame [m].

    Each new taxel has the normal and area of the nearest original taxel.
    """
    positions = points @ shape.rotation.T + shape.position
    _, nearest = cKDTree(surface.positions).query(positions)
    none = np.empty((0, 3), np.int64)
    return Surface(positions, surface.normals[nearest], surface.areas[nearest], none)


def _turn_loads(loads: Loads, rotations: np.ndarray) -> None:
    """Rotate force, normal and velocities of loads from body frames to patch frames, in place.

    Args:
        loads: The m loads.
        rotations: Rotation (p, 3, 3) from each patch's frame to the frame of its body.
    """
    for vector in (loads.force, loads.normal, loads.velocity, loads.angular_velocity):
        vector[:] = np.einsum("mi,mik->mk", vector, rotations[loads.patch])


class TrimeshTouch(SkinTouch):
    """Touch sensors on the merged geoms of each body, except on surfaces inside another geom.

    Vectors are in the frame of the sensing body, except those of ``force_vector_global``. Changes to
    ``sensor_positions`` have no effect.

    In all methods ``contact_id`` is an index into ``m_data.contact``, ``body_id`` is the id of a sensing
    body, and ``force`` is the output (channels,) of the touch function.
    """

    def add_body(
        self, body_id: int | None = None, body_name: str | None = None, scale: float = math.inf
    ) -> int:
        """Add sensors to a body, or change their spacing.

        Args:
            body_id: Id of the body; takes precedence over ``body_name``.
            body_name: Name of the body.
            scale: Distance between sensors [m]; infinite for one sensor per geom.

        Returns:
            The number of sensors on the body.

        Raises:
            SceneError: If the body does not exist or cannot have sensors.
            ConfigError: If the scale is invalid or results in too many sensors.
        """
        body = self._find("body", body_id, body_name)
        new_spacing(self.m_model, colliding_geoms(self.m_model, body).tolist(), scale, "add_body: scale")
        self._build({**self.sensor_scales, body: scale})
        return self.get_sensor_count(body)

    def sensing_bodies(self) -> list[int]:
        """Return the ids of the bodies with sensors."""
        return list(self._slices)

    def has_sensors(self, body_id: int) -> bool:
        """Return whether a body has sensors."""
        return super().has_sensors(body_id)

    def get_sensor_count(self, body_id: int) -> int:
        """Return the number of sensors on a body."""
        self._slot(body_id)
        return len(self.sensor_positions[body_id])

    # -- queries ---------------------------------------------------------------------------------------------

    def get_nearest_sensor(self, contact_pos: np.ndarray, body_id: int) -> tuple[Any, Any]:
        """Return the sensor on a body that is nearest to each position.

        Args:
            contact_pos: Position (3,), or positions (m, 3), in the body's frame [m].
            body_id: Id of the body.

        Returns:
            Index and distance [m] of the sensor, or arrays (m,) of both for several positions.
        """
        points = schema.positions("contact_pos", contact_pos)
        indices, distances = self.skin.nearest_taxels(self._slot(body_id), points)
        return (indices, distances) if points.ndim == 2 else (int(indices[0]), float(distances[0]))

    def get_k_nearest_sensors(
        self, contact_pos: np.ndarray, body_id: int, k: int, k_margin: float = 1.4
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k sensors on a body that are nearest to each position, nearest first.

        Args:
            contact_pos: Position (3,), or positions (m, 3), in the body's frame [m].
            body_id: Id of the body.
            k: Number of sensors.
            k_margin: Ignored. In MIMo it determines the size of the cache.

        Returns:
            Indices (k,) and distances (k,) [m], or (m, k) for several positions; fewer than k if the body has
            fewer sensors.
        """
        points = schema.positions("contact_pos", contact_pos)
        count = schema.whole("k", k)
        indices, distances = self.skin.k_nearest_taxels(self._slot(body_id), points, count)
        return (indices, distances) if points.ndim == 2 else (indices[0], distances[0])

    def get_sensors_within_distance(
        self, contact_pos: np.ndarray, body_id: int, distance_limit: float, distance_margin: float = 1.5
    ) -> Any:
        """Return the sensors on a body that are within a distance of each position, nearest first.

        Only sensors connected to the nearest one by a chain of neighbors within the limit are included.

        Args:
            contact_pos: Position (3,), or positions (m, 3), in the body's frame [m].
            body_id: Id of the body.
            distance_limit: Maximum distance [m].
            distance_margin: Ignored. In MIMo it determines the size of the cache.

        Returns:
            Indices and distances [m], or a list of such pairs for several positions.
        """
        points = schema.positions("contact_pos", contact_pos)
        limit = schema.distance("distance_limit", distance_limit)
        found = self.skin.taxels_within(self._slot(body_id), points, limit)
        return found if points.ndim == 2 else found[0]

    # -- one contact -----------------------------------------------------------------------------------------

    def get_contact_position_relative(self, contact_id: int, body_id: int) -> np.ndarray:
        """Return a contact's position (3,) [m] on the surface of a body, in the body's frame."""
        return super().get_contact_position_relative(contact_id, body_id)

    def get_contact_normal(self, contact_id: int, body_id: int) -> np.ndarray:
        """Return a contact's unit normal (3,), pointing into the body, in the body's frame."""
        return super().get_contact_normal(contact_id, body_id)

    def get_raw_force(self, contact_id: int, body_id: int) -> np.ndarray:
        """Return the force (3,) on a body [N] along the axes of MuJoCo's contact frame.

        The axes are the normal and two tangents. The normal points out of the first geom's body, so a
        compressive force on that body is negative.
        """
        return super().get_raw_force(contact_id, body_id)

    # -- touch functions -------------------------------------------------------------------------------------

    def normal(self, contact_id: int, body_id: int) -> float:
        """Return the force along the contact normal [N], positive in compression."""
        return self._evaluate("normal", contact_id, body_id)

    def normal_force(self, contact_id: int, body_id: int) -> np.ndarray:
        """Return the normal component of the force as a vector (3,) [N], in the body's frame."""
        return self._evaluate("normal_force", contact_id, body_id)

    def force_vector(self, contact_id: int, body_id: int) -> np.ndarray:
        """Return the force (3,) including friction [N], in the body's frame."""
        return self._evaluate("force_vector", contact_id, body_id)

    def force_vector_global(self, contact_id: int, body_id: int) -> np.ndarray:
        """Return the force (3,) including friction [N], in the world frame."""
        return self._evaluate("force_vector_global", contact_id, body_id)

    def friction(self, contact_id: int, body_id: int) -> np.ndarray:
        """Return the tangential component of the force as a vector (3,) [N], in the body's frame."""
        return self._evaluate("friction", contact_id, body_id)

    def slip(self, contact_id: int, body_id: int) -> np.ndarray:
        """Return the tangential velocity (3,) of the other surface [m/s], in the body's frame.

        The velocity is relative to the body. A sensor reads the mean over its contacts, weighted by normal
        force.
        """
        return self._evaluate("slip", contact_id, body_id)

    # -- response functions ----------------------------------------------------------------------------------

    def nearest(self, contact_id: int, body_id: int, force: Any) -> None:
        """Add the output of the touch function to the nearest sensor."""
        self._respond("nearest", contact_id, body_id, force)

    def spread_linear(self, contact_id: int, body_id: int, force: Any) -> None:
        """Distribute the touch function's output, with shares that fall linearly to 0 at twice the scale."""
        self._respond("spread_linear", contact_id, body_id, force)

    def hertz(self, contact_id: int, body_id: int, force: Any) -> None:
        """Distribute the output of the touch function like the Hertz pressure between elastic bodies."""
        self._respond("hertz", contact_id, body_id, force)

    # -- the meshes ------------------------------------------------------------------------------------------

    @property
    def meshes(self) -> dict[int, Mesh]:
        """Mesh of each body in the body's frame, keyed by body id. Some vertices are not sensors."""
        return self._sensor_meshes.meshes

    @property
    def active_vertices(self) -> dict[int, np.ndarray]:
        """Boolean mask over the vertices of each body's mesh; True for sensors, False inside another geom."""
        return self._sensor_meshes.active_vertices

    @property
    def _submeshes(self) -> dict[int, list[Mesh]]:
        """The meshes of each body's geoms, in the body's frame."""
        return self._sensor_meshes.submeshes

    @property
    def _active_subvertices(self) -> dict[int, list[np.ndarray]]:
        """Boolean mask over the vertices of each geom's mesh; True for sensors, False inside another geom."""
        return self._sensor_meshes.active_subvertices

    @property
    def _vertex_to_sensor_idx(self) -> dict[int, list[np.ndarray]]:
        """Sensor index on the body for each vertex of each geom's mesh; valid only for active vertices."""
        return self._sensor_meshes.vertex_to_sensor_idx

    # -- plots -----------------------------------------------------------------------------------------------

    def plot_sensors_body(
        self, body_id: int | None = None, body_name: str | None = None, title: str = ""
    ) -> tuple[Figure, Axes]:
        """Plot the sensor positions of a body, in the body's frame; see `plots.plot_sensors_body`."""
        from tactile_sim.mimo import plots

        return plots.plot_sensors_body(self, body_id, body_name, title)

    def plot_force_body(
        self, body_id: int | None = None, body_name: str | None = None, title: str = ""
    ) -> tuple[Figure, Axes]:
        """Plot the readings of a body, in the body's frame; see `plots.plot_force_body`."""
        from tactile_sim.mimo import plots

        return plots.plot_force_body(self, body_id, body_name, title)

    def plot_force_bodies(
        self,
        body_ids: list[int] | tuple[int, ...] = (),
        body_names: list[str] | tuple[str, ...] = (),
        title: str = "",
        focus: str = "world",
        show_contact_points: bool = True,
    ) -> tuple[Figure, Axes]:
        """Plot the readings of several bodies in their current poses; see `plots.plot_force_bodies`."""
        from tactile_sim.mimo import plots

        return plots.plot_force_bodies(self, body_ids, body_names, title, focus, show_contact_points)

    def plot_force_body_subtree(
        self,
        body_id: int | None = None,
        body_name: str | None = None,
        title: str = "",
        show_contact_points: bool = False,
    ) -> tuple[Figure, Axes]:
        """Plot the readings of a body and its descendants, see `plots.plot_force_body_subtree`."""
        from tactile_sim.mimo import plots

        return plots.plot_force_body_subtree(self, body_id, body_name, title, show_contact_points)

    def visualize_contacts_subtree(
        self,
        root_id: int | None = None,
        root_name: str | None = None,
        show_contact_points: bool = False,
        focus_body: str | None = None,
        camera_offset: np.ndarray | None = None,
    ) -> tuple[Figure, Axes]:
        """Render a body and its descendants with readings; see `plots.visualize_contacts_subtree`."""
        from tactile_sim.mimo import plots

        return plots.visualize_contacts_subtree(
            self, root_id, root_name, show_contact_points, focus_body, camera_offset
        )

    # -- internal --------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._build(self.sensor_scales)

    def _build(self, scales: dict[int, float]) -> None:
        """Build a skin with the specified distance between sensors on each body.

        Args:
            scales: Distance between sensors [m], keyed by body id.
        """
        spacings = {body: spacing_of(scale, "touch_params: scales") for body, scale in scales.items()}
        self._set_skin(Skin(self.m_model, spacings, **self._options), spacings)
        self.sensor_scales = scales
        self.sensor_positions = {
            body: self.skin.positions[where].copy() for body, where in self._slices.items()
        }
        self.plotting_limits = {}
        for body in scales:
            geoms = self.skin.pads[self._slots[body]].geom_ids
            reach = np.abs(self.m_model.geom_pos[geoms]).max(axis=1) + self.m_model.geom_rbound[geoms]
            self.plotting_limits[body] = float(reach.max())
        self._sensor_meshes = SensorMeshes(self.m_model, self.skin, self._options["placement"], list(scales))
        self._neighbour_cache = NeighborCache(len(self.skin.positions))

    def _slot(self, body_id: int) -> int:
        self._check_sensing(body_id)
        return self._slots[body_id]

    def _called(self, body_id: int) -> str:
        is_body = schema.is_index(body_id, self.m_model.nbody)
        return f"body {self.names.bodies[body_id]!r}" if is_body else f"body {body_id!r}"

    def _parts_of(self, geoms: np.ndarray) -> np.ndarray:
        return np.where(geoms < 0, -1, self.m_model.geom_bodyid[geoms])

    def _pose(self, body_id: int) -> tuple[np.ndarray, np.ndarray]:
        return self.m_data.xpos[body_id], self.m_data.xmat[body_id].reshape(3, 3)


class SensorMeshes:
    """Meshes of the bodies with skin, in body frames, built on first access.

    All attributes are dictionaries keyed by body id, in the order of ``bodies``. Meshes also contain the
    vertices inside other geoms of the body; these vertices are not sensors. If the placement merges the geoms
    of a body into one surface with sensors along the seams, this surface is the body's only mesh.
    """

    def __init__(self, model: mujoco.MjModel, skin: Skin, placement: str, bodies: list[int]) -> None:
        self._model, self._skin, self._placement = model, skin, PLACEMENTS[placement]
        by_id = {body.body_id: body for body in skin.pads}
        self._bodies = [by_id[body] for body in bodies]

    @cached_property
    def submeshes(self) -> dict[int, list[Mesh]]:
        """List of the meshes of each body's geoms. A mesh with a single vertex is a point cloud instead."""
        return {body: [_mesh(*part[:2]) for part in parts] for body, parts in self._parts.items()}

    @cached_property
    def meshes(self) -> dict[int, Mesh]:
        """Mesh of each body: the meshes of its geoms, concatenated."""
        meshes = {}
        for body, parts in self._parts.items():
            start = np.cumsum([0, *(len(vertices) for vertices, _, _ in parts)])
            triangles = [faces + first for (_, faces, _), first in zip(parts, start[:-1], strict=True)]
            meshes[body] = _mesh(np.concatenate([part[0] for part in parts]), np.concatenate(triangles))
        return meshes

    @cached_property
    def active_subvertices(self) -> dict[int, list[np.ndarray]]:
        """Masks over the vertices of each mesh in ``submeshes``; True for vertices that are sensors."""
        return {body: [active for _, _, active in parts] for body, parts in self._parts.items()}

    @cached_property
    def active_vertices(self) -> dict[int, np.ndarray]:
        """Mask over the vertices of each body's mesh; True for vertices that are sensors."""
        return {body: np.concatenate(active) for body, active in self.active_subvertices.items()}

    @cached_property
    def vertex_to_sensor_idx(self) -> dict[int, list[np.ndarray]]:
        """Sensor index on the body for each vertex of each geom's mesh; valid only for active vertices."""
        indices = {}
        for body, masks in self.active_subvertices.items():
            ends = np.cumsum([len(mask) for mask in masks])
            indices[body] = np.split(np.cumsum(np.concatenate(masks)) - 1, ends[:-1])
        return indices

    @cached_property
    def _parts(self) -> dict[int, list[tuple[np.ndarray, np.ndarray, np.ndarray]]]:
        """Vertices (n, 3), triangles (t, 3) and sensor mask (n,) of each mesh of each body."""
        return {body.body_id: self._parts_of(body) for body in self._bodies}

    def _parts_of(self, body: Pad) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        sensors = self._skin.positions[body.start : body.stop]
        known = {sensor.tobytes() for sensor in sensors}
        shapes = [Shape.of_geom(self._model, geom) for geom in body.geom_ids]
        covers = [self._placement.cover(shape, body.spacing) for shape in shapes]
        active = [np.array([vertex.tobytes() in known for vertex in cover.positions]) for cover in covers]
        if sum(map(np.count_nonzero, active)) != len(sensors):
            return [(sensors, body.triangles, np.ones(len(sensors), bool))]
        return [(c.positions, c.triangles, mask) for c, mask in zip(covers, active, strict=True)]


class NeighborCache:
    """Replacement for MIMo's neighbor cache that only reports statistics.

    All neighbor lists are computed in advance, so nothing is cached.
    """

    def __init__(self, sensors: int) -> None:
        self.currsize = self.maxsize = sensors
        """Number of sensors that have a neighbor list."""

    @property
    def _cache(self) -> NeighborCache:
        return self

    def hits(self) -> float:
        """Return the hit rate, which is always 1."""
        return 1.0


def _mesh(vertices: np.ndarray, triangles: np.ndarray) -> Mesh:
    import trimesh

    if len(vertices) == 1:
        return trimesh.PointCloud(vertices)
    return trimesh.Trimesh(vertices, triangles, process=False)

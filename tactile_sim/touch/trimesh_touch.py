"""Touch with one skin over all geoms of a body."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tactile_sim import arguments
from tactile_sim.skin import Skin
from tactile_sim.skin.placement.merge import colliding_geoms
from tactile_sim.touch.meshes import NeighbourCache, SensorMeshes
from tactile_sim.touch.plot_methods import BodyPlots
from tactile_sim.touch.skin_touch import SkinTouch, new_spacing, spacing_of

if TYPE_CHECKING:
    from tactile_sim.touch.meshes import Mesh


class TrimeshTouch(BodyPlots, SkinTouch):
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
        points = arguments.positions("contact_pos", contact_pos)
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
        points = arguments.positions("contact_pos", contact_pos)
        count = arguments.whole("k", k)
        indices, distances = self.skin.k_nearest_taxels(self._slot(body_id), points, count)
        return (indices, distances) if points.ndim == 2 else (indices[0], distances[0])

    def get_sensors_within_distance(
        self, contact_pos: np.ndarray, body_id: int, distance_limit: float, distance_margin: float = 1.5
    ) -> Any:
        """Return the sensors on a body that are within a distance of each position, nearest first.

        Only sensors connected to the nearest one by a chain of neighbours within the limit are included.

        Args:
            contact_pos: Position (3,), or positions (m, 3), in the body's frame [m].
            body_id: Id of the body.
            distance_limit: Maximum distance [m].
            distance_margin: Ignored. In MIMo it determines the size of the cache.

        Returns:
            Indices and distances [m], or a list of such pairs for several positions.
        """
        points = arguments.positions("contact_pos", contact_pos)
        limit = arguments.distance("distance_limit", distance_limit)
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
        self._neighbour_cache = NeighbourCache(len(self.skin.positions))

    def _slot(self, body_id: int) -> int:
        self._check_sensing(body_id)
        return self._slots[body_id]

    def _called(self, body_id: int) -> str:
        is_body = arguments.is_index(body_id, self.m_model.nbody)
        return f"body {self.names.bodies[body_id]!r}" if is_body else f"body {body_id!r}"

    def _parts_of(self, geoms: np.ndarray) -> np.ndarray:
        return np.where(geoms < 0, -1, self.m_model.geom_bodyid[geoms])

    def _pose(self, body_id: int) -> tuple[np.ndarray, np.ndarray]:
        return self.m_data.xpos[body_id], self.m_data.xmat[body_id].reshape(3, 3)

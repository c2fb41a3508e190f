"""Touch with one skin over all geoms of a body."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tactile_sim.skin import Skin
from tactile_sim.skin.placement.merge import colliding_geoms
from tactile_sim.touch import arguments
from tactile_sim.touch.meshes import NeighbourCache, SensorMeshes
from tactile_sim.touch.skin_touch import SkinTouch, new_spacing, spacing_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tactile_sim.touch.meshes import Mesh


class TrimeshTouch(SkinTouch):
    """Sensors on bodies: those of its geoms merged, without what lies inside a sibling.

    All vectors but those of ``force_vector_global`` are in the frame of the sensing body. Altering
    ``sensor_positions`` alters nothing.
    """

    def add_body(
        self, body_id: int | None = None, body_name: str | None = None, scale: float = math.inf
    ) -> int:
        """Adds sensors to a body, or spaces them anew; how many it has.

        body_id wins over body_name; scale: the distance between sensors [m].
        """
        body = self._find("body", body_id, body_name)
        new_spacing(self.m_model, colliding_geoms(self.m_model, body).tolist(), scale, "add_body: scale")
        self._build({**self.sensor_scales, body: scale})
        return self.get_sensor_count(body)

    def sensing_bodies(self) -> list[int]:
        """Ids of the bodies with sensors."""
        return list(self._slices)

    def has_sensors(self, body_id: int) -> bool:
        """Whether a body has sensors."""
        return body_id in self._slices

    def get_sensor_count(self, body_id: int) -> int:
        """The number of sensors on a body."""
        self._slot(body_id)
        return len(self.sensor_positions[body_id])

    # -- queries ---------------------------------------------------------------------------------------------

    def get_nearest_sensor(self, contact_pos: np.ndarray, body_id: int) -> tuple[Any, Any]:
        """The sensor of a body nearest to a position (3,) in its frame, and how far away it is [m].

        For positions (m, 3): arrays (m,) of both.
        """
        points = arguments.positions("contact_pos", contact_pos)
        indices, distances = self.skin.nearest_taxels(self._slot(body_id), points)
        return (indices, distances) if points.ndim == 2 else (int(indices[0]), float(distances[0]))

    def get_k_nearest_sensors(
        self, contact_pos: np.ndarray, body_id: int, k: int, k_margin: float = 1.4
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices (k,) of the sensors of a body nearest to a position (3,) in its frame, nearest first, and
        how far away they are (k,) [m].

        All of them where the body has fewer. For positions (m, 3): arrays (m, k). k_margin sized a cache that
        is not needed any more.
        """
        points = arguments.positions("contact_pos", contact_pos)
        count = arguments.count("k", k)
        indices, distances = self.skin.k_nearest_taxels(self._slot(body_id), points, count)
        return (indices, distances) if points.ndim == 2 else (indices[0], distances[0])

    def get_sensors_within_distance(
        self, contact_pos: np.ndarray, body_id: int, distance_limit: float, distance_margin: float = 1.5
    ) -> Any:
        """Indices of the sensors of a body within a limit [m] of a position (3,) in its frame, nearest first,
        and how far away they are [m].

        Only those that a path over such sensors joins to the nearest one. For positions (m, 3): a list of
        such pairs. distance_margin sized a cache that is not needed any more.
        """
        points = arguments.positions("contact_pos", contact_pos)
        limit = arguments.distance("distance_limit", distance_limit)
        found = self.skin.taxels_within(self._slot(body_id), points, limit)
        return found if points.ndim == 2 else found[0]

    # -- one contact -----------------------------------------------------------------------------------------

    def get_contact_position_relative(self, contact_id: int, body_id: int) -> np.ndarray:
        """(3,) where a contact is on a body's own surface [m], in its frame."""
        return super().get_contact_position_relative(contact_id, body_id)

    def get_contact_normal(self, contact_id: int, body_id: int) -> np.ndarray:
        """(3,) unit normal of a contact, into the body, in its frame."""
        return super().get_contact_normal(contact_id, body_id)

    def get_raw_force(self, contact_id: int, body_id: int) -> np.ndarray:
        """(3,) force on a body along the rows of MuJoCo's contact frame [N]: normal and two tangents.

        The frame's normal leads out of the first geom's body, which so feels a negative normal force.
        """
        return super().get_raw_force(contact_id, body_id)

    # -- touch functions -------------------------------------------------------------------------------------

    def normal(self, contact_id: int, body_id: int) -> float:
        """Touch function: force along the contact normal [N], positive where it pushes into the body."""
        return self._evaluate("normal", contact_id, body_id)

    def normal_force(self, contact_id: int, body_id: int) -> np.ndarray:
        """Touch function: (3,) the part of the force along the contact normal [N], in the body's frame."""
        return self._evaluate("normal_force", contact_id, body_id)

    def force_vector(self, contact_id: int, body_id: int) -> np.ndarray:
        """Touch function: (3,) the force with its friction [N], in the body's frame."""
        return self._evaluate("force_vector", contact_id, body_id)

    def force_vector_global(self, contact_id: int, body_id: int) -> np.ndarray:
        """Touch function: (3,) the force with its friction [N], in the world frame."""
        return self._evaluate("force_vector_global", contact_id, body_id)

    def friction(self, contact_id: int, body_id: int) -> np.ndarray:
        """Touch function: (3,) the part of the force across the contact normal [N], in the body's frame."""
        return self._evaluate("friction", contact_id, body_id)

    def slip(self, contact_id: int, body_id: int) -> np.ndarray:
        """Touch function: (3,) velocity of the other's surface over the body's [m/s], in the body's frame.

        Sensors tell its mean over their contacts, each counted by its normal force.
        """
        return self._evaluate("slip", contact_id, body_id)

    # -- response functions ----------------------------------------------------------------------------------

    def nearest(self, contact_id: int, body_id: int, force: Any) -> None:
        """Response function: adds what a contact gives to the nearest sensor."""
        self._respond("nearest", contact_id, body_id, force)

    def spread_linear(self, contact_id: int, body_id: int, force: Any) -> None:
        """Response function: in shares that fall linearly with the distance, to 0 at twice the scale."""
        self._respond("spread_linear", contact_id, body_id, force)

    def hertz(self, contact_id: int, body_id: int, force: Any) -> None:
        """Response function: in shares like the pressure between elastic bodies."""
        self._respond("hertz", contact_id, body_id, force)

    # -- the meshes ------------------------------------------------------------------------------------------

    @property
    def meshes(self) -> dict[int, Mesh]:
        """The mesh of all sensors of each body, in its frame; also of those that are not active."""
        return self._sensor_meshes.meshes

    @property
    def active_vertices(self) -> dict[int, np.ndarray]:
        """Which vertices of each body's mesh are sensors, not hidden in a sibling geom."""
        return self._sensor_meshes.active_vertices

    @property
    def _submeshes(self) -> dict[int, list[Mesh]]:
        """The meshes of each body's geoms, in its frame."""
        return self._sensor_meshes.submeshes

    @property
    def _active_subvertices(self) -> dict[int, list[np.ndarray]]:
        """As `active_vertices`, for each geom."""
        return self._sensor_meshes.active_subvertices

    @property
    def _vertex_to_sensor_idx(self) -> dict[int, list[np.ndarray]]:
        """For each geom the index of each active vertex among the body's sensors."""
        return self._sensor_meshes.vertex_to_sensor_idx

    # -- plots -----------------------------------------------------------------------------------------------

    def plot_sensors_body(
        self, body_id: int | None = None, body_name: str | None = None, title: str = ""
    ) -> tuple[Figure, Axes]:
        """Where the sensors of a body are; as in `tactile_sim.plots`, like all plots below."""
        from tactile_sim import plots

        return plots.plot_sensors_body(self, body_id, body_name, title)

    def plot_force_body(
        self, body_id: int | None = None, body_name: str | None = None, title: str = ""
    ) -> tuple[Figure, Axes]:
        """What the sensors of a body feel."""
        from tactile_sim import plots

        return plots.plot_force_body(self, body_id, body_name, title)

    def plot_force_bodies(
        self,
        body_ids: list[int] | tuple[int, ...] = (),
        body_names: list[str] | tuple[str, ...] = (),
        title: str = "",
        focus: str = "world",
        show_contact_points: bool = True,
    ) -> tuple[Figure, Axes]:
        """What the sensors of several bodies feel, where they are now; focus: world, or first, its frame."""
        from tactile_sim import plots

        return plots.plot_force_bodies(self, body_ids, body_names, title, focus, show_contact_points)

    def plot_force_body_subtree(
        self,
        body_id: int | None = None,
        body_name: str | None = None,
        title: str = "",
        show_contact_points: bool = False,
    ) -> tuple[Figure, Axes]:
        """What the sensors of a body and of all that hang on it feel, in its frame."""
        from tactile_sim import plots

        return plots.plot_force_body_subtree(self, body_id, body_name, title, show_contact_points)

    def visualize_contacts_subtree(
        self,
        root_id: int | None = None,
        root_name: str | None = None,
        show_contact_points: bool = False,
        focus_body: str | None = None,
        camera_offset: np.ndarray | None = None,
    ) -> tuple[Figure, Axes]:
        """A neat picture of a body and of all that hang on it: colour and size of a sensor by its force."""
        from tactile_sim import plots

        return plots.visualize_contacts_subtree(
            self, root_id, root_name, show_contact_points, focus_body, camera_offset
        )

    # -- inside ----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._build(self.sensor_scales)

    def _build(self, scales: dict[int, float]) -> None:
        """Sensors on these bodies, this far apart [m]."""
        spacings = {body: spacing_of(scale, "touch_params: scales") for body, scale in scales.items()}
        self._bear(Skin(self.m_model, spacings, **self._options), spacings)
        self.sensor_scales = scales
        self.sensor_positions = {
            body: self.skin.positions[where].copy() for body, where in self._slices.items()
        }
        self.plotting_limits = {}
        for body in scales:
            geoms = self.skin.bodies[self._slots[body]].geom_ids
            reach = np.abs(self.m_model.geom_pos[geoms]).max(axis=1) + self.m_model.geom_rbound[geoms]
            self.plotting_limits[body] = float(reach.max())
        self._sensor_meshes = SensorMeshes(self.m_model, self.skin, self._options["placement"], list(scales))
        self._neighbour_cache = NeighbourCache(len(self.skin.positions))

    def _slot(self, body_id: int) -> int:
        self._check_sensing(body_id)
        return self._slots[body_id]

    def _called(self, body_id: int) -> str:
        return (
            f"body {self.names.bodies[body_id]!r}"
            if body_id in range(self.m_model.nbody)
            else f"body {body_id}"
        )

    def _parts_of(self, geoms: np.ndarray) -> np.ndarray:
        return np.where(geoms < 0, -1, self.m_model.geom_bodyid[geoms])

    def _pose(self, body_id: int) -> tuple[np.ndarray, np.ndarray]:
        return self.m_data.xpos[body_id], self.m_data.xmat[body_id].reshape(3, 3)

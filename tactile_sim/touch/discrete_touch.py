"""Touch with a skin on each geom by itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tactile_sim.errors import ConfigError, SceneError
from tactile_sim.skin import Loads, TouchFunction
from tactile_sim.skin.placement.merge import colliding_geoms
from tactile_sim.skin.placement.shapes import Shape
from tactile_sim.touch import arguments
from tactile_sim.touch.geom_skin import skin_of_geoms, turn_loads
from tactile_sim.touch.skin_touch import SkinTouch, new_spacing, spacing_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class DiscreteTouch(SkinTouch):
    """Sensors on geoms, each by itself: nothing is left out where geoms meet.

    All vectors but those of ``force_vector_global`` are in the frame of the sensing geom. Altering
    ``sensor_positions``, its entries or their elements, alters the output from the next `get_touch_obs` on.
    """

    def add_body(
        self, body_id: int | None = None, body_name: str | None = None, scale: float = math.inf
    ) -> int:
        """Adds sensors to all colliding geoms of a body, or spaces them anew; how many they have.

        body_id wins over body_name; scale: the distance between sensors [m].
        """
        body = self._find("body", body_id, body_name)
        geoms = colliding_geoms(self.m_model, body).tolist()
        if not geoms:
            raise SceneError(f"body {self.names.bodies[body]!r} has no geom that collides, so it cannot feel")
        self._add(geoms, scale, "add_body")
        self.sensor_scales[body] = scale
        return sum(map(self.get_sensor_count, geoms))

    def add_geom(
        self, geom_id: int | None = None, geom_name: str | None = None, scale: float = math.inf
    ) -> int:
        """Adds sensors to a geom, or spaces them anew; how many it has.

        geom_id wins over geom_name; scale: the distance between sensors [m].
        """
        geom = self._find("geom", geom_id, geom_name)
        body = int(self.m_model.geom_bodyid[geom])
        if geom not in colliding_geoms(self.m_model, body):
            raise SceneError(
                f"geom {self.names.geoms[geom]!r} does not collide, so it cannot feel; give it a contype or"
                " conaffinity other than 0"
            )
        self._add([geom], scale, "add_geom")
        self.sensor_scales.setdefault(body, scale)
        return self.get_sensor_count(geom)

    @property
    def sensing_geoms(self) -> list[int]:
        """Ids of the geoms with sensors."""
        return list(self._slices)

    def has_sensors(self, geom_id: int) -> bool:
        """Whether a geom has sensors."""
        return geom_id in self._slices

    def get_sensor_count(self, geom_id: int) -> int:
        """The number of sensors on a geom."""
        return len(self._sensors(geom_id))

    @property
    def sensor_positions(self) -> dict[int, np.ndarray]:
        """(n, 3) where the sensors of each geom are [m], in its frame."""
        self._handed_out = True
        return self._positions

    @sensor_positions.setter
    def sensor_positions(self, positions: dict[int, np.ndarray]) -> None:
        self._handed_out = True
        self._positions = positions

    def get_touch_obs(self) -> np.ndarray:
        """(n, touch_size) float32: what all sensors feel now, geom after geom in the order of their ids.

        By geom in ``sensor_outputs``, aligned with ``sensor_positions``.
        """
        if self._handed_out and self._altered():
            self._build(*self._taken_over())
        return super().get_touch_obs()

    # -- queries ---------------------------------------------------------------------------------------------

    def get_nearest_sensor(self, contact_id: int, geom_id: int) -> tuple[int, float]:
        """The sensor of a geom nearest to a contact, and how far away it is [m]."""
        distances = self._distances(contact_id, geom_id)
        nearest = int(np.argmin(distances))
        return nearest, float(distances[nearest])

    def get_k_nearest_sensors(self, contact_id: int, geom_id: int, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(k,) indices of the sensors of a geom nearest to a contact, nearest first, and their distances [m].

        All of them where the geom has fewer.
        """
        distances = self._distances(contact_id, geom_id)
        order = np.argsort(distances, kind="stable")[: arguments.count("k", k)]
        return order, distances[order]

    def get_sensors_within_distance(
        self, contact_id: int, geom_id: int, distance: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices of the sensors of a geom within a distance [m] of a contact, and their distances [m]."""
        distances = self._distances(contact_id, geom_id)
        within = np.flatnonzero(distances < arguments.distance("distance", distance))
        return within, distances[within]

    # -- one contact -----------------------------------------------------------------------------------------

    def get_contact_position_relative(self, contact_id: int, geom_id: int) -> np.ndarray:
        """(3,) where a contact is on a geom's own surface [m], in its frame."""
        return super().get_contact_position_relative(contact_id, geom_id)

    def get_contact_normal(self, contact_id: int, geom_id: int) -> np.ndarray:
        """(3,) unit normal of a contact, into the geom, in its frame."""
        return super().get_contact_normal(contact_id, geom_id)

    def get_raw_force(self, contact_id: int, geom_id: int) -> np.ndarray:
        """(3,) force on a geom along the rows of MuJoCo's contact frame [N]: normal and two tangents.

        The frame's normal leads out of the first geom, which so feels a negative normal force.
        """
        return super().get_raw_force(contact_id, geom_id)

    # -- touch functions -------------------------------------------------------------------------------------

    def normal(self, contact_id: int, geom_id: int) -> float:
        """Touch function: force along the contact normal [N], positive where it pushes into the geom."""
        return self._evaluate("normal", contact_id, geom_id)

    def normal_force(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Touch function: (3,) the part of the force along the contact normal [N], in the geom's frame."""
        return self._evaluate("normal_force", contact_id, geom_id)

    def force_vector(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Touch function: (3,) the force with its friction [N], in the geom's frame."""
        return self._evaluate("force_vector", contact_id, geom_id)

    def force_vector_global(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Touch function: (3,) the force with its friction [N], in the world frame."""
        return self._evaluate("force_vector_global", contact_id, geom_id)

    def friction(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Touch function: (3,) the part of the force across the contact normal [N], in the geom's frame."""
        return self._evaluate("friction", contact_id, geom_id)

    def slip(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Touch function: (3,) velocity of the other's surface over the geom's [m/s], in the geom's frame.

        Sensors tell its mean over their contacts, each counted by its normal force.
        """
        return self._evaluate("slip", contact_id, geom_id)

    # -- response functions ----------------------------------------------------------------------------------

    def nearest(self, contact_id: int, geom_id: int, force: Any) -> None:
        """Response function: adds what a contact gives to the nearest sensor."""
        self._respond("nearest", contact_id, geom_id, force)

    def spread_linear(self, contact_id: int, geom_id: int, force: Any) -> None:
        """Response function: in shares that fall linearly with the distance, to 0 at twice the scale."""
        self._respond("spread_linear", contact_id, geom_id, force)

    def hertz(self, contact_id: int, geom_id: int, force: Any) -> None:
        """Response function: in shares like the pressure between elastic bodies."""
        self._respond("hertz", contact_id, geom_id, force)

    # -- plots -----------------------------------------------------------------------------------------------

    def plot_sensors_geom(
        self, geom_id: int | None = None, geom_name: str | None = None
    ) -> tuple[Figure, Axes]:
        """Where the sensors of a geom are; as in `tactile_sim.plots`, like all plots below."""
        from tactile_sim import plots

        return plots.plot_sensors_geom(self, geom_id, geom_name)

    def plot_force_geom(
        self, geom_id: int | None = None, geom_name: str | None = None
    ) -> tuple[Figure, Axes]:
        """What the sensors of a geom feel."""
        from tactile_sim import plots

        return plots.plot_force_geom(self, geom_id, geom_name)

    def plot_force_body(
        self, body_id: int | None = None, body_name: str | None = None
    ) -> tuple[Figure, Axes]:
        """What the sensors of all geoms of a body feel."""
        from tactile_sim import plots

        return plots.plot_force_body(self, body_id, body_name)

    # -- inside ----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._placed: dict[int, np.ndarray] = {}
        """Where sensors are as the skin has them, by geom, in its frame."""
        self._moved: dict[int, np.ndarray] = {}
        """Of these what came from outside."""
        geoms = {body: colliding_geoms(self.m_model, body).tolist() for body in self.sensor_scales}
        scales = {geom: scale for body, scale in self.sensor_scales.items() for geom in geoms[body]}
        self._build({geom: spacing_of(scale, "touch_params: scales") for geom, scale in scales.items()}, {})
        self._handed_out = False

    def _add(self, geoms: list[int], scale: float, where: str) -> None:
        spacing = new_spacing(self.m_model, geoms, scale, f"{where}: scale")
        spacings, moved = self._taken_over()
        self._build(
            {**spacings, **dict.fromkeys(geoms, spacing)},
            {geom: points for geom, points in moved.items() if geom not in geoms},
        )

    def _altered(self) -> bool:
        """Whether ``sensor_positions`` are not those that the skin was built with."""
        given = self._positions
        if not isinstance(given, dict):
            raise ConfigError(f"sensor_positions: needs a dict of geom ids to positions, but is {given!r}")
        if list(given) != list(self._placed) or any(np.shape(p)[1:] != (3,) for p in given.values()):
            return True
        return bool(given) and not np.array_equal(np.concatenate(list(given.values())), self._block)

    def _taken_over(self) -> tuple[dict[int, float], dict[int, np.ndarray]]:
        """The spacings [m] of the geoms in ``sensor_positions``, and the positions that came from outside."""
        spacings, moved = {}, {}
        for geom, given in self._positions.items():
            if geom not in self._spacings:
                raise SceneError(
                    f"sensor_positions: {self._called(geom)} has no sensors yet; call add_geom first"
                )
            spacings[geom] = self._spacings[geom]
            points = arguments.numbers(given).copy()
            if points.ndim != 2 or points.shape[1] != 3 or len(points) == 0 or not np.isfinite(points).all():
                raise ConfigError(
                    f"sensor_positions: {self._called(geom)} needs (n, 3) finite numbers [m], n at least 1;"
                    f" there is an array of shape {points.shape}"
                )
            if geom in self._moved or not np.array_equal(points, self._placed[geom]):
                moved[geom] = points
        return spacings, moved

    def _build(self, spacings: dict[int, float], moved: dict[int, np.ndarray]) -> None:
        """Sensors on these geoms, by their spacings [m], some of them where they were moved to."""
        shapes = {geom: Shape.of_geom(self.m_model, geom) for geom in spacings}
        self._bear(skin_of_geoms(self.m_model, shapes, spacings, moved, self._options), spacings)
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

    def _sensors(self, geom_id: int) -> np.ndarray:
        self._check_sensing(geom_id)
        return self._positions[geom_id]

    def _distances(self, contact_id: int, geom_id: int) -> np.ndarray:
        """(n,) from each sensor of a geom to a contact [m]."""
        position = self.get_contact_position_relative(contact_id, geom_id)
        return np.linalg.norm(self._sensors(geom_id) - position, axis=1)

    def _called(self, geom_id: int) -> str:
        return (
            f"geom {self.names.geoms[geom_id]!r}"
            if geom_id in range(self.m_model.ngeom)
            else f"geom {geom_id}"
        )

    def _parts_of(self, geoms: np.ndarray) -> np.ndarray:
        return geoms

    def _pose(self, geom_id: int) -> tuple[np.ndarray, np.ndarray]:
        return self.m_data.geom_xpos[geom_id], self.m_data.geom_xmat[geom_id].reshape(3, 3)

    def _in_part(self, touch: TouchFunction) -> TouchFunction:
        return touch._replace(evaluate=lambda loads: touch.evaluate(self._in_geoms(loads)))

    def _in_geoms(self, loads: Loads) -> Loads:
        """The same loads, with force, normal and velocity in the frames of the geoms."""
        table = loads.table.copy()
        turn_loads(table, self._rotations)
        return Loads(table)

"""Touch with a separate skin on each geom."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tactile_sim import arguments
from tactile_sim.errors import ConfigError, SceneError
from tactile_sim.skin import Loads, TouchFunction
from tactile_sim.skin.placement.merge import colliding_geoms
from tactile_sim.skin.placement.shapes import Shape
from tactile_sim.touch.geom_skin import skin_of_geoms, turn_loads
from tactile_sim.touch.nearby_sensors import NearbySensors
from tactile_sim.touch.plot_methods import GeomPlots
from tactile_sim.touch.skin_touch import SkinTouch, new_spacing, spacing_of


class DiscreteTouch(GeomPlots, NearbySensors, SkinTouch):
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
            points = arguments.as_array(given)
            if points.ndim != 2 or points.shape[1] != 3 or len(points) == 0 or not np.isfinite(points).all():
                raise ConfigError(
                    f"sensor_positions: {self._called(geom)}: must be (n, 3) finite numbers [m] with"
                    f" n >= 1, got {arguments.described(given)}"
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
        self._set_skin(skin_of_geoms(self.m_model, shapes, spacings, moved, self._options), spacings)
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
        is_geom = arguments.is_index(geom_id, self.m_model.ngeom)
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
        turn_loads(turned, self._rotations)
        return turned

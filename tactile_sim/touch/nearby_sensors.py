"""Queries for the sensors of a geom that are near a contact."""

from __future__ import annotations

import numpy as np

from tactile_sim import arguments
from tactile_sim.touch.by_contact import ContactTouch


class NearbySensors(ContactTouch):
    """Methods of a touch system with a separate skin on each geom.

    A subclass must set ``_positions``, the positions (n, 3) [m] of the sensors in the frame of their geom,
    keyed by geom id.
    """

    _positions: dict[int, np.ndarray]

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
        order = np.argsort(distances, kind="stable")[: arguments.whole("k", k)]
        return order, distances[order]

    def get_sensors_within_distance(
        self, contact_id: int, geom_id: int, distance: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices and distances [m] of a geom's sensors within a distance [m] of a contact."""
        distances = self._distances(contact_id, geom_id)
        within = np.flatnonzero(distances < arguments.distance("distance", distance))
        return within, distances[within]

    def _sensors(self, geom_id: int) -> np.ndarray:
        self._check_sensing(geom_id)
        return self._positions[geom_id]

    def _distances(self, contact_id: int, geom_id: int) -> np.ndarray:
        """Return the distances (n,) [m] of a geom's sensors from a contact."""
        position = self.get_contact_position_relative(contact_id, geom_id)
        return np.linalg.norm(self._sensors(geom_id) - position, axis=1)

"""RViz markers of contacts and net touch."""

from __future__ import annotations

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim.ros import cdr
from tactile_sim.simulation import Simulation
from tactile_sim.snapshot import Snapshot

COLORS = np.array(
    [[0.1, 0.8, 0.2, 1], [0.9, 0.15, 0.1, 1], [0.15, 0.35, 1, 1], [1, 0.8, 0.1, 1], [1, 1, 1, 1]]
)
"""Of normal, first and second tangential and net forces, and of contact points."""
_WHITE = 4
_NO_TURN = (0.0, 0.0, 0.0, 1.0)
_NOTHING = np.empty((0, 3))
_BALL = (2.0, 2.0, 2.0)
_SHAFT_AND_HEAD = (0.6, 1.5, 2.0)
"""Diameters of an arrow's shaft and head and length of its head, in radii of a contact point."""


class Markers:
    """``markers``: contact points white, normal forces green, first tangents red, second tangents blue, and
    the net touch of each body yellow, all as they act on the second body of a contact."""

    def __init__(self, simulation: Simulation, world: str):
        self._simulation = simulation
        self._world = world

    def __call__(self, snapshot: Snapshot) -> bytes:
        settings = self._simulation.settings.markers
        contacts = snapshot.contacts
        ends, parts = snapshot.force_arrows(settings.force_scale)
        arrows, points = len(ends), int(len(contacts) > 0)
        width = settings.contact_radius
        # What was drawn before goes away as the new comes, so that nothing outlives its contact.
        kinds = [Marker.ARROW] + [Marker.SPHERE_LIST] * points + [Marker.ARROW] * arrows
        markers = cdr.Columns(
            header={"stamp": snapshot.stamp, "frame_id": self._world},
            ns=["", *["contact_points"] * points, *["forces"] * arrows],
            id=np.concatenate([np.zeros(1 + points, int), np.arange(arrows)]),
            type=kinds,
            action=[Marker.DELETEALL] + [Marker.ADD] * (points + arrows),
            pose={"orientation": _NO_TURN},
            scale=width * np.array([_BALL, *[_BALL] * points, *[_SHAFT_AND_HEAD] * arrows]),
            color=COLORS[[*[_WHITE] * (1 + points), *parts]],
            points=[_NOTHING, *[contacts.position] * points, *ends],
        )
        return cdr.encode(MarkerArray, {"markers": markers})

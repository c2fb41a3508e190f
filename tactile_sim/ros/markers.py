"""RViz markers of contacts and net touch."""

from __future__ import annotations

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim.ros import cdr
from tactile_sim.simulation import Simulation
from tactile_sim.snapshot import Snapshot

_LOOKS = (
    ("forces", Marker.ARROW, Marker.ADD, (0.1, 0.8, 0.2, 1.0)),
    ("forces", Marker.ARROW, Marker.ADD, (0.9, 0.15, 0.1, 1.0)),
    ("forces", Marker.ARROW, Marker.ADD, (0.15, 0.35, 1.0, 1.0)),
    ("forces", Marker.ARROW, Marker.ADD, (1.0, 0.8, 0.1, 1.0)),
    ("contact_points", Marker.SPHERE_LIST, Marker.ADD, (1.0, 1.0, 1.0, 1.0)),
    ("", Marker.ARROW, Marker.DELETEALL, (1.0, 1.0, 1.0, 1.0)),
)
"""Namespace, type, action and colour of markers: arrows as `tactile_sim.arrows` has them, then these two."""
_POINTS, _CLEAR = 4, 5
_BALL = (2.0, 2.0, 2.0)
_SHAFT_AND_HEAD = (0.6, 1.5, 2.0)
"""Diameters of an arrow's shaft and head and length of its head, in radii of a contact point."""


class Markers:
    """``markers``: contact points white, normal forces green, first tangents red, second tangents blue, and
    the net touch of each body yellow, all as they act on the second body of a contact."""

    def __init__(self, simulation: Simulation, world: str):
        self._simulation = simulation
        self._world = world
        self._radius = 0.0

    def __call__(self, snapshot: Snapshot) -> bytes:
        settings = self._simulation.settings.markers
        if settings.contact_radius != self._radius:
            self._radius = settings.contact_radius
            self._form = self._make_form()
        positions = snapshot.contacts.position
        ends, parts = snapshot.force_arrows(settings.force_scale)
        # What was drawn before goes away as the new comes, so that nothing outlives its contact.
        first = 2 if len(positions) else 1
        keys = np.empty((first + len(ends), 4), np.int32)
        """What each is, its id, where its points begin, and how many they are."""
        keys[0] = _CLEAR, 0, 0, 0
        keys[1:first] = _POINTS, 0, 0, len(positions)
        arrows = keys[first:]
        arrows[:, 0] = parts
        arrows[:, 1] = np.arange(len(ends))
        arrows[:, 2] = len(positions) + 2 * arrows[:, 1]
        arrows[:, 3] = 2
        points = np.concatenate([positions, ends.reshape(-1, 3)])
        return self._form.fill(snapshot.stamp, keys, points=points)

    def _make_form(self) -> cdr.Form:
        spaces, types, actions, colors = zip(*_LOOKS, strict=True)
        scales = self._radius * np.array([_BALL if kind == _POINTS else _SHAFT_AND_HEAD for kind in range(6)])
        marker = {
            "header": {"stamp": cdr.STAMP, "frame_id": self._world},
            "ns": cdr.Pick(0, spaces),
            "id": cdr.Key(1),
            "type": cdr.Pick(0, types),
            "action": cdr.Pick(0, actions),
            "pose": {"orientation": {"w": 1.0}},
            "scale": cdr.Pick(0, scales.tolist()),
            "color": cdr.Pick(0, colors),
            "points": cdr.Slice(2, 3),
        }
        return cdr.form(MarkerArray, {"markers": cdr.Each(marker)})

"""RViz markers of contacts and net touch."""

from __future__ import annotations

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim.ros import cdr
from tactile_sim.simulation import Simulation
from tactile_sim.snapshot import Snapshot

WHITE, GREEN, RED, BLUE, YELLOW = np.array(
    [[1, 1, 1, 1], [0.1, 0.8, 0.2, 1], [0.9, 0.15, 0.1, 1], [0.15, 0.35, 1, 1], [1, 0.8, 0.1, 1]], float
)
SHORTEST = 1e-4
"""Arrows shorter than this [m] are not drawn."""
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
        starts, vectors, colors = self._contact_arrows(snapshot)
        net_starts, net_vectors = self._net_arrows(snapshot)
        starts, vectors = (
            np.vstack([starts, net_starts]),
            np.vstack([vectors, net_vectors]) * settings.force_scale,
        )
        colors = np.vstack([colors, np.tile(YELLOW, (len(net_starts), 1))])
        long = np.linalg.norm(vectors, axis=1) > SHORTEST
        starts, vectors, colors = starts[long], vectors[long], colors[long]

        arrows, points = len(starts), int(len(contacts) > 0)
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
            color=np.vstack([np.tile(WHITE, (1 + points, 1)), colors]),
            points=[_NOTHING, *[contacts.position] * points, *np.stack([starts, starts + vectors], axis=1)],
        )
        return cdr.encode(MarkerArray, {"markers": markers})

    def _contact_arrows(self, snapshot: Snapshot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Starts, forces on the second body and colours of the three parts of each contact, world."""
        contacts = snapshot.contacts
        parts = contacts.wrench[:, :3, None] * contacts.frame
        colors = np.tile([GREEN, RED, BLUE], (len(contacts), 1))
        return np.repeat(contacts.position, 3, axis=0), parts.reshape(-1, 3), colors

    def _net_arrows(self, snapshot: Snapshot) -> tuple[np.ndarray, np.ndarray]:
        """Origins of the skin bodies and the net forces on them, world."""
        engine = self._simulation.engine
        bodies = [body.body_id for body in self._simulation.skin.bodies]
        forces = np.einsum("nij,nj->ni", engine.body_rotations[bodies], snapshot.wrenches[:, :3])
        return engine.body_positions[bodies], forces

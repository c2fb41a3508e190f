"""RViz markers of contacts and net touch."""

from __future__ import annotations

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim.ros import cdr
from tactile_sim.simulation import Simulation, Snapshot

WHITE, GREEN, RED, BLUE, YELLOW = np.array(
    [[1, 1, 1, 1], [0.1, 0.8, 0.2, 1], [0.9, 0.15, 0.1, 1], [0.15, 0.35, 1, 1], [1, 0.8, 0.1, 1]], float
)
SHORTEST = 1e-4
"""Arrows shorter than this [m] are not drawn."""
_NO_TURN = (0.0, 0.0, 0.0, 1.0)


class Markers:
    """``markers``: contact points white, normal forces green, first tangents red, second tangents blue, and
    the net touch of each body yellow, all as they act on the second body of a contact."""

    def __init__(self, simulation: Simulation, world: str):
        self._simulation = simulation
        self._world = world
        self._arrows = 0

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

        # Arrows of the last message that have no successor are taken away.
        arrows, before = len(starts), self._arrows
        self._arrows = arrows
        gone = max(0, before - arrows)
        width = settings.contact_radius
        actions = [
            Marker.ADD if len(contacts) else Marker.DELETE,
            *[Marker.ADD] * arrows,
            *[Marker.DELETE] * gone,
        ]
        markers = cdr.Columns(
            header={"stamp": snapshot.stamp, "frame_id": self._world},
            ns=["contact_points", *["forces"] * (arrows + gone)],
            id=np.concatenate([[0], np.arange(arrows + gone)]),
            type=[Marker.SPHERE_LIST, *[Marker.ARROW] * (arrows + gone)],
            action=actions,
            pose={"orientation": _NO_TURN},
            scale=np.vstack(
                [[2 * width] * 3, np.tile([0.6 * width, 1.5 * width, 2.0 * width], (arrows + gone, 1))]
            ),
            color=np.vstack([WHITE, colors, np.tile(WHITE, (gone, 1))]),
            points=[
                contacts.position,
                *np.stack([starts, starts + vectors], axis=1),
                *[np.empty((0, 3))] * gone,
            ],
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

"""Messages of feelers: ``tactile/<body>/feelers`` and ``tactile/<body>/feelers_layout``."""

from __future__ import annotations

import zlib

import numpy as np

from tactile_sim.msg import TactileArray, TactileLayout
from tactile_sim.names import topic_token
from tactile_sim.ros import cdr
from tactile_sim.simulation import Simulation, Snapshot


class FeelerMessages:
    """Encodes the messages of a simulation's feelers; ``index`` refers to ``feelers.bodies``."""

    def __init__(self, simulation: Simulation):
        self._simulation = simulation
        feelers = simulation.feelers
        parts = [feelers.positions, feelers.normals, feelers.lengths, feelers.offsets]
        self._layout_id = zlib.crc32(b"".join(part.tobytes() for part in parts))
        self.tokens = [topic_token(body.name) for body in feelers.bodies]
        self._arrays = [
            cdr.template(
                TactileArray,
                {
                    "header": {"stamp": cdr.STAMP, "frame_id": simulation.frames[body.body_id]},
                    "layout_id": self._layout_id,
                    "pad": body.name,
                    "body": body.name,
                    "quantity": "feeler",
                    "unit": "m",
                    "taxel_count": body.stop - body.start,
                    "channels": 1,
                    "data": cdr.Payload(),
                },
            )
            for body in feelers.bodies
        ]

    def array(self, index: int, snapshot: Snapshot) -> bytes:
        """Return ``tactile/<body>/feelers``: the free length of each feeler [m].

        Args:
            index: Index of the body in ``feelers.bodies``.
            snapshot: The snapshot.

        Returns:
            The encoded message.
        """
        body = self._simulation.feelers.bodies[index]
        free = snapshot.feelers[body.start : body.stop].astype(np.float32)
        return self._arrays[index].fill(snapshot.stamp, data=free)

    def layout(self, index: int, stamp: int) -> bytes:
        """Return ``tactile/<body>/feelers_layout``, stamped with a time [ns].

        Args:
            index: Index of the body in ``feelers.bodies``.
            stamp: Time [ns].

        Returns:
            The encoded message.
        """
        simulation = self._simulation
        body = simulation.feelers.bodies[index]
        placed = body.placed
        return cdr.encode(
            TactileLayout,
            {
                "header": {"stamp": stamp, "frame_id": simulation.frames[body.body_id]},
                "layout_id": self._layout_id,
                "pad": body.name,
                "body": body.name,
                "spacing": placed.spacing,
                "positions": placed.positions.ravel(),
                "normals": placed.normals.ravel(),
                "geoms": [simulation.names.geoms[part.geom_id] for part in placed.parts],
                "geom_index": placed.geom_index,
                "lengths": placed.lengths,
                "uv": placed.uv.ravel(),
                "image_width": placed.width,
                "image_height": placed.height,
                "pixels": placed.pixels,
            },
        )

"""Topics for feelers: ``tactile/<body>/feelers`` and ``tactile/<body>/feelers_layout``."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np

from tactile_sim.common.names import topic_token
from tactile_sim.feelers.feelers import FeelerBody
from tactile_sim.msg import TactileArray, TactileLayout
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, filled, header, latched
from tactile_sim.simulation import Simulation


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield two topics for each body with feelers: their free lengths [m] and their layout."""
    feelers = simulation.feelers
    parts = [feelers.positions, feelers.normals, feelers.lengths, feelers.offsets]
    layout_id = zlib.crc32(b"".join(part.tobytes() for part in parts))
    for body in feelers.bodies:
        yield from _body_topics(simulation, body, layout_id)


def _body_topics(simulation: Simulation, body: FeelerBody, layout_id: int) -> Iterator[Topic]:
    placed, token, frame = body.placed, topic_token(body.name), simulation.frames[body.body_id]
    fields = {
        "header": header(frame),
        "layout_id": layout_id,
        "pad": body.name,
        "body": body.name,
        "quantity": "feeler",
        "unit": "m",
        "taxel_count": body.stop - body.start,
        "channels": 1,
        "data": cdr.Payload(),
    }
    yield filled(
        "feelers",
        TactileArray,
        f"tactile/{token}/feelers",
        fields,
        lambda snapshot: {"data": snapshot.feelers[body.start : body.stop].astype(np.float32)},
    )
    yield latched(
        TactileLayout,
        f"tactile/{token}/feelers_layout",
        lambda stamp: {
            "header": header(frame, stamp),
            "layout_id": layout_id,
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

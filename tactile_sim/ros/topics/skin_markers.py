"""RViz markers of the skin: the force on taxels, drawn over the skin's own triangles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim.drawing.colors import level_colors, levels
from tactile_sim.drawing.force_scale import taxel_scale
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, header
from tactile_sim.simulation import Simulation, Snapshot
from tactile_sim.skin.kernels import place_in_world

LIFT = 0.05
"""Height of the triangles above the surface, over the spacing: RViz draws the geoms at the surface."""


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield ``skin_markers``: one list of triangles, those with contact at one corner or more, in the world.

    The colours of the corners are those of the views, on a logarithmic scale that ends at
    ``markers.taxel_scale``.

    Args:
        simulation: The simulation.
    """
    engine, skin, world = simulation.engine, simulation.skin, simulation.settings.world_frame
    spacings = np.repeat(skin.spacings, np.diff(skin.offsets))
    corners = skin.positions + LIFT * spacings[:, None] * skin.normals
    parts = [pad.triangles.astype(np.int64) + pad.start for pad in skin.pads]
    triangles = np.concatenate([np.empty((0, 3), np.int64), *parts])
    largest = taxel_scale(engine.model)

    def make(snapshot: Snapshot) -> bytes:
        scale = simulation.settings.markers.taxel_scale or largest
        level = levels(np.linalg.norm(snapshot.forces_world, axis=1), scale)
        lit = triangles[(level > 0.0)[triangles].any(axis=1)].ravel()
        # Delete what was drawn before in the same message; RViz warns of a list without points.
        markers = [_marker(world, snapshot.stamp, action=Marker.DELETEALL)]
        if len(lit):
            placed = np.empty_like(corners)
            poses = engine.body_positions, engine.body_rotations
            place_in_world(corners, skin.offsets, skin.pad_bodies, *poses, placed)
            colors = np.ones((len(lit), 4), np.float32)
            colors[:, :3] = level_colors(level[lit]) / np.float32(255.0)
            markers.append(_marker(world, snapshot.stamp, points=placed[lit], colors=colors))
        return cdr.encode(MarkerArray, {"markers": markers})

    yield Topic("markers", MarkerArray, "skin_markers", make)


def _marker(world: str, stamp: int, **fields: Any) -> dict[str, Any]:
    return {
        "header": header(world, stamp),
        "ns": "skin",
        "type": Marker.TRIANGLE_LIST,
        "action": Marker.ADD,
        "pose": {"orientation": {"w": 1.0}},
        "scale": {"x": 1.0, "y": 1.0, "z": 1.0},
        "color": {"r": 1.0, "g": 1.0, "b": 1.0, "a": 1.0},
        **fields,
    }

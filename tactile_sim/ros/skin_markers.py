"""RViz markers of the skin: the force on taxels, drawn over the skin's own triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim.drawing.colors import level_colors, levels
from tactile_sim.drawing.force_scale import taxel_scale
from tactile_sim.ros import cdr
from tactile_sim.simulation import Simulation, Snapshot
from tactile_sim.skin.kernels import place_in_world

LIFT = 0.05
"""Height of the triangles above the surface, over the spacing: RViz draws the geoms at the surface."""


class SkinMarkers:
    """Encodes the topic ``skin_markers`` for RViz.

    One list of triangles, those with contact at one corner or more, in the world frame. The colours of the
    corners are those of the views, on a logarithmic scale that ends at ``markers.taxel_scale``.
    """

    def __init__(self, simulation: Simulation, world: str):
        self._simulation, self._world = simulation, world
        skin = simulation.skin
        spacings = np.repeat(skin.spacings, np.diff(skin.offsets))
        self._corners = skin.positions + LIFT * spacings[:, None] * skin.normals
        parts = [pad.triangles.astype(np.int64) + pad.start for pad in skin.pads]
        self._triangles = np.concatenate([np.empty((0, 3), np.int64), *parts])
        self._end = taxel_scale(simulation.engine.model)

    def __call__(self, snapshot: Snapshot) -> bytes:
        forces, end = snapshot.forces_world, self._simulation.settings.markers.taxel_scale or self._end
        level = levels(np.linalg.norm(forces, axis=1), end)
        lit = self._triangles[(level > 0.0)[self._triangles].any(axis=1)].ravel()
        # Delete what was drawn before in the same message; RViz warns of a list without points.
        markers: list[dict[str, Any]] = [self._marker(snapshot.stamp, action=Marker.DELETEALL)]
        if len(lit):
            engine, skin = self._simulation.engine, self._simulation.skin
            corners = np.empty_like(self._corners)
            poses = engine.body_positions, engine.body_rotations
            place_in_world(self._corners, skin.offsets, skin.pad_bodies, *poses, corners)
            colors = np.ones((len(lit), 4), np.float32)
            colors[:, :3] = level_colors(level[lit]) / np.float32(255.0)
            markers.append(self._marker(snapshot.stamp, points=corners[lit], colors=colors))
        return cdr.encode(MarkerArray, {"markers": markers})

    def _marker(self, stamp: int, **fields: Any) -> dict[str, Any]:
        return {
            "header": {"stamp": stamp, "frame_id": self._world},
            "ns": "skin",
            "type": Marker.TRIANGLE_LIST,
            "action": Marker.ADD,
            "pose": {"orientation": {"w": 1.0}},
            "scale": {"x": 1.0, "y": 1.0, "z": 1.0},
            "color": {"r": 1.0, "g": 1.0, "b": 1.0, "a": 1.0},
            **fields,
        }

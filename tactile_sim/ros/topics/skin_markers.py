"""RViz markers for the skin: its triangles, coloured by the forces on the taxels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim.figures.arrows import LitTriangles
from tactile_sim.figures.colors import taxel_scale
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, header
from tactile_sim.simulation import Simulation, Snapshot

LIFT = 0.05
"""Height of the triangles above the surface, relative to the spacing. RViz draws geoms at the surface."""


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield ``skin_markers``: all triangles with contact at one or more corners, one marker for each pad.

    The markers are locked to the frames of the bodies, so that RViz moves them with every ``/tf``, like the
    geoms. The colours are the same as in the views, on a logarithmic scale that ends at
    ``markers.taxel_scale`` [N].
    """
    skin, world = simulation.skin, simulation.settings.world_frame
    find_lit, largest = LitTriangles(skin, LIFT), taxel_scale(simulation.engine.model)
    frames = [simulation.frames[body] for body in skin.pad_bodies]

    @cache
    def template(count: int) -> cdr.MessageTemplate:
        """Return the template for a number of pads in contact; its keys (1, count) are their indices."""
        # Delete the previous triangles in the same message. RViz reports an error for a list without points,
        # and for two markers of one message that have the same namespace and id, also if one of them is a
        # deletion.
        clear = _marker(world, ns="", action=Marker.DELETEALL)
        lit = [
            _marker(
                cdr.Lookup(column, frames),
                id=cdr.IntColumn(column),
                frame_locked=True,
                points=cdr.Payload(),
                colors=cdr.Payload(),
            )
            for column in range(count)
        ]
        return cdr.template(MarkerArray, {"markers": [clear, *lit]})

    def make(snapshot: Snapshot) -> bytes:
        scale = simulation.settings.markers.taxel_scale or largest
        pads, corners, colors = find_lit(snapshot.forces_world, scale)
        if not len(pads):
            return template(0).fill(snapshot.stamp)
        data = tuple(part for both in zip(corners, colors, strict=True) for part in both)
        return template(len(pads)).fill(snapshot.stamp, pads[None], data=data)

    yield Topic("markers", MarkerArray, "skin_markers", make, frames=tuple(frames))


def _marker(frame: Any, **fields: Any) -> dict[str, Any]:
    return {
        "header": header(frame),
        "ns": "skin",
        "type": Marker.TRIANGLE_LIST,
        "action": Marker.ADD,
        "pose": {"orientation": {"w": 1.0}},
        "scale": {"x": 1.0, "y": 1.0, "z": 1.0},
        "color": {"r": 1.0, "g": 1.0, "b": 1.0, "a": 1.0},
        **fields,
    }

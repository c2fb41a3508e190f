"""RViz markers for the skin: its triangles, coloured by the forces on the taxels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim.drawing.force_scale import taxel_scale
from tactile_sim.drawing.lit_triangles import LitTriangles
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, header
from tactile_sim.simulation import Simulation, Snapshot

LIFT = 0.05
"""Height of the triangles above the surface, relative to the spacing. RViz draws geoms at the surface."""


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield ``skin_markers``: all triangles with contact at one or more corners, in the world frame.

    The colours are the same as in the views, on a logarithmic scale that ends at ``markers.taxel_scale`` [N].
    """
    engine, world = simulation.engine, simulation.settings.world_frame
    find_lit, largest = LitTriangles(simulation.skin, LIFT), taxel_scale(engine.model)
    # Delete the previous triangles in the same message. RViz warns about a list without points, and about
    # two markers with the same ns and id, even if the first one deletes.
    clear = _marker(world, ns="", action=Marker.DELETEALL)
    lit = _marker(world, points=cdr.Payload(), colors=cdr.Payload())
    without, with_triangles = (
        cdr.template(MarkerArray, {"markers": markers}) for markers in ([clear], [clear, lit])
    )

    def make(snapshot: Snapshot) -> bytes:
        scale = simulation.settings.markers.taxel_scale or largest
        data = find_lit(snapshot.forces_world, scale, engine.body_positions, engine.body_rotations)
        if len(data[0]):
            return with_triangles.fill(snapshot.stamp, data=data)
        return without.fill(snapshot.stamp)

    yield Topic("markers", MarkerArray, "skin_markers", make)


def _marker(world: str, **fields: Any) -> dict[str, Any]:
    return {
        "header": header(world),
        "ns": "skin",
        "type": Marker.TRIANGLE_LIST,
        "action": Marker.ADD,
        "pose": {"orientation": {"w": 1.0}},
        "scale": {"x": 1.0, "y": 1.0, "z": 1.0},
        "color": {"r": 1.0, "g": 1.0, "b": 1.0, "a": 1.0},
        **fields,
    }

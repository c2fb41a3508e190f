"""Topics for the scene: markers, which RViz shows without a URDF, and a URDF."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import mujoco
import numpy as np
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim.common.frames import to_xyzw
from tactile_sim.config import robot_description
from tactile_sim.geometry.shapes import capsule_mesh, geom_colors, geom_mesh
from tactile_sim.ros.topic import Topic, header, latched
from tactile_sim.simulation import Simulation

PLANE_EXTENT = 10.0
"""Half the edge length of the squares that represent infinite planes [m]."""
PLANE_THICKNESS = 0.001
"""Thickness of the boxes that represent planes [m]."""

_GEOM = mujoco.mjtGeom


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield ``scene_markers`` (all visible geoms in the frames of their bodies) and ``robot_description``.

    If foxglove_msgs is installed, also yield ``scene_update``, which contains the same geoms.

    Geoms that MuJoCo's viewer hides by default (groups 3 and up) and geoms with alpha 0 are left out. Markers
    are published again when ``/tf`` gets a new subscriber, because RViz drops markers that arrive before
    the frames of the current run.
    """
    model, names = simulation.engine.model, simulation.names
    markers = _markers(model, names.geoms, simulation.frames)
    fields = {"markers": markers}
    yield latched(MarkerArray, "scene_markers", lambda _: fields, again_after="/tf")
    if find_spec("foxglove_msgs"):
        from tactile_sim.ros.topics.scene_update import scene_update  # requires the package

        yield scene_update(markers)
    description = {"data": robot_description(simulation.settings, model, names)}
    yield latched(String, "robot_description", lambda _: description)


def _markers(model: mujoco.MjModel, names: list[str], frames: list[str]) -> list[dict[str, Any]]:
    colors = geom_colors(model)
    return [
        {
            "header": header(frames[model.geom_bodyid[geom]], 0),
            "ns": names[geom],
            "id": geom,
            "frame_locked": True,
            "pose": np.concatenate([model.geom_pos[geom], to_xyzw(model.geom_quat[geom])]),
            "color": colors[geom],
            **_shape(model, geom),
        }
        for geom in range(model.ngeom)
        if model.geom_group[geom] < 3 and colors[geom, 3] > 0.0
    ]


def _shape(model: mujoco.MjModel, geom: int) -> dict[str, Any]:
    """Return the type, scale and triangles of a geom as marker fields."""
    size = model.geom_size[geom]
    match _GEOM(model.geom_type[geom]):
        case _GEOM.mjGEOM_SPHERE:
            return {"type": Marker.SPHERE, "scale": [2 * size[0]] * 3}
        case _GEOM.mjGEOM_ELLIPSOID:
            return {"type": Marker.SPHERE, "scale": 2 * size}
        case _GEOM.mjGEOM_BOX:
            return {"type": Marker.CUBE, "scale": 2 * size}
        case _GEOM.mjGEOM_CYLINDER:
            return {"type": Marker.CYLINDER, "scale": [2 * size[0], 2 * size[0], 2 * size[1]]}
        case _GEOM.mjGEOM_PLANE:
            sides = 2 * np.where(size[:2] > 0.0, size[:2], PLANE_EXTENT)
            return {"type": Marker.CUBE, "scale": [*sides, PLANE_THICKNESS]}
        case _GEOM.mjGEOM_CAPSULE:
            vertices, faces = capsule_mesh(size[0], size[1])
        case _:
            vertices, faces = geom_mesh(model, geom)
    return {"type": Marker.TRIANGLE_LIST, "scale": [1.0] * 3, "points": vertices[faces].reshape(-1, 3)}

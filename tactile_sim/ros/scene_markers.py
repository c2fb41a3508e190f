"""RViz markers of the scene's geoms, so that RViz shows the scene without a URDF."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim.frames import to_xyzw
from tactile_sim.geometry.shapes import capsule_mesh, geom_colors, geom_mesh
from tactile_sim.ros import cdr

PLANE_EXTENT = 10.0
"""Half size at which infinite planes are drawn [m]."""
PLANE_THICKNESS = 0.001
"""Thickness at which planes are drawn [m]."""

_GEOM = mujoco.mjtGeom


def scene_markers(model: mujoco.MjModel, names: list[str], frames: list[str]) -> bytes:
    """Return a MarkerArray of all visible geoms as CDR bytes, each in the frame of its body.

    Geoms that MuJoCo's viewer hides by default (groups 3 and up) and those with alpha 0 are left out.

    Args:
        model: The model.
        names: Names of the geoms by id.
        frames: Names of the bodies' frames by id.

    Returns:
        The encoded message.
    """
    colors = geom_colors(model)
    markers = [
        {
            "header": {"stamp": 0, "frame_id": frames[model.geom_bodyid[geom]]},
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
    return cdr.encode(MarkerArray, {"markers": markers})


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

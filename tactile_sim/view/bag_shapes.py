"""Shapes from the markers of a scene, as ``scene_markers`` has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.view import primitives
from tactile_sim.view.world import Shape

ADD = 0
CUBE, SPHERE, CYLINDER, TRIANGLES = 1, 2, 3, 11
"""Of visualization_msgs/Marker."""
_SOLIDS = {CUBE: primitives.box, SPHERE: primitives.ellipsoid, CYLINDER: primitives.cylinder}


def frames(value: Any) -> list[str]:
    """The frames of the markers of a decoded MarkerArray."""
    return list(value.markers.header.frame_id)


def shapes(value: Any, bodies: dict[str, int]) -> Iterator[Shape]:
    """Those of a decoded MarkerArray that are solids or triangles; bodies: index by frame."""
    markers = value.markers
    for k, frame in enumerate(frames(value)):
        made = _mesh(markers, k)
        if markers.action[k] != ADD or made is None or frame not in bodies:
            continue
        vertices, faces = made
        turn = Rotation.from_quat(markers.pose.orientation[k])
        placed = turn.apply(vertices) + markers.pose.position[k]
        yield Shape(markers.ns[k], bodies[frame], placed, faces, np.asarray(markers.color[k], float))


def _mesh(markers: Any, k: int) -> primitives.Mesh | None:
    kind = int(markers.type[k])
    if kind in _SOLIDS:
        return _SOLIDS[kind](markers.scale[k])
    if kind == TRIANGLES and len(markers.points[k]):
        corners = markers.points[k] * markers.scale[k]
        vertices, faces = np.unique(corners, axis=0, return_inverse=True)
        return vertices, faces.reshape(-1, 3)
    return None

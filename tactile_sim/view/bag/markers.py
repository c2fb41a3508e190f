"""Convert the markers on the topic ``scene_markers`` to shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.bag.messages import ADD, CUBE, CYLINDER, SPHERE, TRIANGLES
from tactile_sim.view.content import Shape
from tactile_sim.view.scene import primitives

_PRIMITIVES = {CUBE: primitives.box, SPHERE: primitives.ellipsoid, CYLINDER: primitives.cylinder}


def frames(value: Any) -> list[str]:
    """Return the frame id of each marker in a decoded MarkerArray."""
    return list(value.markers.header.frame_id)


def shapes(value: Any, bodies: dict[str, int], invalid: list[str]) -> Iterator[Shape]:
    """Yield a shape for each marker that is a primitive or a triangle list.

    As in RViz, an orientation of zeros means no rotation.

    Args:
        value: A decoded MarkerArray.
        bodies: Body indices, keyed by frame. Markers in other frames are skipped.
        invalid: List to which the names of markers are added that contain numbers that are not finite.
    """
    markers = value.markers
    for k, frame in enumerate(frames(value)):
        mesh = _mesh(markers, k)
        if markers.action[k] != ADD or mesh is None or frame not in bodies:
            continue
        vertices, faces = mesh
        orientation = markers.pose.orientation[k]
        numbers = (vertices, markers.pose.position[k], orientation, markers.color[k])
        if not all(np.isfinite(each).all() for each in numbers):
            invalid.append(markers.ns[k])
            continue
        rotation = Rotation.from_quat(orientation) if orientation.any() else Rotation.identity()
        placed = rotation.apply(vertices) + markers.pose.position[k]
        yield Shape(markers.ns[k], bodies[frame], placed, faces, np.asarray(markers.color[k], float))


def _mesh(markers: Any, k: int) -> primitives.Mesh | None:
    kind = int(markers.type[k])
    if kind in _PRIMITIVES:
        return _PRIMITIVES[kind](markers.scale[k])
    if kind == TRIANGLES and len(markers.points[k]):
        corners = markers.points[k] * markers.scale[k]
        vertices, faces = np.unique(corners, axis=0, return_inverse=True)
        return vertices, faces.reshape(-1, 3)
    return None

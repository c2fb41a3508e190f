"""The scene as ``foxglove_msgs/SceneUpdate``. Import this module only if foxglove_msgs is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from foxglove_msgs.msg import SceneUpdate
from visualization_msgs.msg import Marker

from tactile_sim.ros.topic import Topic, latched

_PRIMITIVES = {Marker.CUBE: "cubes", Marker.SPHERE: "spheres", Marker.CYLINDER: "cylinders"}


def scene_update(markers: Sequence[dict[str, Any]]) -> Topic:
    """Return ``scene_update``, which has one entity for each marker of ``scene_markers``."""
    fields = {"entities": [_entity(marker) for marker in markers]}
    return latched(SceneUpdate, "scene_update", lambda _: fields, again_after="/tf")


def _entity(marker: dict[str, Any]) -> dict[str, Any]:
    shape = {"pose": marker["pose"], "color": marker["color"]}
    if marker["type"] in _PRIMITIVES:
        kind = _PRIMITIVES[marker["type"]]
        shape["size"] = marker["scale"]
        if kind == "cylinders":
            shape |= {"bottom_scale": 1.0, "top_scale": 1.0}
    else:
        kind = "triangles"
        points, indices = np.unique(marker["points"], axis=0, return_inverse=True)
        shape |= {"points": points, "indices": indices.ravel().astype(np.uint32)}
    return {
        "timestamp": marker["header"]["stamp"],
        "frame_id": marker["header"]["frame_id"],
        "id": marker["ns"],
        "frame_locked": marker["frame_locked"],
        kind: [shape],
    }

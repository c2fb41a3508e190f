"""Checks that RViz and tf2 apply to messages. They return a list of complaints, empty for valid messages.

Sources (jazzy): rviz_default_plugins, displays/marker/marker_common.cpp and displays/marker/markers,
displays/pointcloud/point_cloud2_display.cpp and point_cloud_common.cpp; tf2, buffer_core.cpp. A few checks
also report markers that RViz silently does not draw: alpha 0, empty lists, a negative scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace

import numpy as np
from sensor_msgs.msg import PointField
from visualization_msgs.msg import Marker

from tactile_sim.ros import cdr

FLAT = {Marker.LINE_LIST: 1, Marker.LINE_STRIP: 1, Marker.POINTS: 2}
"""Number of scale components used by each marker type that does not use all of them."""
PRIMITIVES = (Marker.CUBE, Marker.SPHERE, Marker.CYLINDER)
LISTS = (Marker.LINE_LIST, Marker.LINE_STRIP, Marker.POINTS, Marker.SPHERE_LIST, Marker.CUBE_LIST)
SIZES = {PointField.UINT16: 2, PointField.UINT32: 4, PointField.FLOAT32: 4}
"""Sizes of point fields [bytes]."""


def each(array) -> list[SimpleNamespace]:
    """Return the markers of a decoded MarkerArray as separate objects."""
    return [row(array.markers, k) for k in range(len(array.markers.id))]


def row(columns, k: int) -> SimpleNamespace:
    """Return one element of a decoded sequence of structs."""
    fields = vars(columns).items()
    return SimpleNamespace(
        **{name: row(value, k) if isinstance(value, cdr.Columns) else value[k] for name, value in fields}
    )


def marker_complaints(array) -> list[str]:
    """Return the complaints about a MarkerArray."""
    markers = each(array)
    added = [marker for marker in markers if marker.action == Marker.ADD]
    complaints = []
    if len({(marker.ns, marker.id) for marker in markers}) < len(markers):  # of any action
        complaints.append("Multiple Markers in the same MarkerArray message had the same ns and id")
    if any(marker.action not in (Marker.ADD, Marker.DELETE, Marker.DELETEALL) for marker in markers):
        complaints.append("Unknown marker action")
    if any(marker.action != Marker.ADD for marker in markers[1:]):
        complaints.append("a later DELETE removes earlier markers")
    return complaints + [
        f"{marker.ns}/{marker.id}: {text}" for marker in added for text in _marker_faults(marker)
    ]


def _marker_faults(marker) -> Iterator[str]:
    numbers = [marker.pose.position, marker.pose.orientation, marker.scale, marker.color, marker.points]
    if not all(np.isfinite(each_number).all() for each_number in numbers):
        yield "Contains invalid floating point values (nans or infs)"
    if not marker.header.frame_id:
        yield "no frame"
    if not (np.asarray(marker.scale)[: FLAT.get(marker.type, 3)] > 0).all():
        yield "Scale of 0 in one of x/y/z"
    if abs(np.linalg.norm(marker.pose.orientation) - 1.0) > 1e-6:
        yield "not a unit quaternion"
    if not 0 < marker.color[3] <= 1 and len(marker.colors) == 0:
        yield "invisible: alpha"
    points, colors = len(marker.points), np.asarray(marker.colors)
    if len(colors) not in (0, points):
        yield "The number of colors does not fit the number of points"
    if len(colors) and not (colors[:, 3] > 0).any():
        yield "All points have a zero alpha value."
    yield from _wrong_count(marker.type, points)


def _wrong_count(kind: int, points: int) -> Iterator[str]:
    if kind == Marker.ARROW and points not in (0, 2):
        yield "only specified one point of a point to point arrow."
    elif kind == Marker.LINE_LIST and points % 2:
        yield "has an odd number of points."
    elif kind == Marker.TRIANGLE_LIST and (points % 3 or not points):
        yield f"has a point count which is not divisible by 3, or none: {points}"
    elif kind in LISTS and not points:
        yield "has no points"
    elif kind in PRIMITIVES and points:
        yield "points in a marker type without points"
    elif kind not in (Marker.ARROW, Marker.TRIANGLE_LIST, *LISTS, *PRIMITIVES):
        yield f"unknown marker type: {kind}"


def cloud_complaints(cloud) -> list[str]:
    """Return the complaints about a PointCloud2."""
    fields = [row(cloud.fields, k) for k in range(len(cloud.fields.name))]
    kinds = {field.name: field.datatype for field in fields}
    complaints = []
    if len(cloud.data) != cloud.width * cloud.height * cloud.point_step:
        complaints.append("Data size does not match width times height times point_step")
    if cloud.row_step != cloud.width * cloud.point_step:
        complaints.append("row_step is not width times point_step")
    if any(kinds.get(name) != PointField.FLOAT32 for name in "xyz"):
        complaints.append("No position transformer available for cloud")
    if kinds.get("intensity") != PointField.FLOAT32:
        complaints.append("No color transformer available for cloud")
    if any(field.offset + field.count * SIZES[field.datatype] > cloud.point_step for field in fields):
        complaints.append("a field is outside the point")
    if cloud.is_bigendian or not cloud.header.frame_id:
        complaints.append("big-endian, or no frame")
    floats = [field.offset for field in fields if field.datatype == PointField.FLOAT32]
    points = np.frombuffer(bytes(cloud.data), np.uint8).reshape(-1, int(cloud.point_step))
    if not all(np.isfinite(points[:, k : k + 4].copy().view("<f4")).all() for k in floats):
        complaints.append("points that are not finite are dropped")
    return complaints


def transform_complaints(messages: Iterable) -> list[str]:
    """Return the reasons for which tf2 would ignore transforms in TFMessages."""
    complaints = set()
    for message in messages:
        transforms = message.transforms
        children, parents = transforms.child_frame_id, transforms.header.frame_id
        if any(not name for name in (*children, *parents)) or len(set(children)) < len(children):
            complaints.add("TF_NO_CHILD_FRAME_ID, TF_NO_FRAME_ID, or a duplicate frame in a message")
        if any(child == parent for child, parent in zip(children, parents, strict=True)):
            complaints.add("TF_SELF_TRANSFORM")
        rotations = np.asarray(transforms.transform.rotation).reshape(-1, 4)
        if not (np.isfinite(rotations).all() and np.isfinite(transforms.transform.translation).all()):
            complaints.add("TF_NAN_INPUT")
        if (np.abs((rotations**2).sum(axis=1) - 1.0) > 1e-6).any():
            complaints.add("TF_DENORMALIZED_QUATERNION")
    return sorted(complaints)


def frames(messages: Iterable, fixed_frame: str) -> set[str]:
    """Return the frames that TFMessages connect to the fixed frame, including that frame."""
    parent = {
        child: above
        for message in messages
        for child, above in zip(
            message.transforms.child_frame_id, message.transforms.header.frame_id, strict=True
        )
    }
    known = {fixed_frame}
    while more := {child for child, above in parent.items() if above in known} - known:
        known |= more
    return known

"""Build a view scene from the topics in a bag."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from tactile_sim.bag.messages import ADD, CUBE, CYLINDER, SPHERE, TRIANGLES, VIEW_TOPIC
from tactile_sim.common.errors import BagError
from tactile_sim.common.text import shortened
from tactile_sim.figures.colors import full_scale
from tactile_sim.figures.messages import Robot, fault_of, pad_of, robots
from tactile_sim.view.bag_index import BagIndex
from tactile_sim.view.content import ImageInfo, Mesh, Shape, ViewScene, box, cylinder, ellipsoid

_PRIMITIVES = {CUBE: box, SPHERE: ellipsoid, CYLINDER: cylinder}


def marker_frames(value: Any) -> list[str]:
    """Return the frame id of each marker in a decoded MarkerArray."""
    return list(value.markers.header.frame_id)


def marker_shapes(value: Any, bodies: dict[str, int], invalid: list[str]) -> Iterator[Shape]:
    """Yield a shape for each marker that is a primitive or a triangle list.

    An orientation of zeros means no rotation, which is RViz's rule.
    """
    markers = value.markers
    for k, frame in enumerate(marker_frames(value)):
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


def _mesh(markers: Any, k: int) -> Mesh | None:
    kind = int(markers.type[k])
    if kind in _PRIMITIVES:
        return _PRIMITIVES[kind](markers.scale[k])
    if kind == TRIANGLES and len(markers.points[k]):
        corners = markers.points[k] * markers.scale[k]
        vertices, faces = np.unique(corners, axis=0, return_inverse=True)
        return vertices, faces.reshape(-1, 3)
    return None


_REQUIRED = ("x", "y", "z", "intensity")
_DTYPES = {1: "i1", 2: "u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 8: "<f8"}
"""NumPy types for the ``datatype`` constants of sensor_msgs/PointField."""


def records(cloud: Any) -> np.ndarray:
    """Return the points in a decoded PointCloud2 as a structured array (n,) with the cloud's fields."""
    fields = cloud.fields
    dtype = np.dtype(
        {
            "names": list(fields.name),
            "formats": [_DTYPES[int(datatype)] for datatype in fields.datatype],
            "offsets": fields.offset.tolist(),
            "itemsize": int(cloud.point_step),
        }
    )
    return np.frombuffer(np.ascontiguousarray(cloud.data).tobytes(), dtype)


def fault_of_cloud(cloud: Any) -> str:
    """Return why a decoded PointCloud2 has no points to show, or an empty string if it has some."""
    if missing := [name for name in _REQUIRED if name not in list(cloud.fields.name)]:
        return f"fields must include {', '.join(_REQUIRED)}, got none named {', '.join(missing)}"
    try:
        return "" if len(records(cloud)) else "there are no points"
    except (KeyError, ValueError):
        return f"fields do not match the {len(cloud.data)} bytes of data in steps of {cloud.point_step}"


def _positions(points: np.ndarray) -> np.ndarray:
    return np.stack([points[axis] for axis in "xyz"], axis=1).astype(np.float64)


class PointBodies:
    """Rigid bodies that consist of the points in a cloud. The origin of each body is the mean of its points.

    Bodies with points that are not finite are left out.

    Attributes:
        invalid: Values of the cloud's field ``body`` for the bodies that are left out.
        numbers: Value of the cloud's field ``body`` for each body (b,), or 0 without this field.
        counts: Number of points on each body (b,).
        positions: Points (n, 3) in their body frames [m], concatenated over the bodies.
        spacings: Point spacing on each body (b,) [m].
    """

    def __init__(self, cloud: Any):
        points = records(cloud)
        self._number = len(points)
        numbers = points["body"] if "body" in (points.dtype.names or ()) else np.zeros(len(points), int)
        positions = _positions(points)
        self.invalid = np.unique(numbers[~np.isfinite(positions).all(axis=1)])
        order = np.argsort(numbers, kind="stable")
        self._order = order[~np.isin(numbers[order], self.invalid)]
        self.numbers, starts, counts = np.unique(numbers[self._order], return_index=True, return_counts=True)
        self.counts = counts
        self._parts = [slice(start, start + count) for start, count in zip(starts, counts, strict=True)]
        positions = positions[self._order]
        self.positions = np.concatenate(
            [positions[part] - positions[part].mean(axis=0) for part in self._parts] or [positions]
        )
        self.spacings = np.array([_spacing(self.positions[part]) for part in self._parts])

    def read(self, cloud: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return the readings and body poses in a later cloud.

        Poses are least-squares fits: https://doi.org/10.1107/S0567739476001873 (Kabsch).

        Returns:
            Intensities (n,), positions (b, 3) [m] and quaternions (b, 4) wxyz of the bodies in the cloud's
            frame. None if the cloud has a fault, another number of points, or points on these bodies that are
            not finite.
        """
        if fault_of_cloud(cloud) or len(points := records(cloud)) != self._number:
            return None
        points = points[self._order]
        positions = _positions(points)
        if not np.isfinite(positions).all():
            return None
        centers = np.array([positions[part].mean(axis=0) for part in self._parts])
        rotations = [
            Rotation.align_vectors(positions[part] - center, self.positions[part])[0]
            if len(positions[part]) > 2
            else Rotation.identity()
            for part, center in zip(self._parts, centers, strict=True)
        ]
        quaternions = np.array([rotation.as_quat(scalar_first=True) for rotation in rotations])
        return points["intensity"].astype(np.float64), centers, quaternions


def _spacing(positions: np.ndarray) -> float:
    """Return the median distance of points to their nearest neighbors [m]; 0.01 for a single point."""
    if len(positions) < 2:
        return 0.01
    return float(np.median(cKDTree(positions).query(positions, k=2)[0][:, 1]))


SCALE_PERCENTILE = 90.0
"""Percentile of the sampled peaks that the color scale must cover. Impacts may exceed the scale."""
_CLOUD = "sensor_msgs/msg/PointCloud2"
_LAYOUT = "tactile_sim/msg/TactileLayout"


@dataclass
class BagScene:
    """The scene of a robot and the topics from which its frames are built."""

    scene: ViewScene
    robot: Robot
    pads: tuple[str, ...] = ()
    """Names of the pads, in the order of the scene's ``skin_bodies``."""
    pad_bodies: tuple[str, ...] = ()
    """Name of the body of each pad."""
    points: PointBodies | None = None
    """The skin, if the bag contains a point cloud of it but no layouts."""
    cloud: str = ""
    """Topic of the point cloud from which `points` was read; empty if there is none."""
    feelers: list[str] = field(default_factory=list)
    """Topics with feeler readings, in the order of the feelers in the scene."""
    images: list[str] = field(default_factory=list)
    """Topics of the tactile images, followed by those of cameras."""
    notes: list[str] = field(default_factory=list)
    """Messages to users about content that cannot be shown."""


def read_scene(index: BagIndex, namespace: str | None = None) -> BagScene:
    """Build the scene of a robot.

    Raises:
        BagError: The bag has no such robot or contains nothing to show.
    """
    robot, notes = _robot(index, namespace)
    layouts = _layouts(index, robot, "layout", notes)
    feelers = _layouts(index, robot, "feelers_layout", notes)
    markers = index.first[robot.scene_markers].value if robot.scene_markers else None
    frames = _frames(index, robot, layouts, feelers, markers)
    has_tf = any(topic.endswith("/tf") for topic in index.types)
    bodies = {frame: k for k, frame in enumerate(frames)}
    shapes = _shapes(markers, bodies, has_tf, frames[0], notes)
    result = BagScene(ViewScene(index.path.name, tuple(frames), shapes), robot, notes=notes)
    if layouts:
        _add_skin(result, layouts, bodies)
    else:
        _add_points(result, index)
    _add_feelers(result, feelers, bodies)
    _add_images(result, index, bodies)
    view_topic = f"{robot.namespace}/{VIEW_TOPIC}"
    view = index.views.get(view_topic)
    if view_topic in index.views and view is None:
        notes.append(f"{VIEW_TOPIC}: the recorded camera or color scale is invalid; it is ignored")
    result.scene = replace(result.scene, taxel_scale=_scale(index, robot), live_view=view)
    if index.damage:
        notes.append(f"the bag is damaged ({index.damage}); damaged messages are skipped")
    return result


def _robot(index: BagIndex, namespace: str | None) -> tuple[Robot, list[str]]:
    found = robots(index.types)
    wanted = None if namespace is None else "/" + namespace.strip("/") if namespace.strip("/") else ""
    if not found and not any(kind.endswith("/MarkerArray") for kind in index.types.values()):
        raise BagError(f"{index.path}: the bag has neither scene_markers nor a tactile topic to show")
    if wanted is not None and wanted not in found:
        raise BagError(f"{index.path}: the bag has no namespace {namespace!r}")
    if not found:
        markers = next((topic for topic in index.types if topic.endswith("/scene_markers")), "")
        return Robot("", scene_markers=markers), []
    chosen = found[wanted] if wanted is not None else next(iter(found.values()))
    others = [name or "/" for name in found if name != chosen.namespace]
    notes = [f"showing {chosen.namespace or '/'}; also in the bag: {', '.join(others)}"] if others else []
    return chosen, notes


def _layouts(index: BagIndex, robot: Robot, ending: str, notes: list[str]) -> dict[str, Any]:
    """Return the last valid layout of each pad, keyed by pad name. Pads without one are noted."""
    found, faults = {}, {}
    for message in index.latched:
        is_of_robot = message.topic.startswith(f"{robot.namespace}/tactile/")
        if message.type_name == _LAYOUT and is_of_robot and message.topic.endswith(f"/{ending}"):
            pad, fault = pad_of(message.value), fault_of(message.value)
            if fault:
                faults[pad] = fault
            else:
                found[pad] = message.value
    notes += [
        f"pad {pad!r} is not shown: in its {ending}, {fault}"
        for pad, fault in faults.items()
        if pad not in found
    ]
    return found


def _frames(
    index: BagIndex, robot: Robot, layouts: dict[str, Any], feelers: dict[str, Any], markers: Any
) -> list[str]:
    """Return the names of the world frame and of the frames of all shapes, taxels and feelers."""
    root = next(
        (
            index.first[topic].value.header.frame_id
            for topic in (robot.frame, robot.contacts, f"{robot.namespace}/tactile/points")
            if topic in index.first
        ),
        "world",
    )
    of_layouts = [layout.header.frame_id for layout in (*layouts.values(), *feelers.values())]
    of_markers = marker_frames(markers) if markers else []
    return list(dict.fromkeys([root, *of_markers, *of_layouts]))


def _shapes(
    markers: Any, bodies: dict[str, int], has_tf: bool, root: str, notes: list[str]
) -> tuple[Shape, ...]:
    if markers is None:
        notes.append("no scene_markers in the bag: the scene's shapes are not shown")
        return ()
    if not has_tf:
        notes.append("no /tf in the bag: body poses are unknown; only shapes fixed to the world are shown")
    invalid: list[str] = []
    shapes = tuple(marker_shapes(markers, bodies if has_tf else {root: 0}, invalid))
    if invalid:
        notes.append(f"markers with numbers that are not finite are not shown: {shortened(invalid)}")
    return shapes


def _add_skin(result: BagScene, layouts: dict[str, Any], bodies: dict[str, int]) -> None:
    counts = [len(layout.positions) // 3 for layout in layouts.values()]
    starts = np.cumsum([0, *counts[:-1]])
    triangles = [
        np.asarray(layout.triangles, int) + start
        for layout, start in zip(layouts.values(), starts, strict=True)
    ]
    result.pads = tuple(layouts)
    result.pad_bodies = tuple(layout.body for layout in layouts.values())
    result.scene = replace(
        result.scene,
        skin_bodies=np.array([bodies[layout.header.frame_id] for layout in layouts.values()]),
        pads=result.pads,
        taxel_counts=np.array(counts),
        taxel_positions=_rows(layout.positions for layout in layouts.values()),
        taxel_normals=_rows(layout.normals for layout in layouts.values()),
        taxel_ids=np.concatenate([_ids(layout) for layout in layouts.values()]),
        taxel_triangles=np.concatenate(triangles).reshape(-1, 3),
        taxel_spacings=np.array([layout.spacing for layout in layouts.values()], float),
    )


def _add_points(result: BagScene, index: BagIndex) -> None:
    """Add the skin from ``tactile/points``, for a bag without layouts."""
    topic = f"{result.robot.namespace}/tactile/points"
    if index.types.get(topic) != _CLOUD:
        if result.robot.frame or result.robot.arrays:
            result.notes.append(
                "neither layouts nor tactile/points in the bag: taxel positions are unknown; "
                "record the topics tactile/BODY/layout, too"
            )
        return
    cloud = index.first[topic].value
    if fault := fault_of_cloud(cloud):
        result.notes.append(f"no taxels are shown: in tactile/points, {fault}")
        return
    points = PointBodies(cloud)
    result.notes += [
        f"body {number} of tactile/points is not shown: its points must be finite"
        for number in points.invalid
    ]
    if not len(points.numbers):
        return
    result.notes.append("no layouts in the bag: taxels are from tactile/points")
    result.cloud, result.points = topic, points
    scene = result.scene
    result.pads = result.pad_bodies = tuple(f"points of body {number}" for number in points.numbers)
    result.scene = replace(
        scene,
        bodies=scene.bodies + result.pads,
        skin_bodies=len(scene.bodies) + np.arange(len(result.pads)),
        pads=result.pads,
        taxel_counts=points.counts,
        taxel_positions=points.positions,
        taxel_normals=np.zeros_like(points.positions),
        taxel_ids=np.concatenate([np.arange(count) for count in points.counts]),
        taxel_spacings=points.spacings,
    )


def _add_feelers(result: BagScene, feelers: dict[str, Any], bodies: dict[str, int]) -> None:
    if not feelers:
        return
    counts = [len(layout.positions) // 3 for layout in feelers.values()]
    indices = [bodies[layout.header.frame_id] for layout in feelers.values()]
    result.feelers = [f"{result.robot.namespace}/tactile/{body}/feelers" for body in feelers]
    result.scene = replace(
        result.scene,
        feeler_bodies=np.repeat(indices, counts),
        feeler_positions=_rows(layout.positions for layout in feelers.values()),
        feeler_normals=_rows(layout.normals for layout in feelers.values()),
        feeler_lengths=np.concatenate([layout.lengths for layout in feelers.values()]).astype(float),
    )


def _add_images(result: BagScene, index: BagIndex, bodies: dict[str, int]) -> None:
    cameras = sorted(result.robot.cameras)
    result.images = [*sorted(result.robot.images), *cameras]
    result.scene = replace(
        result.scene,
        images=tuple(
            ImageInfo(
                bodies.get(first.value.header.frame_id, 0),
                first.value.width,
                first.value.height,
                "feelers" if first.value.encoding == "mono8" else "skin",
                topic.split("/")[-2] if topic in cameras else "",
            )
            for topic in result.images
            for first in (index.first[topic],)
        ),
    )


def _scale(index: BagIndex, robot: Robot) -> float:
    """Return the reading at the end of the color scale; 1 if no reading is positive.

    It is 1, 2 or 5 times a power of ten, above the percentile `SCALE_PERCENTILE` of the sampled peaks.
    """
    topics = [robot.frame] if robot.frame else sorted(robot.arrays)
    peaks = np.concatenate([index.samples[topic].peaks for topic in topics] or [np.zeros(0)])
    positive = peaks[peaks > 0.0]
    return full_scale(float(np.percentile(positive, SCALE_PERCENTILE))) if len(positive) else 1.0


def _ids(layout: Any) -> np.ndarray:
    """Return the taxel ids in a layout. In older bags without ids, return the taxel indices."""
    ids = getattr(layout, "ids", ())
    return np.asarray(ids) if len(ids) else np.arange(len(layout.positions) // 3)


def _rows(parts: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([part.reshape(-1, 3) for part in parts]).astype(float)

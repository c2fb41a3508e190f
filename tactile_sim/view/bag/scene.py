"""Build a view scene from the topics in a bag."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tactile_sim.bag.messages import VIEW_TOPIC
from tactile_sim.common.errors import BagError
from tactile_sim.common.text import shortened
from tactile_sim.figures.colors import full_scale
from tactile_sim.figures.messages import Robot, fault_of, pad_of, robots
from tactile_sim.view.bag import markers as scene_markers
from tactile_sim.view.bag.index import BagIndex
from tactile_sim.view.bag.points import PointBodies
from tactile_sim.view.bag.points import fault_of as fault_of_cloud
from tactile_sim.view.content import ImageInfo, Shape, ViewScene

SCALE_PERCENTILE = 90.0
"""Percentile of the sampled peaks that the colour scale must cover. Impacts may exceed the scale."""
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

    Args:
        index: Index of the bag.
        namespace: Namespace of the robot, or None for the first one.

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
        notes.append(f"{VIEW_TOPIC}: the recorded camera or colour scale is invalid; it is ignored")
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
    """Return the last valid layout of each pad, keyed by pad name. Pads without one are noted.

    Args:
        index: Index of the bag.
        robot: Topics of the robot to show.
        ending: Last part of the topic names: ``layout`` for taxels, ``feelers_layout`` for feelers.
        notes: Messages to users, which are extended.
    """
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
    of_markers = scene_markers.frames(markers) if markers else []
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
    shapes = tuple(scene_markers.shapes(markers, bodies if has_tf else {root: 0}, invalid))
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
    """Return the reading at the end of the colour scale; 1 if no reading is positive.

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

"""The world of a bag: what there is to see in it, from its own topics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tactile_sim.analysis.robots import Robot, robots
from tactile_sim.bag.messages import Message
from tactile_sim.drawing.force_scale import full_scale
from tactile_sim.errors import BagError
from tactile_sim.view import bag_shapes
from tactile_sim.view.bag_index import BagIndex
from tactile_sim.view.bag_points import PointBodies
from tactile_sim.view.world import Picture, Shape, World

LIKELY = 90.0
"""Percentile of the peaks at which the colour scale ends: blows may lie beyond it."""
_CLOUD = "sensor_msgs/msg/PointCloud2"
_LAYOUT = "tactile_sim/msg/TactileLayout"


@dataclass
class Seen:
    """A robot's world, and from which topics its moments come."""

    world: World
    robot: Robot
    bodies: tuple[str, ...] = ()
    """Names of those with skin, in the order of the world's."""
    points: PointBodies | None = None
    """The skin, where only its points are known."""
    cloud: str = ""
    """The topic of those points."""
    feelers: list[str] = field(default_factory=list)
    """Topics of the feelers' readings, in the order of the world's feelers."""
    images: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """What is not to be seen, and why."""


def see(index: BagIndex, namespace: str | None = None) -> Seen:
    """What there is to see of a robot; of the first one where none is named.

    Raises BagError where the bag has no such robot, or nothing to see.
    """
    robot, remarks = _robot(index, namespace)
    layouts = _layouts(index, robot, "layout")
    hairs = _layouts(index, robot, "feelers_layout")
    markers = index.first[robot.scene_markers].value if robot.scene_markers else None
    frames = _frames(index, robot, layouts, hairs, markers)
    moving = any(topic.endswith("/tf") for topic in index.types)
    bodies = {frame: k for k, frame in enumerate(frames)}
    shapes = _shapes(markers, bodies, moving, frames[0], remarks)
    seen = Seen(World(index.path.name, tuple(frames), shapes), robot, remarks=remarks)
    if layouts:
        _add_skin(seen, layouts, bodies)
    else:
        _add_points(seen, index)
    _add_feelers(seen, hairs, bodies)
    _add_images(seen, index, bodies)
    seen.world = replace(seen.world, taxel_scale=_scale(index, robot))
    if index.damage:
        remarks.append(f"the bag is damaged ({index.damage}): it is played without what is broken")
    return seen


def _robot(index: BagIndex, namespace: str | None) -> tuple[Robot, list[str]]:
    found = robots(index.types)
    wanted = None if namespace is None else "/" + namespace.strip("/") if namespace.strip("/") else ""
    if not found and not any(kind.endswith("/MarkerArray") for kind in index.types.values()):
        raise BagError(f"{index.path}: nothing in this bag can be shown: no scene_markers, no tactile topic")
    if wanted is not None and wanted not in found:
        raise BagError(f"{index.path}: the bag has no namespace {namespace!r}")
    if not found:
        markers = next((topic for topic in index.types if topic.endswith("/scene_markers")), "")
        return Robot("", scene_markers=markers), []
    chosen = found[wanted] if wanted is not None else next(iter(found.values()))
    others = [name or "/" for name in found if name != chosen.namespace]
    remarks = [f"{chosen.namespace or '/'} is shown; also in the bag: {', '.join(others)}"] if others else []
    return chosen, remarks


def _layouts(index: BagIndex, robot: Robot, ending: str) -> dict[str, Any]:
    """By body, the last layout of each."""
    beginning = f"{robot.namespace}/tactile/"
    return {
        message.value.body: message.value
        for message in index.staying
        if message.type_name == _LAYOUT
        and message.topic.startswith(beginning)
        and message.topic.endswith("/" + ending)
    }


def _frames(
    index: BagIndex, robot: Robot, layouts: dict[str, Any], hairs: dict[str, Any], markers: Any
) -> list[str]:
    """The world's frame and those of all that is seen."""
    root = next(
        (
            index.first[topic].value.header.frame_id
            for topic in (robot.frame, robot.contacts, f"{robot.namespace}/tactile/points")
            if topic in index.first
        ),
        "world",
    )
    told = [layout.header.frame_id for layout in (*layouts.values(), *hairs.values())]
    named = bag_shapes.frames(markers) if markers else []
    return list(dict.fromkeys([root, *named, *told]))


def _shapes(
    markers: Any, bodies: dict[str, int], moving: bool, root: str, remarks: list[str]
) -> tuple[Shape, ...]:
    if markers is None:
        remarks.append("no scene_markers in the bag: the scene's shapes are not shown")
        return ()
    if moving:
        return tuple(bag_shapes.shapes(markers, bodies))
    remarks.append(
        "no /tf in the bag: nobody knows where bodies are; only what is fixed to the world is placed"
    )
    return tuple(bag_shapes.shapes(markers, {root: 0}))


def _add_skin(seen: Seen, layouts: dict[str, Any], bodies: dict[str, int]) -> None:
    counts = [len(layout.positions) // 3 for layout in layouts.values()]
    seen.bodies = tuple(layouts)
    seen.world = replace(
        seen.world,
        skin_bodies=np.array([bodies[layout.header.frame_id] for layout in layouts.values()]),
        taxel_counts=np.array(counts),
        taxel_positions=_rows(layout.positions for layout in layouts.values()),
        taxel_normals=_rows(layout.normals for layout in layouts.values()),
        taxel_spacings=np.array([layout.spacing for layout in layouts.values()], float),
    )


def _add_points(seen: Seen, index: BagIndex) -> None:
    """Without layouts the points in the world show the skin, where the bag has them."""
    topic = f"{seen.robot.namespace}/tactile/points"
    if index.types.get(topic) != _CLOUD:
        if seen.robot.frame or seen.robot.arrays:
            seen.remarks.append(
                "no layouts in the bag, and no tactile/points: nobody knows where taxels are; "
                "record the topics tactile/BODY/layout too"
            )
        return
    seen.remarks.append("no layouts in the bag: the taxels are those of tactile/points")
    seen.cloud, seen.points = topic, PointBodies(index.first[topic].value)
    world, points = seen.world, seen.points
    seen.bodies = tuple(f"points of body {number}" for number in points.numbers)
    seen.world = replace(
        world,
        bodies=world.bodies + seen.bodies,
        skin_bodies=len(world.bodies) + np.arange(len(seen.bodies)),
        taxel_counts=points.counts,
        taxel_positions=points.positions,
        taxel_normals=np.zeros_like(points.positions),
        taxel_spacings=points.spacings,
    )


def _add_feelers(seen: Seen, hairs: dict[str, Any], bodies: dict[str, int]) -> None:
    if not hairs:
        return
    counts = [len(layout.positions) // 3 for layout in hairs.values()]
    indices = [bodies[layout.header.frame_id] for layout in hairs.values()]
    seen.feelers = [f"{seen.robot.namespace}/tactile/{body}/feelers" for body in hairs]
    seen.world = replace(
        seen.world,
        feeler_bodies=np.repeat(indices, counts),
        feeler_positions=_rows(layout.positions for layout in hairs.values()),
        feeler_normals=_rows(layout.normals for layout in hairs.values()),
        feeler_lengths=np.concatenate([layout.lengths for layout in hairs.values()]).astype(float),
    )


def _add_images(seen: Seen, index: BagIndex, bodies: dict[str, int]) -> None:
    seen.images = sorted(seen.robot.images)
    firsts: list[Message] = [index.first[topic] for topic in seen.images]
    seen.world = replace(
        seen.world,
        pictures=tuple(
            Picture(
                bodies.get(first.value.header.frame_id, 0),
                first.value.width,
                first.value.height,
                "feelers" if first.value.encoding == "mono8" else "skin",
            )
            for first in firsts
        ),
    )


def _scale(index: BagIndex, robot: Robot) -> float:
    """The end of the colour scale: as large as readings mostly are where there are any."""
    topics = [robot.frame] if robot.frame else sorted(robot.arrays)
    peaks = np.array([peak for topic in topics for peak in index.peaks.get(topic, ())])
    felt = peaks[peaks > 0.0]
    return full_scale(float(np.percentile(felt, LIKELY))) if len(felt) else 1.0


def _rows(parts: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([part.reshape(-1, 3) for part in parts]).astype(float)

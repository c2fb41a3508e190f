"""Read robots, layouts, poses and readings from the messages of a bag."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.spatial import KDTree
from scipy.spatial.transform import Rotation

from tactile_sim.bag.messages import Message
from tactile_sim.common.errors import BagError, suggest

_SINGLE = {
    "tactile_sim/msg/TactileFrame": ("/tactile/frame", "frame"),
    "tactile_sim/msg/ContactWrenchArray": ("/contacts", "contacts"),
    "visualization_msgs/msg/MarkerArray": ("/scene_markers", "scene_markers"),
}
"""Topic suffix and attribute of `Robot` for message types that a robot publishes on one topic only."""
_PER_BODY = {
    ("tactile_sim/msg/TactileArray", "array"): "arrays",
    ("tactile_sim/msg/TactileLayout", "layout"): "layouts",
    ("tactile_sim/msg/TactileArray", "feelers"): "feelers",
    ("tactile_sim/msg/TactileLayout", "feelers_layout"): "feeler_layouts",
    ("sensor_msgs/msg/Image", "image"): "images",
}
"""Attribute of `Robot` for topics that each body can have, keyed by message type and topic suffix."""


@dataclass
class Robot:
    """Topics of one robot. Attributes are empty for topics that are not in the bag."""

    namespace: str
    """Namespace with a leading slash; empty for topics without a namespace."""
    frame: str = ""
    contacts: str = ""
    scene_markers: str = ""
    arrays: set[str] = field(default_factory=set)
    layouts: set[str] = field(default_factory=set)
    feelers: set[str] = field(default_factory=set)
    feeler_layouts: set[str] = field(default_factory=set)
    images: set[str] = field(default_factory=set)
    cameras: set[str] = field(default_factory=set)

    @property
    def feels(self) -> bool:
        """True if the robot has tactile data or contacts."""
        return bool(self.frame or self.arrays or self.feelers or self.contacts)


def robots(types: Mapping[str, str]) -> dict[str, Robot]:
    """Find the robots that have tactile data or contacts, and return them by namespace."""
    found: dict[str, Robot] = {}
    for topic, type_name in sorted(types.items()):
        end, attribute = _SINGLE.get(type_name, ("", ""))
        if end and topic.endswith(end):
            namespace = topic.removesuffix(end)
            setattr(found.setdefault(namespace, Robot(namespace)), attribute, topic)
        namespace, cameras, rest = topic.rpartition("/cameras/")
        if cameras and type_name == "sensor_msgs/msg/Image" and rest.endswith("/image"):
            found.setdefault(namespace, Robot(namespace)).cameras.add(topic)
        namespace, tactile, rest = topic.rpartition("/tactile/")
        attribute = _PER_BODY.get((type_name, rest.partition("/")[2]), "")
        if tactile and attribute:
            getattr(found.setdefault(namespace, Robot(namespace)), attribute).add(topic)
    return {namespace: robot for namespace, robot in found.items() if robot.feels}


def choose(path: object, types: Mapping[str, str], namespace: str | None) -> Robot:
    """Return the robot with the specified namespace, or the only robot."""
    found = robots(types)
    if not found:
        there = ", ".join(sorted(types)[:8]) + (f", ... ({len(types)} topics)" if len(types) > 8 else "")
        raise BagError(
            f"{path}: must have a tactile topic (tactile/frame, tactile/BODY/array, "
            f"tactile/BODY/feelers or contacts), got {there or 'no topics'}"
        )
    names = [name or "/" for name in found]
    if namespace is None:
        if len(found) > 1:
            raise BagError(
                f"{path}: the bag has several robots; choose one with --namespace {' or '.join(names)}"
            )
        return next(iter(found.values()))
    wanted = namespace.strip("/")
    wanted = f"/{wanted}" if wanted else ""
    if wanted not in found:
        raise BagError(f"{path}: unknown namespace {namespace!r}{suggest(wanted or '/', names)}")
    return found[wanted]


@dataclass(frozen=True)
class Span:
    """Time span from ``start`` to ``stop`` [s], both inclusive."""

    start: float = -math.inf
    stop: float = math.inf

    def __contains__(self, stamp: int) -> bool:
        """Return whether the span contains a stamp [ns]."""
        return self.start <= stamp / 1e9 <= self.stop

    def __str__(self) -> str:
        if self == Span():
            return "in the bag"
        start = (
            f"from {self.start:g} s on"
            if self.stop == math.inf
            else f"from {self.start:g} to {self.stop:g} s"
        )
        return start if self.start > -math.inf else f"until {self.stop:g} s"


class Cursor:
    """Passes messages, which must be ordered by stamp, to a function as time advances."""

    def __init__(self, messages: Iterable[Message], take: Callable[[Message], object]) -> None:
        self._messages = iter(messages)
        self._take = take
        self._next = next(self._messages, None)

    def until(self, stamp: int) -> None:
        """Process the remaining messages with stamps up to and including ``stamp`` [ns]."""
        while self._next is not None and self._next.stamp <= stamp:
            self._take(self._next)
            self._next = next(self._messages, None)


MOVING, STATIC = "/tf", "/tf_static"


class Poses:
    """Tree of frames that is updated with transform messages."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._poses: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def add(self, message: Message) -> None:
        """Update the tree with a TFMessage. Invalid transforms are ignored."""
        transforms = message.value.transforms
        parents, children = transforms.header.frame_id, transforms.child_frame_id
        translations = transforms.transform.translation
        rotations = transforms.transform.rotation
        for parent, child, translation, rotation in zip(
            parents, children, translations, rotations, strict=True
        ):
            # As tf2 does, ignore transforms that are not rotations.
            if np.isfinite(translation).all() and np.isfinite(rotation).all() and np.any(rotation):
                self._parents[child] = parent
                self._poses[child] = translation, rotation

    def __copy__(self) -> Poses:
        made = Poses()
        made._parents, made._poses = dict(self._parents), dict(self._poses)
        return made

    def __contains__(self, frame: str) -> bool:
        return frame in self._poses

    def __bool__(self) -> bool:
        return bool(self._poses)

    def of(self, frames: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the poses of frames relative to the root of their tree.

        A frame without a transform is its own root.

        Returns:
            Positions (f, 3) [m] and rotation matrices (f, 3, 3).
        """
        known: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        poses = [self._in_root(frame, known, len(self._poses)) for frame in frames]
        if not poses:
            return np.zeros((0, 3)), np.zeros((0, 3, 3))
        return np.stack([position for position, _ in poses]), np.stack([turn for _, turn in poses])

    def parents(self, frames: Sequence[str]) -> np.ndarray:
        """Return, for each frame, the index of the nearest ancestor that is also in ``frames``.

        Returns:
            Indices (f,) in ``frames``; a frame without such an ancestor has its own index.
        """
        known = {frame: k for k, frame in enumerate(frames)}
        nearest = []
        for k, frame in enumerate(frames):
            parent, passed = self._parents.get(frame), {frame}
            while parent is not None and parent not in known and parent not in passed:
                passed.add(parent)  # transforms in corrupt bags can form loops
                parent = self._parents.get(parent)
            nearest.append(known.get(parent or "", k))
        return np.array(nearest, int)

    def _in_root(
        self, frame: str, known: dict[str, tuple[np.ndarray, np.ndarray]], steps: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the position (3,) [m] and the rotation matrix (3, 3) of a frame relative to the root."""
        if frame not in known:
            if frame not in self._poses or steps == 0:
                return np.zeros(3), np.eye(3)
            translation, rotation = self._poses[frame]
            position, turn = self._in_root(self._parents[frame], known, steps - 1)
            turned = Rotation.from_quat(rotation).as_matrix()
            known[frame] = position + turn @ translation, turn @ turned
        return known[frame]


PATIENCE = 100
"""Maximum number of incomplete frames that wait for missing arrays. The oldest is dropped first."""


class Frame(NamedTuple):
    """Readings of all taxels of a robot at one time."""

    stamp: int
    """Time of the readings [ns]."""
    layout_id: int
    quantities: tuple[str, ...]
    """Name of the touch function of each pad."""
    units: tuple[str, ...]
    """Unit of each pad's readings."""
    bodies: tuple[str, ...]
    """Name of each pad, or of its body in old bags without pad names."""
    counts: np.ndarray
    """Number of taxels on each of the b pads (b,)."""
    readings: np.ndarray
    """Readings of all taxels (taxels, channels), grouped by pad."""


class PadReadings(NamedTuple):
    """Readings of one pad at one time."""

    readings: np.ndarray
    """Readings of the pad's taxels (taxels, channels), in ``unit``."""
    valid: np.ndarray
    """(taxels,) bool, False for taxels whose reading must not be used."""
    quantity: str
    unit: str


class Frames(Protocol):
    """Interface of objects that turn the messages on ``topics`` into frames."""

    @property
    def topics(self) -> Collection[str]: ...

    def of(self, message: Message) -> Iterator[Frame]:
        """Process a message, and yield the frame that it contains or completes, if any."""


class Arrays:
    """Combines the TactileArray messages that have the same stamp, one per topic, into a frame."""

    def __init__(self, topics: Collection[str]) -> None:
        self.topics = topics
        self._waiting: dict[int, dict[str, Any]] = {}

    def of(self, message: Message) -> Iterator[Frame]:
        arrays = self._waiting.setdefault(message.stamp, {})
        arrays[message.topic] = message.value
        if len(arrays) == len(self.topics):
            del self._waiting[message.stamp]
            parts = [arrays[topic] for topic in sorted(arrays)]
            readings = [readings_of(part) for part in parts]
            most = max(part.shape[1] for part in readings)
            yield Frame(
                message.stamp,
                parts[0].layout_id,
                tuple(part.quantity for part in parts),
                tuple(part.unit for part in parts),
                tuple(pad_of(part) for part in parts),
                np.array([part.taxel_count for part in parts]),
                np.concatenate([np.pad(part, ((0, 0), (0, most - part.shape[1]))) for part in readings]),
            )
        elif len(self._waiting) > PATIENCE:
            del self._waiting[min(self._waiting)]


class FrameTopic:
    """Reads frames from the messages on the topic ``tactile/frame``."""

    def __init__(self, topic: str) -> None:
        self.topics = {topic}

    def of(self, message: Message) -> Iterator[Frame]:
        value = message.value
        readings = readings_of(value)
        bodies, counts = pads_of(value), np.asarray(value.taxel_counts, np.int64)
        yield Frame(message.stamp, value.layout_id, *quantities_of(value), bodies, counts, readings)


def frames_of_skin(robot: Robot) -> Frames:
    """Return the source of a robot's frames: ``tactile/frame`` if recorded, or else the bodies' arrays."""
    return FrameTopic(robot.frame) if robot.frame else Arrays(robot.arrays)


def pad_of(value: Any) -> str:
    """Return the pad name in an array or layout message, or the body name in old messages without pads."""
    return getattr(value, "pad", "") or value.body


def pads_of(value: Any) -> tuple[str, ...]:
    """Return the pad names in a TactileFrame, or the body names in old messages without pads."""
    return tuple(getattr(value, "pads", ()) or value.bodies)


def quantities_of(value: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the measured quantity and the unit of each pad in a TactileFrame.

    Messages from old bags have a single quantity and unit, which are then returned for every pad.
    """
    count = len(pads_of(value))
    quantities, units = tuple(getattr(value, "quantities", ())), tuple(getattr(value, "units", ()))
    return (
        quantities if len(quantities) == count else (value.quantity,) * count,
        units if len(units) == count else (value.unit,) * count,
    )


def by_pad(value: Any) -> dict[str, PadReadings]:
    """Return the readings in a message, keyed by pad name."""
    readings = readings_of(value)
    valid = np.asarray(getattr(value, "valid", ()), bool)
    if len(valid) != len(readings):
        valid = np.ones(len(readings), bool)
    if not hasattr(value, "taxel_counts"):
        return {pad_of(value): PadReadings(readings, valid, value.quantity, value.unit)}
    pads, stops = pads_of(value), np.cumsum(value.taxel_counts, dtype=np.int64)
    quantities, units = quantities_of(value)
    own = getattr(value, "pad_channels", ())
    channels = own if len(own) else [readings.shape[1]] * len(pads)
    return {
        pad: PadReadings(readings[stop - count : stop, :width], valid[stop - count : stop], quantity, unit)
        for pad, stop, count, width, quantity, unit in zip(
            pads, stops, value.taxel_counts, channels, quantities, units, strict=False
        )
    }


def readings_of(value: Any) -> np.ndarray:
    """Return the readings (taxels, channels) in a message; empty if the message is inconsistent."""
    if value.channels == 0 or len(value.data) % value.channels:
        return np.zeros((0, max(1, value.channels)), np.float32)
    return np.asarray(value.data.reshape(-1, value.channels))


def finite(readings: np.ndarray) -> np.ndarray:
    """Convert readings to float64, and replace NaN and infinity with 0."""
    return np.nan_to_num(readings.astype(np.float64), posinf=0.0, neginf=0.0)


class Layout(NamedTuple):
    """Positions and normals of the n taxels or feelers of a body, in the body frame."""

    frame: str
    positions: np.ndarray
    """Positions of the taxels or of the feelers' roots (n, 3) [m], in the body frame."""
    normals: np.ndarray
    """Outward unit normals of the skin at the taxels, or directions of the feelers (n, 3)."""
    spacing: float
    """Nominal distance between neighboring taxels or feelers [m]."""
    lengths: np.ndarray
    """Full lengths of the feelers (n,) [m]; empty for taxels."""


def fault_of(layout: Any) -> str:
    """Return why a decoded TactileLayout message is invalid, or an empty string if it is valid."""
    count = len(layout.positions) // 3
    if len(layout.normals) != len(layout.positions) or len(layout.lengths) not in (0, count):
        return f"positions, normals and lengths do not match, got {count} positions"
    for name in ("positions", "normals", "lengths", "spacing"):
        finite = np.isfinite(getattr(layout, name))
        if not finite.all():
            return f"{name} must be finite, got {np.size(finite) - np.count_nonzero(finite)} that are not"
    return ""


class Layouts:
    """Collects the layouts of a robot's bodies from messages."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], Layout] = {}

    def add(self, message: Message) -> None:
        """Add the layout that a TactileLayout message contains. Invalid layouts are ignored."""
        value = message.value
        if fault_of(value):
            return
        positions = value.positions.reshape(-1, 3).astype(np.float64)
        self._found[value.layout_id, pad_of(value)] = Layout(
            value.header.frame_id,
            positions,
            value.normals.reshape(-1, 3).astype(np.float64),
            value.spacing or _apart(positions),
            value.lengths.astype(np.float64),
        )

    def of(self, layout_id: int, bodies: Sequence[str], counts: Sequence[int]) -> list[Layout | None]:
        """Return the layout of each body, or None if it is missing or does not match the number of taxels."""
        found = [self._found.get((layout_id, body)) for body in bodies]
        return [
            layout if layout and len(layout.positions) == count else None
            for layout, count in zip(found, counts, strict=True)
        ]


def _apart(positions: np.ndarray) -> float:
    """Return the median distance between nearest neighbors among points (n, 3) [m].

    This replaces the spacing if a layout has none, for example a layout of painted feelers.
    """
    if len(positions) < 2:
        return 0.0
    return float(np.median(KDTree(positions).query(positions, k=2)[0][:, 1]))


class Placed(NamedTuple):
    """Positions and normals of the taxels of several bodies at one time, concatenated, in the world frame."""

    positions: np.ndarray
    """(n, 3) positions of the taxels of all bodies [m], in the world frame."""
    normals: np.ndarray
    """(n, 3) outward unit normals at these taxels, in the world frame."""
    spacings: np.ndarray
    """(n,) nominal distance from each taxel to its neighbors [m]."""


def place(layouts: Sequence[Layout], poses: Poses) -> Placed:
    """Transform the taxels of one or more layouts to the world frame with the poses of their bodies.

    The result contains the taxels of all layouts, in the order of ``layouts``.
    """
    origins, rotations = poses.of([layout.frame for layout in layouts])
    return Placed(
        np.concatenate(
            [
                layout.positions @ turn.T + origin
                for layout, origin, turn in zip(layouts, origins, rotations, strict=True)
            ]
        ),
        np.concatenate([layout.normals @ turn.T for layout, turn in zip(layouts, rotations, strict=True)]),
        np.concatenate([np.full(len(layout.positions), layout.spacing) for layout in layouts]),
    )

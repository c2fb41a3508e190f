"""Find the topics of each robot in a bag, by namespace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tactile_sim.errors import BagError, suggest

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
    """Find the robots that have tactile data or contacts, and return them by namespace.

    Args:
        types: Type name of each topic in the bag.
    """
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
    """Return the robot with the specified namespace, or the only robot.

    Args:
        path: Path of the bag, for error messages.
        types: Type name of each topic in the bag.
        namespace: Namespace of the robot; None selects the only robot.

    Raises:
        BagError: The bag has no robot, none has the namespace, or ``namespace`` is None and the bag has
            several robots.
    """
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

"""Whose topics are in a bag: each robot's, by its namespace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tactile_sim.errors import BagError, suggest

_SINGLE = {
    "tactile_sim/msg/TactileFrame": ("/tactile/frame", "frame"),
    "tactile_sim/msg/ContactWrenchArray": ("/contacts", "contacts"),
    "visualization_msgs/msg/MarkerArray": ("/scene_markers", "scene_markers"),
}
"""How the topic of a type ends that a robot has one of, and the attribute for it."""
_PER_BODY = {
    ("tactile_sim/msg/TactileArray", "array"): "arrays",
    ("tactile_sim/msg/TactileLayout", "layout"): "layouts",
    ("tactile_sim/msg/TactileArray", "feelers"): "feelers",
    ("tactile_sim/msg/TactileLayout", "feelers_layout"): "feeler_layouts",
    ("sensor_msgs/msg/Image", "image"): "images",
}
"""The same, by type and end, of topics that each body may have one of."""


@dataclass
class Robot:
    """The topics of one robot, empty where the bag has none."""

    namespace: str
    """With its slash; empty for the topics without one."""
    frame: str = ""
    contacts: str = ""
    scene_markers: str = ""
    arrays: set[str] = field(default_factory=set)
    layouts: set[str] = field(default_factory=set)
    feelers: set[str] = field(default_factory=set)
    feeler_layouts: set[str] = field(default_factory=set)
    images: set[str] = field(default_factory=set)

    @property
    def feels(self) -> bool:
        """Whether there is anything of touch."""
        return bool(self.frame or self.arrays or self.feelers or self.contacts)


def robots(types: Mapping[str, str]) -> dict[str, Robot]:
    """Those robots that feel something, by namespace, from the types of all topics by name."""
    found: dict[str, Robot] = {}
    for topic, type_name in sorted(types.items()):
        end, attribute = _SINGLE.get(type_name, ("", ""))
        if end and topic.endswith(end):
            namespace = topic.removesuffix(end)
            setattr(found.setdefault(namespace, Robot(namespace)), attribute, topic)
        namespace, tactile, rest = topic.rpartition("/tactile/")
        attribute = _PER_BODY.get((type_name, rest.partition("/")[2]), "")
        if tactile and attribute:
            getattr(found.setdefault(namespace, Robot(namespace)), attribute).add(topic)
    return {namespace: robot for namespace, robot in found.items() if robot.feels}


def choose(path: object, types: Mapping[str, str], namespace: str | None) -> Robot:
    """The robot of a namespace, or the only one.

    Raises:
        BagError: the bag has nothing of touch, no such namespace, or several of which none is named.
    """
    found = robots(types)
    if not found:
        there = ", ".join(sorted(types)[:8]) + (f", ... ({len(types)} in all)" if len(types) > 8 else "")
        raise BagError(
            f"{path}: the bag has no tactile topic (tactile/frame, tactile/BODY/array, "
            "tactile/BODY/feelers or contacts); "
            + (f"there are: {there}" if types else "it has no topics at all")
        )
    names = [name or "/" for name in found]
    if namespace is None:
        if len(found) > 1:
            raise BagError(
                f"{path}: the bag is of several robots; choose one: --namespace {' or '.join(names)}"
            )
        return next(iter(found.values()))
    wanted = namespace.strip("/")
    wanted = f"/{wanted}" if wanted else ""
    if wanted not in found:
        raise BagError(f"{path}: the bag has no namespace {namespace!r}{suggest(wanted or '/', names)}")
    return found[wanted]

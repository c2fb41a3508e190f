"""The camera and the colour scale of a live view, which a bag carries as JSON on the topic `TOPIC`."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass

TOPIC, TYPE = "web_view", "std_msgs/msg/String"
"""Name, relative to the namespace of the node, and type of the latched topic."""
LARGEST = 1e6
"""Upper limit of coordinates [m] and of the end of the colour scale."""
FIELDS_OF_VIEW = 0.01, 3.0
"""Smallest and largest field of view with which a scene is recognizable [rad]."""
PARALLEL = 1e-7
"""Angle between the line of sight and the upward direction below which a view is invalid [rad].

Browsers keep an angle of 1e-6 in a view from the top.
"""
Vector = tuple[float, float, float]


def is_topic(name: str, type_name: str) -> bool:
    """Return whether a topic with this name and type carries live views, in any namespace."""
    return name.endswith(f"/{TOPIC}") and type_name == TYPE


@dataclass(frozen=True)
class LiveView:
    """Camera and colour scale of a view."""

    position: Vector
    """Position of the camera in the world frame [m]."""
    look_at: Vector
    """Point that the camera looks at, in the world frame [m]."""
    up: Vector
    """Direction in the world frame that points upward in the image."""
    field_of_view: float
    """Vertical field of view [rad]."""
    scale_end: float = 0.0
    """Reading at the end of the colour scale; 0 adapts the scale to the readings."""
    logarithmic: bool = True
    """Whether the colour scale is logarithmic."""
    dots: bool = False
    """Whether taxels are drawn as dots instead of a surface."""

    @property
    def text(self) -> str:
        """The view as JSON with the names of the fields as keys."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> LiveView | None:
        """Return a view from JSON, or None if the text does not describe a valid view."""
        try:
            given = json.loads(text)
            vectors = {name: _vector(given[name]) for name in ("position", "look_at", "up")}
            view = cls(
                **vectors,
                field_of_view=float(given["field_of_view"]),
                scale_end=float(given["scale_end"]),
                logarithmic=bool(given["logarithmic"]),
                dots=bool(given["dots"]),
            )
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None
        return view if view._is_valid() else None

    def _is_valid(self) -> bool:
        sight = [to - at for to, at in zip(self.look_at, self.position, strict=True)]
        (x, y, z), (u, v, w) = sight, self.up
        across = math.hypot(y * w - z * v, z * u - x * w, x * v - y * u)
        return (
            across > PARALLEL * math.hypot(*sight) * math.hypot(*self.up) > 0.0
            and FIELDS_OF_VIEW[0] <= self.field_of_view <= FIELDS_OF_VIEW[1]
            and 0.0 <= self.scale_end < LARGEST
        )


def _vector(values: list[float]) -> Vector:
    x, y, z = map(float, values)
    if not all(abs(value) < LARGEST for value in (x, y, z)):
        raise ValueError("out of range")
    return x, y, z

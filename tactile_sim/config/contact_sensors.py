"""What ``contact_sensors.NAME`` may say, and what a ``<contact>`` sensor of a scene may: the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tactile_sim.schema import Check, Choice, Integer, Ordered, Text

FIELDS = ("found", "force", "torque", "dist", "pos", "normal", "tangent")
"""What a contact sensor tells of a contact, in this order."""
REDUCTIONS = ("none", "mindist", "maxforce", "netforce")
"""Which contacts it keeps, in the order of MuJoCo's numbers for them."""
FIRST = ("geom1", "body1", "subtree1", "site")
"""Its object 1, or the site whose volume the contacts lie in: one of these."""
SECOND = ("geom2", "body2", "subtree2")
"""Its object 2: one of these."""
MOST_SLOTS = 1000

_NAME = Text(filled=True)
CONTACT_SENSOR: dict[str, Check] = {
    **dict.fromkeys((*FIRST, *SECOND), _NAME),
    "data": Ordered(FIELDS),
    "num": Integer(1, MOST_SLOTS),
    "reduce": Choice(REDUCTIONS),
}
"""What each key may be."""


def sides(keys: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Which key names object 1 (or the site), and which object 2; None: whatever it is.

    Raises:
        ValueError: a side is named twice.
    """
    chosen: list[str | None] = []
    for options in (FIRST, SECOND):
        given = [key for key in options if key in keys]
        if len(given) > 1:
            raise ValueError(f"has both {given[0]} and {given[1]}; name at most one of {', '.join(options)}")
        chosen.append(given[0] if given else None)
    return chosen[0], chosen[1]

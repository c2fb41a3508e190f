"""Find quaternions that are probably in the wrong order: pads use w x y z, robots and objects x y z w."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tactile_sim.config.settings import Settings

_ORDERS = (
    ("skin.pads", "w, x, y, z", "z", (1.0, 0.0, 0.0, 0.0)),
    ("robots", "x, y, z, w", "x", (0.0, 0.0, 0.0, 1.0)),
    ("objects", "x, y, z, w", "x", (0.0, 0.0, 0.0, 1.0)),
)
"""For each table: the order of its quaternions, the axis of the half turn that the identity in the other
order means, and the identity."""


def swapped_quaternions(settings: Settings) -> Iterator[str]:
    """Yield a warning for each orientation that would be no rotation in the other order of quaternions."""
    tables = {"skin.pads": settings.skin.pads, "robots": settings.robots, "objects": settings.objects}
    for table, order, axis, identity in _ORDERS:
        for name, keys in tables[table].items():
            given = keys.get("orientation", ())
            used = [k for k, value in enumerate(given) if abs(value) > 1e-6]
            if len(given) == 4 and used == [3 - identity.index(1.0)]:
                yield (
                    f"{table}.{name}.orientation: {list(given)} is half a turn about {axis}, because the"
                    f" order is {order}; no rotation is {list(identity)}"
                )

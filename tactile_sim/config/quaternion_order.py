"""Find quaternions that are probably in the order w x y z instead of x y z w."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tactile_sim.config.settings import Settings


def swapped_quaternions(settings: Settings) -> Iterator[str]:
    """Yield a warning for each orientation that would be no rotation in the order w x y z."""
    tables = {"skin.pads": settings.skin.pads, "robots": settings.robots, "objects": settings.objects}
    for table, entries in tables.items():
        for name, keys in entries.items():
            given = keys.get("orientation", ())
            if len(given) == 4 and abs(given[0]) > 1e-6 and max(map(abs, given[1:])) <= 1e-6:
                yield (
                    f"{table}.{name}.orientation: {list(given)} is half a turn about x, because the order is"
                    " x, y, z, w; no rotation is [0.0, 0.0, 0.0, 1.0]"
                )

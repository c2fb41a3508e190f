"""How a load is shared out among taxels.

The taxel that takes a load is the nearest to its point, of those that face it: a load on one face of a thin
plate is not felt on the other. A taxel faces a load unless its outward normal lies along the load's direction
into the body (their cosine 0.3 or more). Only where no facing taxel lies within two spacings does the nearest
of all take it, so that nothing is ever lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tactile_sim.skin import kernels

if TYPE_CHECKING:
    from tactile_sim.skin.loads import Loads
    from tactile_sim.skin.skin import Skin

Response = Callable[["Skin", "Loads", np.ndarray, np.ndarray], None]
"""Takes a skin, m loads and their values (m, c), and adds these to taxels (n, c) so that the sums agree."""


def nearest(skin: Skin, loads: Loads, values: np.ndarray, out: np.ndarray) -> None:
    """The nearest taxel takes it all."""
    kernels.add_at(skin.nearest(loads), values, out)


def spread_linear(skin: Skin, loads: Loads, values: np.ndarray, out: np.ndarray) -> None:
    """Shares that fall linearly with the distance from the point, to 0 at two spacings, and sum to one.

    Among the facing taxels that a path on the surface joins to the nearest one; where none lies within two
    spacings, the nearest takes it all.
    """
    kernels.add_linear(
        skin.nearest(loads), loads.body, loads.point, loads.normal, values,
        skin.positions, skin.normals, skin.spacings, *skin.neighbourhoods, out,
    )  # fmt: skip


RESPONSE_FUNCTIONS: dict[str, Response] = {"nearest": nearest, "spread_linear": spread_linear}

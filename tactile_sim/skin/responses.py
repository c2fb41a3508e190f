"""How a load is shared out among taxels.

The taxel that takes a load is the nearest to its point, of those that face it: a load on one face of a thin
plate is not felt on the other. A taxel faces a load unless its outward normal lies along the load's direction
into the body (their cosine 0.3 or more). Only where no facing taxel lies within two spacings does the nearest
of all take it, so that nothing is ever lost. A load is spread over facing taxels that a path over the surface
joins to that one.

A response function of one's own gives weights to the taxels around each load; `Shares` sees to it that the
sums agree:

    from tactile_sim.skin import RESPONSE_FUNCTIONS

    def gaussian(skin, loads):
        near = skin.near(loads, 0.03)
        return near.shares(np.exp(-0.5 * (near.distance / 0.01) ** 2))

    RESPONSE_FUNCTIONS["gaussian"] = gaussian

It is then known to `Skin.sense` by its name; `Skin.sense` takes the function itself just as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from tactile_sim.skin.hertz import hertz
from tactile_sim.skin.shares import Shares

if TYPE_CHECKING:
    from tactile_sim.skin.loads import Loads
    from tactile_sim.skin.skin import Skin

Response = Callable[["Skin", "Loads"], Shares]
"""Takes a skin and m loads to the shares that taxels have of them."""


def nearest(skin: Skin, loads: Loads) -> Shares:
    """The nearest taxel takes it all."""
    return Shares(np.arange(len(loads) + 1), skin.nearest(loads), np.ones(len(loads)))


def spread_linear(skin: Skin, loads: Loads) -> Shares:
    """Shares that fall linearly with the distance from the point, to 0 at two spacings.

    Where no taxel lies within two spacings, the nearest takes it all.
    """
    reach = 2.0 * skin.patch_spacings[loads.patch]
    near = skin.near(loads, reach)
    _falling(near.begin, near.distance, reach)
    return Shares(near.begin, near.taxel, near.distance)


RESPONSE_FUNCTIONS: dict[str, Response] = {
    "nearest": nearest,
    "spread_linear": spread_linear,
    "hertz": hertz,
}


@njit(cache=True)
def _falling(begin, distance, reach):
    """Makes of distances the weights that fall from 1 to 0 at reach (m,)."""
    for m in range(len(reach)):
        for e in range(begin[m], begin[m + 1]):
            distance[e] = max(1.0 - distance[e] / reach[m], 0.0)

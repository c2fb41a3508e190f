"""How a load is shared out among taxels.

The taxel that takes a load is the nearest to its point, of those that face it: a load on one face of a thin
plate is not felt on the other. A taxel faces a load unless its outward normal lies along the load's direction
into the body (their cosine 0.3 or more). Only where no facing taxel lies within two spacings does the nearest
of all take it, so that nothing is ever lost. A load is spread over facing taxels that a path over the surface
joins to that one.

A response function of one's own gives weights to the taxels around each load (`Skin.near`); `Shares` sees to
it that the sums agree. See docs/skin.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.skin.elastic import EACH, add_readings
from tactile_sim.skin.hertz import contact_radius, pressure
from tactile_sim.skin.layer import TOUCHED
from tactile_sim.skin.loads import LOAD, Loads
from tactile_sim.skin.patches import AREA, SPACING, TaxelIndex
from tactile_sim.skin.shares import Shares
from tactile_sim.skin.walk import walk

if TYPE_CHECKING:
    from tactile_sim.skin.skin import Skin

Response = Callable[["Skin", "Loads"], "Shares | tuple[Loads, Shares]"]
"""Map a skin and m loads to the shares of taxels in them, or to other loads and the shares in those."""

NO_SUMS, NO_LOADS, NO_TAXELS = np.empty((0, 1)), np.empty(0, LOAD), np.empty(0, np.int64)
DISTANCES, NEAREST, LINEAR, HERTZ, ELASTIC = range(5)


def nearest(skin: Skin, loads: Loads) -> Shares:
    """The nearest taxel takes it all."""
    return Shares(*skin.spread(loads, NEAREST))


def spread_linear(skin: Skin, loads: Loads) -> Shares:
    """Shares that fall linearly with the distance from the point, to 0 at two spacings.

    Where no taxel lies within two spacings, the nearest takes it all.
    """
    return Shares(*skin.spread(loads, LINEAR))


def hertz(skin: Skin, loads: Loads) -> Shares:
    """The pressure between two round elastic bodies, on each taxel by its area.

    After H. Hertz (1882), as in K. L. Johnson, Contact Mechanics (1985), section 4.2: a force F along the
    normal makes an area of contact of radius a = (3 F R / 4 E)^(1/3), over which the pressure falls with the
    distance r as p = p0 sqrt(1 - (r/a)^2). R is the effective radius of the two surfaces (see `curvature`). E
    is the skin's plane-strain modulus ``skin.stiffness``; what touches it is rigid, or another such skin, and
    then E is half of it. The sum is kept at the load by scaling p0; where no taxel lies within a, the nearest
    takes it all.
    """
    return Shares(*skin.spread(loads, HERTZ))


def elastic_foundation(skin: Skin, loads: Loads) -> tuple[Loads, Shares]:
    """Pressure over the area where the surfaces touch, see `tactile_sim.skin.elastic`.

    Returns loads that replace the given ones: one on each pressed taxel, in the middle of its pressure. Loads
    that cannot press over an area are spread linearly: those that pull, those against a flex, and those
    without a taxel in reach.
    """
    group, room = np.empty(len(loads), np.int64), 256
    while True:
        table, taxel = np.empty(room, LOAD), np.empty(room, np.int64)
        count, _ = add_readings(loads.table, group, *skin.elastic_arrays, EACH, NO_SUMS, table, taxel)
        if count <= room:
            break
        room = count
    rest = loads[group < 0]
    linear = spread_linear(skin, rest)
    begin = np.concatenate([np.arange(count), count + linear.begin])
    weight = np.concatenate([np.ones(count), linear.weight])
    spread = Loads(np.concatenate([table[:count], rest.table]))
    return spread, Shares(begin, np.concatenate([taxel[:count], linear.taxel]), weight)


def add_elastic(skin: Skin, loads: Loads, quantity: int, sums: np.ndarray) -> tuple[Loads | None, np.ndarray]:
    """Add what taxels read of loads by `elastic_foundation` to sums (n, 1 + c).

    Returns:
        The loads that are left over, to be spread linearly, or None, and the taxels that read something.
    """
    group = np.empty(len(loads), np.int64)
    arrays = skin.elastic_arrays
    count, left = add_readings(loads.table, group, *arrays, quantity, sums, NO_LOADS, NO_TAXELS)
    return loads[group < 0] if left else None, arrays[-1][TOUCHED][:count]


RESPONSE_FUNCTIONS: dict[str, Response] = {
    "nearest": nearest,
    "spread_linear": spread_linear,
    "hertz": hertz,
    "elastic_foundation": elastic_foundation,
}
LAWS: dict[Response, int] = {
    nearest: NEAREST,
    spread_linear: LINEAR,
    hertz: HERTZ,
    elastic_foundation: ELASTIC,
}
"""What `spread` and `elastic` know."""
PER_LOAD = [name for name in RESPONSE_FUNCTIONS if name != "elastic_foundation"]
"""Names of those that share each load by itself."""


@kernel
def spread(loads, law, reach, stiffness, extents, arrays, begin, taxel, weight):
    """Writes the taxels around each load and their weights, load after load; returns how many there are.

    loads (m,) of `loads.LOAD`; law: NEAREST, LINEAR or HERTZ, or DISTANCES for these in place of weights, up
    to reach (m,) [m]; arrays: those of `TaxelIndex`. Where there is no room for all it returns -1, and
    `TaxelIndex.scratch_distance` must be made infinite again.
    """
    index, count = TaxelIndex(*arrays), 0
    for m in range(len(loads)):
        begin[m] = count
        load = loads[m]
        limit, spacings = 0.0, 0.0
        if law == DISTANCES:
            limit = reach[m]
        elif law == LINEAR:
            spacings = 2.0
        elif law == HERTZ:
            limit = contact_radius(load, stiffness)
        found = walk(load, limit, spacings, extents, index, taxel[count:])
        if found < 0:
            return -1
        limit += spacings * extents[taxel[count], SPACING]
        for k in range(count, count + found):
            distance = index.scratch_distance[taxel[k]]
            index.scratch_distance[taxel[k]] = np.inf
            if law == LINEAR:
                weight[k] = max(1.0 - distance / limit, 0.0)
            elif law == HERTZ:
                weight[k] = extents[taxel[k], AREA] * pressure(distance, limit)
            else:
                weight[k] = distance
        if law == NEAREST:
            weight[count] = 1.0
            found = 1
        count += found
    begin[len(loads)] = count
    return count

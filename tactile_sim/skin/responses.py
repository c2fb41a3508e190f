"""Response functions, which distribute a load over taxels.

The nearest taxel that faces a load receives it, so a load on one face of a thin plate does not reach the
other face. A taxel faces a load if the cosine between its outward normal and the load's normal, which points
into the body, is below 0.3. If there is no facing taxel within two spacings, the nearest of all taxels
receives the load, so no load is lost. A load is only spread over facing taxels that are connected to the
receiving taxel by a path over the surface.

A user-defined response function finds the taxels around each load with `Skin.taxels_near_loads` and returns
their weights as `Shares`; the weights need not be normalized. See docs/skin.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.skin.elastic import EACH, add_readings
from tactile_sim.skin.hertz import contact_radius, pressure
from tactile_sim.skin.loads import LOAD, Loads
from tactile_sim.skin.patches import AREA, SPACING, TaxelIndex
from tactile_sim.skin.shares import Shares
from tactile_sim.skin.walk import walk

if TYPE_CHECKING:
    from tactile_sim.skin.skin import Skin

Response = Callable[["Skin", "Loads"], "Shares | tuple[Loads, Shares]"]
"""Function that maps a skin and m loads to the shares of taxels, or to replacement loads and their shares."""

NO_SUMS = np.empty((0, 1))
DISTANCES, NEAREST, LINEAR, HERTZ, ELASTIC = range(5)


def nearest(skin: Skin, loads: Loads) -> Shares:
    """Assign each load to the taxel that receives it: the nearest taxel that faces the load."""
    return Shares(*skin.spread(loads, NEAREST))


def spread_linear(skin: Skin, loads: Loads) -> Shares:
    """Distribute loads with weights that decrease linearly with the distance, to 0 at two spacings.

    If no taxel is within two spacings, the nearest one receives the whole load. Where pads with different
    spacings adjoin, the smallest spacing applies, or the distance of that pad's nearest taxel if it is larger
    (at most the largest spacing), so that readings change continuously. Taxels of a finer pad then count in
    proportion to their cells.
    """
    return Shares(*skin.spread(loads, LINEAR))


def hertz(skin: Skin, loads: Loads) -> Shares:
    """Distribute loads in proportion to taxel area times the pressure between round elastic bodies.

    This follows H. Hertz (1882), as in K. L. Johnson, Contact Mechanics (1985), section 4.2: a force F along
    the normal produces a contact area of radius a = (3 F R / 4 E)^(1/3), in which the pressure decreases with
    the distance r as p = p0 sqrt(1 - (r/a)^2). R is the effective radius of the two surfaces (see
    `curvature`). E is the skin's plane-strain modulus ``skin.stiffness`` if the other body is rigid, and
    1 / (1/E1 + 1/E2) between two skins. p0 is scaled so that the shares sum to the load. If no taxel is
    within the distance a, the nearest one receives the whole load.
    """
    return Shares(*skin.spread(loads, HERTZ))


def elastic_foundation(skin: Skin, loads: Loads) -> tuple[Loads, Shares]:
    """Distribute loads over the area where the surfaces touch, see `tactile_sim.skin.elastic`.

    Returns replacement loads, one at the centre of pressure of each pressed taxel, and their shares.
    Loads that pull, act against a flex, or have no taxel in reach cannot be spread over an area; they are
    distributed with `spread_linear`.
    """
    group, room = np.empty(len(loads), np.int64), 256
    while True:
        table, taxel = np.empty(room, LOAD), np.empty(room, np.int64)
        count, _ = add_readings(loads.table, group, skin.elastic_table, EACH, NO_SUMS, table, taxel)
        if count <= room:
            break
        room = count
    rest = loads[group < 0]
    linear = spread_linear(skin, rest)
    begin = np.concatenate([np.arange(count), count + linear.begin])
    weight = np.concatenate([np.ones(count), linear.weight])
    spread = Loads(np.concatenate([table[:count], rest.table]))
    return spread, Shares(begin, np.concatenate([taxel[:count], linear.taxel]), weight)


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
"""Number of the law that kernels use for each built-in response function."""
PER_LOAD = [name for name in RESPONSE_FUNCTIONS if name != "elastic_foundation"]
"""Names of the response functions that distribute each load independently of the others."""


@kernel(counted=False)
def spread(loads, law, reach, extents, arrays, begin, taxel, weight):
    """Write the taxels around each load and their weights, load by load; return the number of entries.

    Args:
        loads: (m,) loads, as an array of `loads.LOAD`.
        law: NEAREST, LINEAR or HERTZ, or DISTANCES to write distances [m] instead of weights.
        reach: (m,) maximum distance of taxels [m]; only used with DISTANCES.
        extents: (n, 3) array with the columns AREA, SPACING and LIMIT of `patches`.
        arrays: Fields of the skin's `TaxelIndex`, as a plain tuple.
        begin: (m + 1,) output: start of each load in ``taxel`` and ``weight``.
        taxel: Output: indices of the taxels.
        weight: Output: weights or distances.

    Returns:
        The number of entries, or -1 if the output is too small. In this case,
        `TaxelIndex.scratch_distance` must be reset to infinity.
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
            limit = contact_radius(load, index.patches)
        found = walk(load, limit, spacings, extents, index, taxel[count:])
        if found < 0:
            return -1
        width = index.patches[load.patch].spacing
        if law == LINEAR:
            for q in taxel[count : count + found]:
                width = min(width, max(extents[q, SPACING], index.scratch_distance[q]))
        for k in range(count, count + found):
            distance = index.scratch_distance[taxel[k]]
            index.scratch_distance[taxel[k]] = np.inf
            if law == LINEAR:
                part = min(extents[taxel[k], SPACING], width) / width
                weight[k] = part * part * max(1.0 - 0.5 * distance / width, 0.0)
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

"""Find the taxels of a patch that are near another body, using a tree, and measure their gaps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.solids import BOX, CYLINDER, MESH
from tactile_sim.geometry.triangle_bins import bin_triangles
from tactile_sim.geometry.vectors import along, dot, plus
from tactile_sim.skin.gaps import write_gaps
from tactile_sim.skin.layer import unpack
from tactile_sim.skin.materials import reach_of
from tactile_sim.skin.pairs import net_load
from tactile_sim.skin.patches import TaxelIndex, find_nearest
from tactile_sim.skin.reach import FACING, take, taxels_around

MISSED = 1e300
"""Gap of a taxel if the line from the taxel along the pair's normal misses the other body [m]."""
GUESS = 3.0
"""Depth of the first search for pressed points, relative to the depth estimated without a tilt."""
MOST_CUTS = 20
"""Maximum number of iterations of the depth estimate. Each iteration leaves out the taxels that are not
pressed at the previously estimated depth."""


class Nearby(NamedTuple):
    """Summary of the touching geoms and of the taxels near them.

    The taxels themselves are in ``Layer.near`` and ``Layer.taxel``.
    """

    found: int
    """Number of taxels near the touching geoms."""
    measured: int
    """Number of nearby taxels whose gaps have been measured. They are the first ones in ``Layer.near``."""
    geoms: int
    """Number of geoms of the other body that touch the skin."""
    is_round: bool
    """Whether all touching geoms are smooth (no box, cylinder or mesh)."""
    within: float
    """Distance from the touching geoms within which all taxels have been found [m]; -infinity at first."""
    least: float
    """Smallest gap of the nearby taxels [m]."""
    depth: float
    """Estimated indentation without a tilt, computed from the centers of the taxels alone [m]."""


@kernel
def bin_near(loads, group, number, arrays):
    """Return the result of `bin_triangles` for the other body and the taxels that it may press.

    ``number`` is the number of the pair of surfaces in ``group``. The other arguments are as in
    `elastic.add_readings`.
    """
    fields, quad, solids, layer = unpack(arrays)
    index = TaxelIndex(*fields)
    pair = net_load(loads, group, number)
    reach = reach_of(loads[pair.first], index.patches)
    nearby = taxels_at_contacts(loads, group, number, pair, index, quad, solids, layer)
    nearby = _search(nearby, loads, pair, quad, solids, layer, reach)
    for e in range(nearby.found):
        layer.gap[layer.taxel[e]] = np.inf
    near = layer.near[:3, : nearby.found]
    return bin_triangles(solids, layer.geoms[0, : nearby.geoms], layer.poses, near, reach)


@kernel(inline="always")
def _search(nearby, loads, pair, quad, solids, layer, within):
    """Add to the layer the taxels within a distance [m] of the touching geoms; return the new `Nearby`."""
    found = nearby.found
    for g in range(nearby.geoms):
        load = loads[layer.geoms[1, g]]
        found = taxels_around(load, solids.table[load.other], pair, quad, within, layer, found)
    _, measured, geoms, is_round, _, least, depth = nearby
    return Nearby(found, measured, geoms, is_round, within, least, depth)


@kernel(inline="always")
def measure(nearby, loads, pair, triangles, quad, solids, layer, reach, volume, depths):
    """Measure the gaps of the nearby taxels, and search farther if more taxels may be pressed.

    Args:
        nearby: The taxels found so far, and the touching geoms.
        loads: As in `taxels_at_contacts`.
        pair: As in `taxels_at_contacts`.
        triangles: Result of `bin_near`, or ``Layer.triangles`` without a mesh.
        quad: As in `taxels_at_contacts`.
        solids: As in `taxels_at_contacts`.
        layer: As in `taxels_at_contacts`.
        reach: Maximum distance of a pressed taxel from the touching geoms [m].
        volume: Sum of area times depth that balances the normal force [m3].
        depths: Depth up to which taxels may be pressed, as a multiple of `Nearby.depth`.

    Returns:
        The updated `Nearby`.
    """
    while True:
        nearby = _measure_new(nearby, triangles, solids, layer, volume)
        within, needed = nearby.within, nearby.least + depths * nearby.depth
        if not within < needed or within >= reach:  # also if the loads are not numbers
            return nearby
        nearby = _search(nearby, loads, pair, quad, solids, layer, min(max(needed, 0.0), reach))


@kernel(inline="always")
def _measure_new(nearby, triangles, solids, layer, volume):
    """Measure the gaps of the taxels found since the last call, and update the depth.

    The arguments are as in `measure`.

    Returns:
        The updated `Nearby`.
    """
    gap, taxel, near = layer.gap, layer.taxel, layer.near
    found, measured, geoms, is_round, within, least, _ = nearby
    write_gaps(near, measured, found, solids, layer, geoms, triangles)
    for e in range(measured, found):
        gap[taxel[e]] = min(near[3, e], MISSED)
        least = min(least, near[3, e])
    depth = _depth(near, found, least, volume)
    return Nearby(found, found, geoms, is_round, within, least, depth)


@kernel(inline="always")
def taxels_at_contacts(loads, group, number, pair, index, quad, solids, layer):
    """Write the touching geoms, their poses, and the taxels at the contacts to the layer.

    These are the taxels nearest to the contacts and their neighbors. The nearest ones are the only taxels
    that are found if a thin object touches between taxels.

    Args:
        loads: As in `pairs.net_load`.
        group: As in `pairs.net_load`.
        number: As in `pairs.net_load`.
        pair: Result of `pairs.net_load`.
        index: The skin's `TaxelIndex`.
        quad: The skin's `Quadrature`.
        solids: The scene's `Solids`.
        layer: Scratch memory, a `Layer`.

    Returns:
        The `Nearby` of these taxels, whose gaps are not measured.
    """
    found, count, round_other = 0, 0, True
    gap, taxel, near, cells, (nx, ny, nz) = layer.gap, layer.taxel, layer.near, quad.taxels, pair.axes[2]
    geoms, poses, table, order = layer.geoms, layer.poses, solids.table, quad.place
    for m in range(pair.first, len(loads)):
        if group[m] != number:
            continue
        load, known = loads[m], False
        for g in range(count):
            known |= geoms[0, g] == load.other
        if not known:
            rotation, kind = load.other_rotation, table[load.other].kind
            place = along(pair.axes, plus(load.other_position, -1.0, pair.origin))
            for i in range(3):
                axis = pair.axes[i]
                poses[count, i] = place[i]
                for j in range(3):
                    column = (rotation[0, j], rotation[1, j], rotation[2, j])
                    poses[count, 3 + 3 * i + j] = dot(axis, column)
            geoms[0, count], geoms[1, count] = load.other, m
            count += 1
            round_other &= kind != BOX and kind != CYLINDER and kind != MESH
        nearest = order[find_nearest(load, index)]
        if gap[nearest] == np.inf:
            cell = cells[nearest]
            cosine = -(cell.nx * nx + cell.ny * ny + cell.nz * nz)
            take(cell, nearest, cosine, pair, taxel, near, found)
            gap[nearest] = 0.0
            found += 1
    for e in range(found):
        found = _take_neighbors(e, pair, quad, layer, found)
    return Nearby(found, 0, count, round_other, -np.inf, np.inf, np.inf)


@kernel(fastmath={"reassoc", "contract", "nsz"}, counted=False)
def _depth(near, count, least, pressing):
    """Estimate the indentation without a tilt from the gaps at the centers of taxels alone [m].

    Args:
        near: `Layer.near`.
        count: Number of taxels in ``near``.
        least: Smallest gap [m].
        pressing: Sum of area times depth that balances the normal force [m3].

    Returns:
        The depth relative to the smallest gap [m], or infinity if no taxel has a finite gap.
    """
    depth = np.inf
    for _ in range(MOST_CUTS):
        area, volume = 0.0, 0.0
        for e in range(count):
            above = near[3, e] - least
            own = near[5, e] if above < depth else 0.0
            area += own
            volume += own * above if above < depth else 0.0
        if area == 0.0:
            return np.inf
        if (volume + pressing) / area >= depth:
            break
        depth = (volume + pressing) / area
    return depth


@kernel(inline="always")
def add_neighbors(nearby, some, pair, triangles, quad, solids, layer):
    """Add the neighbors of the taxels in ``layer.several`` to the nearby taxels, and measure their gaps.

    Args:
        nearby: Result of `measure`.
        some: Number of taxels in ``layer.several``.
        pair: As in `measure`.
        triangles: As in `measure`.
        quad: As in `measure`.
        solids: As in `measure`.
        layer: As in `measure`.

    Returns:
        The updated `Nearby`, including the neighbors.
    """
    gap, taxel, near = layer.gap, layer.taxel, layer.near
    _, measured, geoms, is_round, within, least, depth = nearby
    found = measured
    for n in range(some):
        found = _take_neighbors(layer.several[n], pair, quad, layer, found)
    write_gaps(near, measured, found, solids, layer, geoms, triangles)
    for e in range(measured, found):
        gap[taxel[e]] = min(near[3, e], MISSED)
    return Nearby(found, found, geoms, is_round, within, least, depth)


@kernel(inline="always")
def _take_neighbors(e, pair, quad, layer, found):
    """Append the neighbors of a nearby taxel that face the other body, unless they have been found before.

    Args:
        e: Column of the taxel in ``layer.near``.
        pair: As in `measure`.
        quad: As in `measure`.
        layer: As in `measure`.
        found: Number of taxels in the layer before the call.

    Returns:
        The number of taxels in the layer after the call.
    """
    cells, beside, gap, taxel, near = quad.taxels, quad.beside, layer.gap, layer.taxel, layer.near
    nx, ny, nz = pair.axes[2]
    for n in range(beside.shape[1]):
        t = beside[taxel[e], n]
        if gap[t] == np.inf:
            cell = cells[t]
            cosine = -(cell.nx * nx + cell.ny * ny + cell.nz * nz)
            if cosine > FACING:
                take(cell, t, cosine, pair, taxel, near, found)
                gap[t] = MISSED
                found += 1
    return found

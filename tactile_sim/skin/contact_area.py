"""Find the possible contact area of a skin and another body: the points of the skin that may be pressed.

Kernels with tuples of arrays as arguments are inlined, because a call would copy all array descriptors.
"""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.skin.gaps import UPRIGHT, level_face, write_gaps
from tactile_sim.skin.nearby import MISSED, add_neighbors
from tactile_sim.skin.quadrature import NX, POINT_AREA
from tactile_sim.skin.reach import FACING

UNEVEN = 0.25
"""The gap is uneven where the gaps of neighboring taxels differ by more than this, relative to their
spacing."""
LEVEL_SLOPE = 0.12
"""Maximum slope of the gap between two neighboring taxels: the difference of their gaps divided by their
distance. It holds for taxels in one plane under a level face, and must be at least sin(2 acos(UPRIGHT)) +
`quadrature.FLAT`."""


@kernel(inline="always")
def contact_points(nearby, pair, triangles, quad, solids, layer, spacing, limit, most):
    """Fill ``layer.points`` with the points of a patch that the other body may press.

    A taxel is represented by one point if the gap is even over its cell, and by several points at an edge of
    either surface.

    Args:
        nearby: Result of `nearby.measure`.
        pair: The `Pair`.
        triangles: As in `nearby.measure`.
        quad: The skin's `Quadrature`.
        solids: The scene's `Solids`.
        layer: Scratch memory, a `Layer`.
        spacing: Spacing of the patch's taxels [m].
        limit: Largest gap of a taxel that may be pressed [m].
        most: The result is empty if the gaps of all points exceed this [m].

    Returns:
        The `Nearby` extended by neighboring taxels, the number of points, and the smallest gap [m].
    """
    count, some = _level_points(nearby, quad, solids, layer, limit, UNEVEN * spacing)
    nearby = add_neighbors(nearby, some, pair, triangles, quad, solids, layer)
    count, kept = _even_points(nearby, some, count, quad, layer, UNEVEN * spacing)
    kept = _add_beside(nearby, kept, layer, limit)
    count, least = _cell_points(nearby, kept, count, pair, triangles, quad, solids, layer, most)
    return nearby, count, least


@kernel(inline="always")
def _level_points(nearby, quad, solids, layer, limit, uneven):
    """Write one point for each taxel that lies, with all its neighbors, under a level face.

    The other taxels within the limit are written to ``layer.several``.

    Args:
        nearby: As in `contact_points`.
        quad: As in `contact_points`.
        solids: As in `contact_points`.
        layer: As in `contact_points`.
        limit: As in `contact_points`.
        uneven: Difference between the gaps of neighboring taxels above which there is an edge [m].

    Returns:
        The number of points, and the number of taxels in ``layer.several``.
    """
    near, several, count, some = layer.near, layer.several, 0, 0
    level, a, b, half_a, half_b = level_face(solids, layer, nearby.geoms)
    for e in range(nearby.found):
        here, margin = near[3, e], near[6, e]
        if here > limit:
            continue
        if level and margin >= 0.0 and near[4, e] > UPRIGHT:
            x, y, z = near[0, e], near[1, e], near[2, e] - here
            inside = abs(a[0] + a[1] * x + a[2] * y + a[3] * z) + 1.1 * margin <= half_a
            inside &= abs(b[0] + b[1] * x + b[2] * y + b[3] * z) + 1.1 * margin <= half_b
            if inside and LEVEL_SLOPE * margin <= uneven:
                _add_point(near, e, quad.taxels[layer.taxel[e]].id, layer.points, layer.owner, count)
                count += 1
                continue
        several[some] = e
        some += 1
    return count, some


@kernel(inline="always")
def _even_points(nearby, some, count, quad, layer, uneven):
    """Write one point for each taxel with an even gap, and keep those that need several points.

    For the neighbors of these taxels, `Layer.low` is updated.

    Args:
        nearby: As in `contact_points`.
        some: Number of taxels in ``layer.several``.
        count: Number of points written so far.
        quad: As in `contact_points`.
        layer: As in `contact_points`.
        uneven: As in `_level_points`.

    Returns:
        The number of points, and the number of taxels kept in ``layer.several``.
    """
    near, several, gaps, lows, beside, kept = layer.near, layer.several, layer.gap, layer.low, quad.beside, 0
    for k in range(some):
        e = several[k]
        t, here = layer.taxel[e], near[3, e]
        low = high = here
        for n in range(beside.shape[1]):
            b = beside[t, n]
            there = gaps[b]
            low = there if there < low else low
            high = there if there > high else high
            lows[b] = here if (here < lows[b]) & (there < np.inf) else lows[b]
        even = near[6, e] >= 0.0 and near[4, e] > FACING
        if even and here - low <= uneven and high - here <= uneven:
            _add_point(near, e, quad.taxels[t].id, layer.points, layer.owner, count)
            count += 1
        else:
            several[kept] = e
            kept += 1
    return count, kept


@kernel(inline="always")
def _add_beside(nearby, kept, layer, limit):
    """Add taxels beyond the limit that have neighbors within it, and whose cells may be pressed in part.

    Args:
        nearby: As in `contact_points`.
        kept: Number of taxels in ``layer.several``, to which the taxels are added.
        layer: As in `contact_points`, after `_even_points`.
        limit: As in `contact_points`.

    Returns:
        The new number of taxels in ``layer.several``.
    """
    near = layer.near
    for e in range(nearby.found):
        here, low = near[3, e], layer.low[layer.taxel[e]]
        # Between two smooth surfaces, the gap beside a taxel is about the mean of both gaps.
        between = nearby.is_round and near[6, e] >= 0.0 and here < np.inf
        beside_it = 0.5 * (here + low) if between else low
        if here > limit and low < np.inf and beside_it <= limit:
            layer.several[kept] = e
            kept += 1
    return kept


@kernel(inline="always")
def _cell_points(nearby, kept, count, pair, triangles, quad, solids, layer, most):
    """Write all points of the taxels in ``layer.several[:kept]`` that face the other body.

    ``count`` is the number of points written so far. The other arguments are as in `contact_points`.

    Returns:
        The number of points, or 0 if the gaps of all points exceed ``most``; and the smallest gap [m].
    """
    points, owner, own, cells = layer.points, layer.owner, quad.points, quad.taxels
    nx, ny, nz = pair.axes[2]
    some = count
    for k in range(kept):
        e = layer.several[k]
        t, cosine = layer.taxel[e], layer.near[4, e]
        taxel, first, last = cells[t].id, cells[t].begin, cells[t + 1].begin
        same = cells[t].margin >= 0.0 and cosine > FACING  # the points have the normal of the taxel
        for q in range(first, last):
            if not same:
                x, y, z = own[q, NX], own[q, NX + 1], own[q, NX + 2]
                cosine = 1.0 if (x == 0.0) & (y == 0.0) & (z == 0.0) else -(x * nx + y * ny + z * nz)
            # A point that faces away is overwritten by the next one: branches would take longer.
            points[0, some], points[1, some], points[2, some] = own[q, 0], own[q, 1], own[q, 2]
            points[4, some], owner[some] = cosine * own[q, POINT_AREA], taxel
            some += cosine > FACING
    _to_pair(points[0, count:some], points[1, count:some], points[2, count:some], pair.axes, pair.origin)
    write_gaps(points, count, some, solids, layer, nearby.geoms, triangles)
    least = _limit_gaps(points[3, count:some])
    return some if count > 0 or least <= most else 0, min(least, nearby.least)


@kernel(counted=False)
def _to_pair(xs, ys, zs, axes, origin):
    """Transform points in place from the body's frame to that of a `Pair`, with its ``axes`` and ``origin``.

    The coordinates ``xs``, ``ys`` and ``zs`` (k,) are in separate arrays, so that the loop compiles to vector
    instructions.
    """
    (ux, uy, uz), (vx, vy, vz), (nx, ny, nz) = axes
    ox, oy, oz = origin
    for k in range(len(xs)):
        x, y, z = xs[k] - ox, ys[k] - oy, zs[k] - oz
        xs[k] = ux * x + uy * y + uz * z
        ys[k] = vx * x + vy * y + vz * z
        zs[k] = nx * x + ny * y + nz * z


@kernel(fastmath={"nnan", "nsz", "reassoc"}, counted=False)
def _limit_gaps(gaps):
    """Reduce infinite gaps to MISSED, because sums over infinite depths are not numbers; return the least."""
    least = np.inf
    for k in range(len(gaps)):
        least = gaps[k] if gaps[k] < least else least
        gaps[k] = gaps[k] if gaps[k] < MISSED else MISSED
    return least


@kernel(counted=False)
def _add_point(near, e, taxel, points, owner, count):
    """Write a single point that represents a nearby taxel.

    Args:
        near: ``Layer.near``.
        e: Column of the taxel in ``near``.
        taxel: Index of the taxel in the skin.
        points: ``Layer.points``, modified in place.
        owner: ``Layer.owner``, modified in place.
        count: Number of points so far, which is the index of the new one.
    """
    points[0, count], points[1, count], points[2, count] = near[0, e], near[1, e], near[2, e]
    points[3, count], points[4, count], owner[count] = near[3, e], near[4, e] * near[5, e], taxel

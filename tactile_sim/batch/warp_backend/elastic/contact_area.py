"""Find the possible contact area of a skin and another body: the points of the skin that may be pressed."""

import warp as wp
from warp import float64 as real

from tactile_sim.batch.warp_backend.elastic import constants
from tactile_sim.batch.warp_backend.elastic.arrays import Layer
from tactile_sim.batch.warp_backend.elastic.gaps import gap_at, level_face
from tactile_sim.batch.warp_backend.elastic.nearby import Nearby, add_neighbors, cosine_of
from tactile_sim.batch.warp_backend.elastic.pairs import Pair
from tactile_sim.skin.quadrature import NX, POINT_AREA


@wp.struct
class Area:
    """Possible contact area.

    Attributes:
        near: Summary of the taxels that are near the other body.
        count: Number of points written to ``Layer.points``.
        unsure: Number of taxels in ``Layer.several``, which may need several points.
        least: Smallest gap between the skin and the other body [m].
    """

    near: Nearby
    count: int
    unsure: int
    least: real


@wp.func
def add_point(layer: Layer, lane: int, e: int, count: int):
    """Write the center of taxel ``e`` of ``Layer.near`` as a point to index ``count`` of ``Layer.points``."""
    for i in range(4):
        layer.points[i, count, lane] = layer.near[i, e, lane]
    layer.points[4, count, lane] = layer.near[4, e, lane] * layer.near[5, e, lane]
    layer.owner[count, lane] = layer.cells[layer.taxel[e, lane]].id


@wp.func
def is_far(layer: Layer, lane: int, e: int, limit: real, least: real):
    """Return whether a smooth taxel is too far from a smooth surface for any point of its cell to touch.

    ``e`` is the taxel's index in ``Layer.near``, ``limit`` is the largest gap at which points may be pressed
    [m], and ``least`` is the smallest gap of all taxels [m].
    """
    above = layer.near[3, e, lane] - least
    far = real(2.0) * (limit - least) < above and above < real(wp.inf)
    return far and layer.near[6, e, lane] >= real(0.0)


@wp.func
def add_level_points(layer: Layer, lane: int, area: Area, limit: real, uneven: real):
    """Write one point for each taxel that lies, with its neighbors, under a level face.

    Other taxels that may be pressed are appended to ``Layer.several``. ``limit`` is the largest gap at which
    points may be pressed [m], and ``uneven`` the largest difference between the gaps of two neighbors for
    which one point is enough [m].

    Returns:
        The updated `Area`.
    """
    near = area.near
    face = level_face(layer, lane, near.geoms)
    for e in range(near.found):
        here, margin = layer.near[3, e, lane], layer.near[6, e, lane]
        if near.is_round and is_far(layer, lane, e, limit, near.least):
            continue
        even = face.exists and here <= limit and margin >= real(0.0)
        even = even and layer.near[4, e, lane] > real(wp.static(constants.UPRIGHT))
        if even and real(wp.static(constants.LEVEL_SLOPE)) * margin <= uneven:
            at = wp.vec3d(layer.near[0, e, lane], layer.near[1, e, lane], layer.near[2, e, lane] - here)
            edge = real(1.1) * margin
            if (
                wp.abs(face.start_a + wp.dot(face.a, at)) + edge <= face.half_a
                and wp.abs(face.start_b + wp.dot(face.b, at)) + edge <= face.half_b
            ):
                add_point(layer, lane, e, area.count)
                area.count += 1
                continue
        layer.several[area.unsure, lane] = e
        area.unsure += 1
    return area


@wp.func
def add_even_points(layer: Layer, lane: int, pair: Pair, area: Area, limit: real, uneven: real):
    """Write one point for each taxel in ``Layer.several`` whose gap is about that of its neighbors.

    Return the updated `Area`. Only taxels that need several points remain in ``Layer.several``. ``limit`` and
    ``uneven`` are as in `add_level_points`.
    """
    kept = int(0)
    for k in range(area.unsure):
        e = layer.several[k, lane]
        t = layer.taxel[e, lane]
        here, smooth = layer.near[3, e, lane], layer.near[6, e, lane] >= real(0.0)
        low, high = real(here), real(here)
        for n in range(layer.beside.shape[1]):
            there = layer.gap[layer.beside[t, n] - pair.base, lane]
            low, high = wp.min(low, there), wp.max(high, there)
        beside_it = real(low)
        if area.near.is_round and smooth and here < real(wp.inf):
            beside_it = real(0.5) * (here + low)
        even = smooth and here <= limit and high - here <= uneven and here - low <= uneven
        if even and layer.near[4, e, lane] > real(wp.static(constants.FACING)):
            add_point(layer, lane, e, area.count)
            area.count += 1
        elif beside_it <= limit or area.near.least == real(wp.inf):
            layer.several[kept, lane] = e
            kept += 1
    area.unsure = kept
    return area


@wp.func
def add_cell_points(layer: Layer, lane: int, pair: Pair, area: Area):
    """Write the quadrature points of the taxels in ``Layer.several``; return the updated `Area`.

    Points that face away from the other body, or have no finite gap, are skipped.
    """
    area.least = area.near.least
    for k in range(area.unsure):
        t = layer.taxel[layer.several[k, lane], lane]
        for q in range(layer.cells[t].begin, layer.cells[t + 1].begin):
            normal = wp.vec3d(
                layer.own[q, wp.static(NX)], layer.own[q, wp.static(NX + 1)], layer.own[q, wp.static(NX + 2)]
            )
            cosine = real(1.0)
            if wp.dot(normal, normal) != real(0.0):
                cosine = cosine_of(normal, pair)
            if cosine > real(wp.static(constants.FACING)):
                at = wp.vec3d(layer.own[q, 0], layer.own[q, 1], layer.own[q, 2]) - pair.origin
                at = pair.axes * at
                gap = gap_at(layer, lane, area.near.geoms, at[0], at[1], at[2])
                if gap < real(wp.inf):
                    area.least = wp.min(area.least, gap)
                    for i in range(3):
                        layer.points[i, area.count, lane] = at[i]
                    layer.points[3, area.count, lane] = gap
                    layer.points[4, area.count, lane] = cosine * layer.own[q, wp.static(POINT_AREA)]
                    layer.owner[area.count, lane] = layer.cells[t].id
                    area.count += 1
    return area


@wp.func
def contact_points(layer: Layer, lane: int, pair: Pair, near: Nearby, limit: real):
    """Write the points of a patch that the other body may press to ``Layer.points``; return the `Area`.

    ``near`` is the result of `measure`, and ``limit`` is the largest gap at which points may be pressed [m].
    """
    uneven = real(wp.static(constants.UNEVEN)) * pair.spacing
    area = Area()
    area.near = near
    area = add_level_points(layer, lane, area, limit, uneven)
    before = near.found
    area.near = add_neighbors(layer, lane, pair, area.near, area.unsure, limit)
    for e in range(before, area.near.found):
        if not (near.is_round and is_far(layer, lane, e, limit, near.least)):
            layer.several[area.unsure, lane] = e
            area.unsure += 1
    area = add_even_points(layer, lane, pair, area, limit, uneven)
    return add_cell_points(layer, lane, pair, area)

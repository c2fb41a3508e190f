"""Pressures between touching surfaces, and the Warp kernels of `elastic_foundation`.

The method is that of core/src/elastic.cpp and layer.cpp. One thread processes a patch in one environment,
one pair after another, so results do not depend on the order in which threads run.
"""

import warp as wp
from warp import float64 as real

from tactile_sim.batch.warp.contacts import GEOMS
from tactile_sim.batch.warp.elastic_arrays import Layer
from tactile_sim.batch.warp.elastic_surfaces import (
    FACING,
    GUESS,
    UPRIGHT,
    Nearby,
    Pair,
    add_neighbors,
    cosine_of,
    find_taxels,
    gap_at,
    group_loads,
    level_face,
    load_at,
    measure,
    net_load,
)
from tactile_sim.batch.warp.taxels import (
    Geom,
    Taxels,
    add_load,
    add_reading,
    find_nearest,
    is_outside,
    load_of,
)
from tactile_sim.batch.warp.taxels import Load as Point
from tactile_sim.skin import touch_functions
from tactile_sim.skin.quadrature import NX, POINT_AREA
from tactile_sim.skin.responses import LINEAR

# The values are those of core/src.
UNEVEN = 0.25
"""The gap is uneven where the gaps of neighboring taxels differ by more than this, relative to their
spacing."""
LEVEL_SLOPE = 0.12
"""Maximum slope of the gap between two neighboring taxels: the difference of their gaps divided by their
distance. It holds for taxels in one plane under a level face, and must be at least sin(2 acos(UPRIGHT)) +
`quadrature.FLAT`."""
DEPTHS = GUESS, 1e30
"""Depths up to which points may be pressed, as multiples of the depth estimated without a tilt.

The second depth is only used if the moment of the loads cannot be balanced within the first depth, or only by
a tilt that also presses deeper points.
"""
BEYOND = 1.5
"""Distance by which the tilted layer is extrapolated beyond the pressed points, to check whether it also
presses deeper points [spacings]."""
SMALL = 1e-8
"""Torsional moments below this fraction of the normal force times the spacing are ignored."""
CLOSE = 1e-7
"""Tolerance of the center of pressure, relative to the spacing."""
OUT_OF_REACH = 1e-3
"""The required center of pressure is out of reach if it is missed by more than this fraction of the spacing.

In this case, deeper points are tried, which doubles the cost.
"""
MOST_ROUNDS = 20
"""Maximum number of iterations; curved skins need several, because a twist changes the other moments."""
TILT_PENALTY = 1e-9
"""Penalty stiffness of the tilts, relative to that of the layer itself at a distance of one spacing."""
MOST_STEPS = 60
STEEPEST = 0.5
"""A shortened step is too short if the energy at its end still descends with more than this fraction of the
initial slope."""


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
        even = even and layer.near[4, e, lane] > real(wp.static(UPRIGHT))
        if even and real(wp.static(LEVEL_SLOPE)) * margin <= uneven:
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
        if even and layer.near[4, e, lane] > real(wp.static(FACING)):
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
            if cosine > real(wp.static(FACING)):
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
    uneven = real(wp.static(UNEVEN)) * pair.spacing
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


@wp.struct
class Energy:
    """Energy that `balance` minimizes, with its gradient and Hessian for the three values of ``tilt``."""

    value: real
    gradient: wp.vec3d
    hessian: wp.mat33d


@wp.struct
class Balance:
    """Result of `balance`.

    Attributes:
        tilt: Indentation at the center of pressure [m], and the slopes of the indentation along u and v.
        u: First coordinate of the resulting center of pressure [m].
        v: Second coordinate of the resulting center of pressure [m].
    """

    tilt: wp.vec3d
    u: real
    v: real


@wp.func
def energy_of(
    layer: Layer, lane: int, count: int, stiffness: real, force: real, penalty: real, u: real, v: real,
    tilt: wp.vec3d,
):  # fmt: skip
    """Return the `Energy` for the indentation and the two slopes in ``tilt``.

    ``penalty`` is a small stiffness against tilts [N m], which makes the minimum unique. The other arguments
    are as in `balance`.
    """
    value, s0, s1, s2 = real(0.0), real(0.0), real(0.0), real(0.0)
    a00, a01, a02 = real(0.0), real(0.0), real(0.0)
    a11, a12, a22 = real(0.0), real(0.0), real(0.0)
    for k in range(count):
        du, dv = layer.points[0, k, lane] - u, layer.points[1, k, lane] - v
        depth = tilt[0] + tilt[1] * du + tilt[2] * dv - layer.points[3, k, lane]
        if depth > real(0.0):
            w = layer.points[4, k, lane]
            wd, wu, wv = w * depth, w * du, w * dv
            value += wd * depth
            s0 += wd
            s1 += wd * du
            s2 += wd * dv
            a00 += w
            a01 += wu
            a02 += wv
            a11 += wu * du
            a12 += wu * dv
            a22 += wv * dv
    out = Energy()
    out.value = real(0.5) * stiffness * value - force * tilt[0]
    out.value += real(0.5) * penalty * (tilt[1] * tilt[1] + tilt[2] * tilt[2])
    out.gradient = wp.vec3d(
        stiffness * s0 - force, stiffness * s1 + penalty * tilt[1], stiffness * s2 + penalty * tilt[2]
    )
    out.hessian = wp.mat33d(
        stiffness * a00, stiffness * a01, stiffness * a02,
        stiffness * a01, stiffness * a11 + penalty, stiffness * a12,
        stiffness * a02, stiffness * a12, stiffness * a22 + penalty,
    )  # fmt: skip
    return out


@wp.func
def newton_step(g: wp.vec3d, h: wp.mat33d):
    """Solve the symmetric linear system ``h x = -g`` for the Newton step ``x``.

    The first unknown, the indentation, is eliminated; the other two, the tilts, follow from Cramer's rule.

    Args:
        g: Gradient.
        h: Hessian.
    """
    a = h[1, 1] - h[0, 1] * h[0, 1] / h[0, 0]
    b = h[1, 2] - h[0, 1] * h[0, 2] / h[0, 0]
    c = h[2, 2] - h[0, 2] * h[0, 2] / h[0, 0]
    g1, g2 = g[1] - h[0, 1] * g[0] / h[0, 0], g[2] - h[0, 2] * g[0] / h[0, 0]
    determinant = a * c - b * b
    d1 = -(c * g1 - b * g2) / determinant
    d2 = -(a * g2 - b * g1) / determinant
    return wp.vec3d(-(g[0] + h[0, 1] * d1 + h[0, 2] * d2) / h[0, 0], d1, d2)


@wp.func
def lowest(layer: Layer, lane: int, count: int, u: real, v: real, tilt: wp.vec3d):
    """Return the indentation [m] at which the first point touches, for the tilts in ``tilt``."""
    low = real(wp.inf)
    for k in range(count):
        du, dv = layer.points[0, k, lane] - u, layer.points[1, k, lane] - v
        low = wp.min(low, layer.points[3, k, lane] - tilt[1] * du - tilt[2] * dv)
    return low


@wp.func
def balance(
    layer: Layer, lane: int, count: int, stiffness: real, force: real, spacing: real, u: real, v: real,
    tilt: wp.vec3d,
):  # fmt: skip
    """Find the indentation and the tilts that balance a force at a center of pressure.

    ``stiffness``: Stiffness of the layer [Pa/m].
    ``force``: Normal force > 0 [N].
    ``spacing``: Typical distance between points [m].
    ``u``: First coordinate of the center of pressure [m].
    ``v``: Second coordinate of the center of pressure [m].
    ``tilt``: Initial indentation at the center [m], and its slopes along u and v.

    Returns:
        The `Balance`.
    """
    total = real(0.0)
    for k in range(count):
        total += layer.points[4, k, lane]
    penalty = real(wp.static(TILT_PENALTY)) * stiffness * total * spacing * spacing
    now = energy_of(layer, lane, count, stiffness, force, penalty, u, v, tilt)
    rounds = int(0)
    done = bool(False)
    while rounds < wp.static(MOST_STEPS) and not done:
        rounds += 1
        g = now.gradient
        tilted = wp.abs(g[1]) + wp.abs(g[2])
        if wp.abs(g[0]) <= real(1e-11) * force and tilted <= real(1e-11) * force * spacing:
            done = True
        elif now.hessian[0, 0] == real(0.0):  # nothing is pressed
            tilt[0] = lowest(layer, lane, count, u, v, tilt) + force / (stiffness * total)
            now = energy_of(layer, lane, count, stiffness, force, penalty, u, v, tilt)
        else:
            move = newton_step(g, now.hessian)
            slope = wp.dot(g, move)
            # So close to the minimum that rounding hides the descent of the energy: do one last full step.
            last = -slope <= real(1e-11) * wp.abs(now.value)
            step, short, long = real(1.0), real(0.0), real(wp.inf)
            new = tilt
            after = Energy()
            found = bool(False)
            while step >= real(1e-9) and not found:
                new = tilt + step * move
                after = energy_of(layer, lane, count, stiffness, force, penalty, u, v, new)
                steep = wp.dot(after.gradient, move) < real(wp.static(STEEPEST)) * slope
                if last:
                    found = True
                elif after.value > now.value + real(1e-4) * step * slope:
                    long = real(step)
                elif steep and real(1.1) * step < long and long < real(wp.inf):
                    short = real(step)
                else:
                    found = True
                if not found:
                    # Shrink the step to the minimum of the parabola through both ends, or search between
                    # two steps.
                    shrink = real(-0.5) * step * slope / (after.value - now.value - step * slope)
                    if short > real(0.0):
                        step = wp.sqrt(short * long)
                    else:
                        step = step * wp.min(wp.max(shrink, real(1e-3)), real(0.5))
            done = last or now.value - after.value <= real(1e-15) * wp.abs(now.value)
            tilt = new
            now = after
    out = Balance()
    out.tilt = tilt
    pushed = now.gradient[0] + force
    out.u = u + (now.gradient[1] - penalty * tilt[1]) / pushed
    out.v = v + (now.gradient[2] - penalty * tilt[2]) / pushed
    return out


@wp.struct
class Pressure:
    """Result of `press`; the pressed taxels are in ``Layer.pressed`` and their sums in ``Layer.sums``."""

    pressed: int
    """Number of pressed taxels; 0 if none is in reach."""
    scale: real
    """Ratio of a taxel's normal force to its value in ``Layer.sums[0]`` [N/m3]."""
    twist: real
    """Tangential force on a taxel divided by its normal force and its distance from the center [1/m]."""
    x: real
    y: real
    """Coordinates ``x`` and ``y`` of the center of pressure along the two tangents [m]."""
    miss: real
    """Error of the center of pressure, summed over both axes [m]."""
    highest: real
    """Largest indentation of the pressed points, extrapolated by `BEYOND` along the tilt [m]."""


@wp.func
def sum_up(layer: Layer, lane: int, count: int, u: real, v: real, tilt: wp.vec3d, force: real):
    """Write the pressed taxels to ``Layer.pressed``, and sums over their points to ``Layer.sums``.

    For each taxel, area times depth and its first moments are summed.

    ``u``: First coordinate of the center of pressure [m].
    ``v``: Second coordinate of the center of pressure [m].
    ``tilt``: Indentation at the center of pressure [m] and its slopes along u and v.
    ``force``: Normal force of the pair [N].

    Returns:
        A `Pressure` with ``pressed`` and ``scale``.
    """
    out = Pressure()
    total, last = real(0.0), int(-1)
    s0, s1, s2, s3 = real(0.0), real(0.0), real(0.0), real(0.0)
    for k in range(count):
        x, y = layer.points[0, k, lane], layer.points[1, k, lane]
        depth = tilt[0] + tilt[1] * (x - u) + tilt[2] * (y - v) - layer.points[3, k, lane]
        if depth > real(0.0):
            part, t = layer.points[4, k, lane] * depth, layer.owner[k, lane]
            total += part
            if t != last:
                layer.pressed[out.pressed, lane] = t
                last = t
                s0, s1, s2, s3 = real(0.0), real(0.0), real(0.0), real(0.0)
                out.pressed += 1
            s0 += part
            s1 += part * x
            s2 += part * y
            s3 += part * layer.points[2, k, lane]
            layer.sums[0, out.pressed - 1, lane] = s0
            layer.sums[1, out.pressed - 1, lane] = s1
            layer.sums[2, out.pressed - 1, lane] = s2
            layer.sums[3, out.pressed - 1, lane] = s3
    out.scale = force / total
    return out


@wp.func
def twisted(layer: Layer, lane: int, now: Pressure, lean: wp.vec2d, torsion: real, force: real):
    """Compute the center of pressure, and the twist that balances a torsional moment.

    ``now``: Result of `sum_up`.
    ``lean``: Ratio of the tangential forces to the normal force.
    ``torsion``: Moment about the normal through the center of pressure [N m].
    ``force``: Normal force [N].

    Returns:
        now: The updated `Pressure`, with ``twist``, ``x`` and ``y``.
        lift: For each of the two tangents, a sum over the taxels: normal force times height times distance
            from the center along the tangent [N m2].
    """
    now.x = real(0.0)
    now.y = real(0.0)
    for e in range(now.pressed):
        now.x += layer.sums[1, e, lane] + lean[0] * layer.sums[3, e, lane]
        now.y += layer.sums[2, e, lane] + lean[1] * layer.sums[3, e, lane]
    now.x = now.x * now.scale / force
    now.y = now.y * now.scale / force
    inertia, zx, zy = real(0.0), real(0.0), real(0.0)
    for e in range(now.pressed):
        s0, s3 = layer.sums[0, e, lane], layer.sums[3, e, lane]
        dx = (layer.sums[1, e, lane] + lean[0] * s3) / s0 - now.x
        dy = (layer.sums[2, e, lane] + lean[1] * s3) / s0 - now.y
        inertia += now.scale * s0 * (dx * dx + dy * dy)
        zx += now.scale * s3 * dx
        zy += now.scale * s3 * dy
    now.twist = real(0.0)
    if inertia > real(1e-14) * force:
        now.twist = torsion / inertia
    return now, wp.vec2d(zx, zy)


@wp.func
def settle(layer: Layer, lane: int, pair: Pair, count: int, start: real, stiffness: real):
    """Find the pressures that balance the force and moment between two surfaces; return the `Pressure`.

    The points in ``Layer.points`` are projected along the force onto the plane of the tangents, in place.
    ``count`` is the number of points, ``start`` is the initial indentation [m], and ``stiffness`` is the
    stiffness of the layer [Pa/m].
    """
    force, moment, f = pair.force, pair.moment, pair.force[2]
    lean = wp.vec2d(force[0] / f, force[1] / f)
    for k in range(count):
        z = layer.points[2, k, lane]
        layer.points[0, k, lane] = layer.points[0, k, lane] - lean[0] * z
        layer.points[1, k, lane] = layer.points[1, k, lane] - lean[1] * z
    tilt = wp.vec3d(start, real(0.0), real(0.0))
    target = wp.vec2d(-moment[1] / f, moment[0] / f)
    out = Pressure()
    twist, x, y = real(0.0), real(0.0), real(0.0)
    # Warp does not copy variables in assignments of tuples.
    last_tilt = wp.vec3d(start, real(0.0), real(0.0))
    last_target = wp.vec2d(target[0], target[1])
    last_miss = wp.vec2d(real(0.0), real(0.0))
    turn = wp.mat22d(real(1.0), real(0.0), real(0.0), real(1.0))
    rounds = int(0)
    done = bool(False)
    while rounds < wp.static(MOST_ROUNDS) and not done:
        level = balance(layer, lane, count, stiffness, f, pair.spacing, target[0], target[1], tilt)
        tilt = level.tilt
        mean = wp.vec2d(level.u, level.v)
        out = sum_up(layer, lane, count, target[0], target[1], tilt, f)
        torsion = moment[2] - mean[0] * force[1] + mean[1] * force[0]
        lift = wp.vec2d(real(0.0), real(0.0))
        twist = real(0.0)
        if wp.abs(torsion) > real(wp.static(SMALL)) * f * pair.spacing:
            out, lift = twisted(layer, lane, out, lean, torsion, f)
            twist = out.twist
            x = out.x
            y = out.y
        out.twist = twist
        out.x = x
        out.y = y
        miss = wp.vec2d(-(moment[1] + twist * lift[1]) / f, (moment[0] + twist * lift[0]) / f) - mean
        out.miss = wp.abs(miss[0]) + wp.abs(miss[1])
        off = wp.abs(mean[0] - target[0]) + wp.abs(mean[1] - target[1])
        outside = off > real(wp.static(OUT_OF_REACH)) * pair.spacing
        if out.miss <= real(wp.static(CLOSE)) * pair.spacing or (outside and rounds == 0):
            done = True
        elif outside:
            tilt = last_tilt
            target = real(0.5) * (last_target + target)
        else:
            step, change = target - last_target, miss - last_miss
            turned = turn * change
            scalar = wp.dot(step, turned)
            if wp.abs(scalar) > real(1e-3) * wp.dot(step, step):
                turn -= wp.outer(step + turned, wp.transpose(turn) * step / scalar)
            step = turn * miss
            tilt = wp.vec3d(tilt[0] + tilt[1] * step[0] + tilt[2] * step[1], tilt[1], tilt[2])
            last_tilt = tilt
            last_target = target
            last_miss = miss
            target = target + step
        rounds += 1
    out.highest = real(-wp.inf)
    for k in range(count):
        u, v = layer.points[0, k, lane] - target[0], layer.points[1, k, lane] - target[1]
        plane = tilt[0] + tilt[1] * u + tilt[2] * v
        if plane > layer.points[3, k, lane]:
            out.highest = wp.max(out.highest, plane)
    slope = wp.sqrt(tilt[1] * tilt[1] + tilt[2] * tilt[2])
    out.highest += real(wp.static(BEYOND)) * pair.spacing * slope
    return out


@wp.func
def press(layer: Layer, lane: int, pair: Pair, taxels: Taxels):
    """Compute the pressures between one pair of surfaces, and sum them up by taxel as in `sum_up`.

    Returns:
        The `Pressure`. All of ``Layer.gap`` is reset to infinity.
    """
    thickness = real(layer.thickness[pair.patch])
    stiffness = layer.modulus[pair.patch] / thickness
    if pair.other_patch >= 0:
        other = real(layer.thickness[pair.other_patch])
        stiffness = real(1.0) / (real(1.0) / stiffness + other / layer.modulus[pair.other_patch])
        thickness = wp.max(thickness, other)
    reach, volume = thickness + pair.spacing, pair.force[2] / stiffness
    near = find_taxels(layer, lane, pair, taxels, reach, volume)
    out = Pressure()
    attempt = int(0)
    while attempt < 2:
        depths = real(wp.static(DEPTHS[0]))
        if attempt == 1:
            depths = real(wp.static(DEPTHS[1]))
        near = measure(layer, lane, pair, near, reach, volume, depths)
        within = depths * near.depth
        limit = near.least + wp.min(reach, within)
        area = contact_points(layer, lane, pair, near, limit)
        near = area.near
        attempt += 1
        if area.count == 0:
            attempt = 2
        else:
            # Start with all points pressed, so that Newton's method does not get stuck at a border.
            start = real(reach)
            if attempt == 1:
                start = wp.where(near.depth < real(wp.inf), near.depth, real(0.0))
            out = settle(layer, lane, pair, area.count, area.least + start, stiffness)
            balanced = out.miss <= real(wp.static(OUT_OF_REACH)) * pair.spacing and out.highest <= limit
            if balanced or within >= reach:
                attempt = 2
    for e in range(near.found):
        layer.gap[layer.taxel[e, lane] - pair.base, lane] = real(wp.inf)
    return out


OUTSIDE = -2
"""Value of ``Load.group`` for loads that no taxel receives."""


@wp.kernel(enable_backward=False)
def list_patches(
    counts: wp.array[int],
    ids: wp.array3d[int],
    geoms: wp.array[Geom],
    patches: int,
    listed: wp.array[int],
    number: wp.array[int],
):
    """List the patches with contacts in arbitrary order. One thread handles a patch in an environment.

    ``patches``: Number of patches.
    ``listed``: Receives the index environment * patches + patch of each patch with a contact.
    ``number``: (1,) receives the number of these patches; must be zero before.
    """
    env, p = wp.tid()
    touched = bool(False)
    for slot in range(counts[env]):
        for side in range(2):
            touched = touched or geoms[ids[env, slot, wp.static(GEOMS) + side]].patch == p
    if touched:
        listed[wp.atomic_add(number, 0, 1)] = env * patches + p


@wp.func
def drop_outside(layer: Layer, lane: int, count: int, pairs: int, patch: int, taxels: Taxels):
    """Set the group of loads outside limited pads to OUTSIDE, so that no taxel receives them.

    All loads of a pair of surfaces are tested together: their center is inside or outside. Loads that belong
    to no pair are tested one by one.
    """
    for number in range(pairs):
        pair = net_load(layer, lane, number, count, patch, 0, real(0.0))
        center = Point()
        center.point = wp.vec3(pair.origin)
        center.normal = wp.vec3(pair.axes[2])
        if is_outside(find_nearest(center, taxels.patches[patch], taxels), center, taxels):
            regroup(layer, lane, count, number, wp.static(OUTSIDE))
    for m in range(count):
        load = layer.loads[m, lane]
        if load.group == -1:
            point = Point()
            point.point = wp.vec3(load.point)
            point.normal = wp.vec3(load.normal)
            if is_outside(find_nearest(point, taxels.patches[patch], taxels), point, taxels):
                load.group = wp.static(OUTSIDE)
                layer.loads[m, lane] = load


@wp.func
def regroup(layer: Layer, lane: int, count: int, number: int, group: int):
    """Set the group of the loads of pair ``number`` to ``group``; ``count`` is the number of all loads."""
    for m in range(count):
        load = layer.loads[m, lane]
        if load.group == number:
            load.group = group
            layer.loads[m, lane] = load


@wp.func
def add_pair(
    env: int,
    layer: Layer,
    lane: int,
    pair: Pair,
    rotation: wp.mat33d,
    taxels: Taxels,
    quantity: int,
    in_taxel_axes: bool,
    out: wp.array3d[float],
):
    """Add the load between a pair of surfaces to the readings ``out``; return whether it presses any taxel.

    ``rotation``: Rotation from the frame of the body with the skin to the world.
    ``quantity``: Number of the touch function, such as ``touch_functions.NORMAL``.
    ``out``: (num_envs, taxels, channels) readings.
    """
    pressure = press(layer, lane, pair, taxels)
    axes = pair.axes
    if quantity == wp.static(touch_functions.FORCE_VECTOR_GLOBAL):
        axes = axes * wp.transpose(rotation)
    e1, e2, normal = axes[0], axes[1], axes[2]
    lean_x, lean_y = pair.force[0] / pair.force[2], pair.force[1] / pair.force[2]
    scale, twist = pressure.scale, pressure.twist
    for e in range(pressure.pressed):
        f, fz = scale * layer.sums[0, e, lane], scale * layer.sums[3, e, lane]
        fx, fy = scale * layer.sums[1, e, lane] + lean_x * fz, scale * layer.sums[2, e, lane] + lean_y * fz
        first = f * lean_x - twist * (fy - f * pressure.y)
        second = f * lean_y + twist * (fx - f * pressure.x)
        value = wp.vec3d()
        if quantity == wp.static(touch_functions.NORMAL):
            value[0] = f
        elif quantity == wp.static(touch_functions.NORMAL_FORCE):
            value = f * normal
        elif quantity == wp.static(touch_functions.FRICTION):
            value = first * e1 + second * e2
        else:
            value = first * e1 + second * e2 + f * normal
        add_reading(env, layer.pressed[e, lane], wp.vec3(value), in_taxel_axes, taxels, out)
    return pressure.pressed > 0


@wp.kernel(enable_backward=False)
def read_areas(
    listed: wp.array[int],
    number: wp.array[int],
    counts: wp.array[int],
    values: wp.array3d[float],
    ids: wp.array3d[int],
    xpos: wp.array2d[wp.vec3],
    xmat: wp.array2d[wp.mat33],
    geoms: wp.array[Geom],
    taxels: Taxels,
    quantity: int,
    in_taxel_axes: bool,
    layer: Layer,
    queue: wp.array2d[int],
    distances: wp.array2d[float],
    out: wp.array3d[float],
    full: wp.array[int],
):
    """Spread the loads on each listed patch over the contact area, and add them to the taxels' readings.

    The readings must be zero at the start. One thread handles a patch, one pair after another. Loads that
    cannot be spread over an area are spread linearly. ``full`` is set as in `taxel_kernels.read_contacts`.
    """
    lane = wp.tid()
    patches = taxels.patches.shape[0]
    k = int(lane)
    while k < number[0]:
        env, p = listed[k] // patches, listed[k] % patches
        patch = taxels.patches[p]
        k += layer.gap.shape[1]
        count, body, limited = int(0), int(0), patch.limited
        for slot in range(counts[env]):
            for side in range(2):
                here = geoms[ids[env, slot, wp.static(GEOMS) + side]]
                if here.patch == p:
                    body = here.body
                    layer.loads[count, lane] = load_at(env, slot, side, values, ids, xpos, xmat, geoms, layer)
                    count += 1
        pairs = group_loads(layer, lane, count)
        if limited != 0:
            drop_outside(layer, lane, count, pairs, p, taxels)
        rotation = wp.mat33d(xmat[env, body])
        for pair_number in range(pairs):
            pair = net_load(layer, lane, pair_number, count, p, patch.start, real(patch.spacing))
            if pair.first < 0:
                continue
            done = bool(False)
            if pair.force[2] > real(0.0):
                done = add_pair(env, layer, lane, pair, rotation, taxels, quantity, in_taxel_axes, out)
            if not done:  # no taxel is in reach, or the net force pulls
                regroup(layer, lane, count, pair_number, -1)
        for m in range(count):
            if layer.loads[m, lane].group == -1:
                slot, side = layer.loads[m, lane].contact // 2, layer.loads[m, lane].contact % 2
                here = geoms[ids[env, slot, wp.static(GEOMS) + side]]
                there = geoms[ids[env, slot, wp.static(GEOMS) + 1 - side]]
                load = load_of(env, slot, side, values, here, there, xpos, xmat)
                start = find_nearest(load, patch, taxels)
                if not add_load(
                    env,
                    lane,
                    start,
                    load,
                    taxels,
                    quantity,
                    wp.static(LINEAR),
                    in_taxel_axes,
                    queue,
                    distances,
                    out,
                ):
                    full[0] = 1
                    break

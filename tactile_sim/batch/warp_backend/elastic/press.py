"""Compute the pressures between a pair of surfaces at points of the skin, and sum them up by taxel."""

import warp as wp
from warp import float64 as real

from tactile_sim.batch.warp_backend.elastic import constants
from tactile_sim.batch.warp_backend.elastic.arrays import Layer
from tactile_sim.batch.warp_backend.elastic.contact_area import contact_points
from tactile_sim.batch.warp_backend.elastic.nearby import find_taxels, measure
from tactile_sim.batch.warp_backend.elastic.pairs import Pair
from tactile_sim.batch.warp_backend.elastic.winkler import balance
from tactile_sim.batch.warp_backend.taxel_kernels import Taxels


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
    """Largest indentation of the pressed points, extrapolated by `constants.BEYOND` along the tilt [m]."""


@wp.func
def sum_up(layer: Layer, lane: int, count: int, u: real, v: real, tilt: wp.vec3d, force: real):
    """Write the pressed taxels to ``Layer.pressed``, and sums over their points to ``Layer.sums``.

    For each taxel, area times depth and its first moments are summed.

    Args:
        layer: The layer.
        lane: Index of the thread.
        count: Number of points.
        u: First coordinate of the center of pressure [m].
        v: Second coordinate of the center of pressure [m].
        tilt: Indentation at the center of pressure [m] and its slopes along u and v.
        force: Normal force of the pair [N].

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

    Args:
        layer: The layer, with the sums of the pressed taxels.
        lane: Index of the thread.
        now: Result of `sum_up`.
        lean: Ratio of the tangential forces to the normal force.
        torsion: Moment about the normal through the center of pressure [N m].
        force: Normal force [N].

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
    while rounds < wp.static(constants.MOST_ROUNDS) and not done:
        level = balance(layer, lane, count, stiffness, f, pair.spacing, target[0], target[1], tilt)
        tilt = level.tilt
        mean = wp.vec2d(level.u, level.v)
        out = sum_up(layer, lane, count, target[0], target[1], tilt, f)
        torsion = moment[2] - mean[0] * force[1] + mean[1] * force[0]
        lift = wp.vec2d(real(0.0), real(0.0))
        twist = real(0.0)
        if wp.abs(torsion) > real(wp.static(constants.SMALL)) * f * pair.spacing:
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
        outside = off > real(wp.static(constants.OUT_OF_REACH)) * pair.spacing
        if out.miss <= real(wp.static(constants.CLOSE)) * pair.spacing or (outside and rounds == 0):
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
    out.highest += real(wp.static(constants.BEYOND)) * pair.spacing * slope
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
        depths = real(wp.static(constants.DEPTHS[0]))
        if attempt == 1:
            depths = real(wp.static(constants.DEPTHS[1]))
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
            balanced = (
                out.miss <= real(wp.static(constants.OUT_OF_REACH)) * pair.spacing and out.highest <= limit
            )
            if balanced or within >= reach:
                attempt = 2
    for e in range(near.found):
        layer.gap[layer.taxel[e, lane] - pair.base, lane] = real(wp.inf)
    return out

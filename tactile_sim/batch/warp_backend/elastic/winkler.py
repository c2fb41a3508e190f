"""Compute the pressures of an elastic foundation that balance a force and moment.

The equations and the iteration are those of core/src/layer.cpp.
"""

import warp as wp
from warp import float64 as real

from tactile_sim.batch.warp_backend.elastic import constants
from tactile_sim.batch.warp_backend.elastic.arrays import Layer


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

    Args:
        layer: The layer, with coordinates, gap and area of each point in ``Layer.points``.
        lane: Index of the thread.
        count: Number of points.
        stiffness: Stiffness of the layer [Pa/m].
        force: Normal force > 0 [N].
        spacing: Typical distance between points [m].
        u: First coordinate of the center of pressure [m].
        v: Second coordinate of the center of pressure [m].
        tilt: Initial indentation at the center [m], and its slopes along u and v.

    Returns:
        The `Balance`.
    """
    total = real(0.0)
    for k in range(count):
        total += layer.points[4, k, lane]
    penalty = real(wp.static(constants.TILT_PENALTY)) * stiffness * total * spacing * spacing
    now = energy_of(layer, lane, count, stiffness, force, penalty, u, v, tilt)
    rounds = int(0)
    done = bool(False)
    while rounds < wp.static(constants.MOST_STEPS) and not done:
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
                steep = wp.dot(after.gradient, move) < real(wp.static(constants.STEEPEST)) * slope
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

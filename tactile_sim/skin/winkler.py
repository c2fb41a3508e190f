"""Compute the pressures of an elastic foundation that balance a force and moment.

The skin is a thin elastic layer (Winkler foundation; K. L. Johnson, Contact Mechanics, 1985, section 4.3):
where another surface penetrates it by a depth d, the pressure is p = K d. For a rigid surface of known shape,

    p = K max(0, c0 + c1 x + c2 y - gap(x, y)),

and the indentation c0 and the tilts c1 and c2 are chosen so that the pressures balance the normal force F and
its moments. They minimize the convex energy

    1/2 K sum(A max(0, d)^2) - F c0,

where the sum is over points with the area A, and x and y are relative to the center of pressure. At the
minimum, the gradient vanishes, so the force and moments are balanced. Other coordinates such as u and v in
`press` can be used instead of x and y. Newton's method with a line search finds the minimum in one to five
steps in most cases, starting without a tilt. If no pressures on the surface produce the moment, a very small
penalty on the tilts keeps the force exact and the moment as close as the surface allows.
"""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel

TILT_PENALTY = 1e-9
"""Penalty stiffness of the tilts, relative to that of the layer itself at a distance of one spacing."""
MOST_STEPS = 60
STEEPEST = 0.5
"""A shortened step is too short if the energy at its end still descends with more than this fraction of the
initial slope."""


@kernel(error_model="numpy", counted=False)
def balance(points, count, stiffness, force, spacing, u, v, tilt):
    """Find the indentation and the tilts that balance a force at a center of pressure.

    Args:
        points: (5, q) coordinates u, v, z [m], gap to the other surface [m] and area [m2].
        count: Number of points.
        stiffness: Stiffness K of the layer [Pa/m].
        force: Normal force F > 0 [N].
        spacing: Typical distance between points, the length scale of the tilts [m].
        u: First coordinate of the center of pressure [m].
        v: Second coordinate of the center of pressure [m].
        tilt: Initial indentation c0 at the center [m], and initial tilts c1 and c2.

    Returns:
        The c0, c1 and c2 that balance the force, and the two coordinates of the resulting center of pressure
        [m].
    """
    total = 0.0
    for k in range(count):
        total += points[4, k]
    penalty = TILT_PENALTY * stiffness * total * spacing * spacing
    c0, c1, c2 = tilt
    energy, s, h = _energy(points, count, stiffness, force, penalty, u, v, c0, c1, c2)
    for _ in range(MOST_STEPS):
        (r0, r1, r2), (h00, h01, h02, h11, h12, h22) = s, h
        if abs(r0) <= 1e-11 * force and abs(r1) + abs(r2) <= 1e-11 * force * spacing:
            break
        if h00 == 0.0:  # nothing is pressed
            c0 = np.inf
            for k in range(count):
                c0 = min(c0, points[3, k] - c1 * (points[0, k] - u) - c2 * (points[1, k] - v))
            c0 += force / (stiffness * total)
            energy, s, h = _energy(points, count, stiffness, force, penalty, u, v, c0, c1, c2)
            continue
        # Eliminate c0, then solve the remaining two equations.
        a, b, c = h11 - h01 * h01 / h00, h12 - h01 * h02 / h00, h22 - h02 * h02 / h00
        g1, g2 = r1 - h01 * r0 / h00, r2 - h02 * r0 / h00
        determinant = a * c - b * b
        d1 = -(c * g1 - b * g2) / determinant
        d2 = -(a * g2 - b * g1) / determinant
        d0 = -(r0 + h01 * d1 + h02 * d2) / h00
        slope = r0 * d0 + r1 * d1 + r2 * d2
        # So close to the minimum that rounding hides the descent of the energy: do one last full step.
        last = -slope <= 1e-11 * abs(energy)
        step, short, long, new = 1.0, 0.0, np.inf, np.inf
        n0, n1, n2 = c0, c1, c2
        while step >= 1e-9:
            n0, n1, n2 = c0 + step * d0, c1 + step * d1, c2 + step * d2
            new, s, h = _energy(points, count, stiffness, force, penalty, u, v, n0, n1, n2)
            if last:
                break
            if new > energy + 1e-4 * step * slope:
                long = step
            elif 1.1 * step < long < np.inf and s[0] * d0 + s[1] * d1 + s[2] * d2 < STEEPEST * slope:
                short = step
            else:
                break
            # Shrink the step to the minimum of the parabola through both ends, or search between two steps.
            shrink = -0.5 * step * slope / (new - energy - step * slope)
            step = np.sqrt(short * long) if short > 0.0 else step * min(max(shrink, 1e-3), 0.5)
        c0, c1, c2 = n0, n1, n2
        if last or energy - new <= 1e-15 * abs(energy):
            break
        energy = new
    pushed = s[0] + force
    return (c0, c1, c2), u + (s[1] - penalty * c1) / pushed, v + (s[2] - penalty * c2) / pushed


@kernel(fastmath={"reassoc", "contract", "nsz"}, counted=False)
def _energy(points, count, stiffness, force, penalty, u, v, c0, c1, c2):
    """Compute the energy for an indentation c0 and tilts c1 and c2, and its derivatives with respect to them.

    Args:
        points: As in `balance`.
        count: As in `balance`.
        stiffness: As in `balance`.
        force: As in `balance`.
        penalty: Penalty stiffness of the tilts [N m].
        u: As in `balance`.
        v: As in `balance`.
        c0: Indentation at the center of pressure [m].
        c1: Tilt along the first coordinate.
        c2: Tilt along the second coordinate.

    Returns:
        The energy, its gradient (3,), and the elements 00, 01, 02, 11, 12 and 22 of its Hessian.
    """
    energy, s0, s1, s2 = 0.0, 0.0, 0.0, 0.0
    a00, a01, a02, a11, a12, a22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(count):
        du, dv = points[0, k] - u, points[1, k] - v
        depth = c0 + c1 * du + c2 * dv - points[3, k]
        w = points[4, k] if depth > 0.0 else 0.0
        wd, wu, wv = w * depth, w * du, w * dv
        energy += wd * depth
        s0 += wd
        s1 += wd * du
        s2 += wd * dv
        a00 += w
        a01 += wu
        a02 += wv
        a11 += wu * du
        a12 += wu * dv
        a22 += wv * dv
    gradient = stiffness * s0 - force, stiffness * s1 + penalty * c1, stiffness * s2 + penalty * c2
    hessian = (
        stiffness * a00, stiffness * a01, stiffness * a02,
        stiffness * a11 + penalty, stiffness * a12, stiffness * a22 + penalty,
    )  # fmt: skip
    return 0.5 * stiffness * energy - force * c0 + 0.5 * penalty * (c1 * c1 + c2 * c2), gradient, hessian

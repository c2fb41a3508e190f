"""Compute the pressures of an elastic foundation that balance a force and moment.

The skin is a thin elastic layer (Winkler foundation; K. L. Johnson, Contact Mechanics, 1985, section 4.3):
where another surface penetrates it by a depth d, the pressure is p = K d. For a rigid surface of known shape,

    p = K max(0, p0 + p1 x + p2 y - gap(x, y)),

and the indentation p0 and the tilts p1 and p2 are chosen so that the pressures balance the normal force F at
the center of pressure (u, v). They minimize the convex energy

    1/2 K sum(A max(0, d)^2) - F (p0 + p1 u + p2 v),

where the sum is over points with the area A. At the minimum, the gradient vanishes, so the force and moments
are balanced. Other coordinates such as u and v in `press` can be used instead of x and y. Newton's method
with a line search finds the minimum in one to five steps in most cases, starting without a tilt. If no
pressures on the surface produce the moment, a very small penalty on the tilts keeps the force exact and the
moment as close as the surface allows.
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
def balance(points, count, stiffness, force, spacing, total, u, v, plane, sums):
    """Find the plane that balances a force at a center of pressure.

    The plane p is the indentation p0 at the origin and the tilts p1 and p2. The indentation is
    p0 + p1 x + p2 y at the point (x, y).

    Args:
        points: (5, q) coordinates u, v, z [m], gap to the other surface [m] and area [m2].
        count: Number of points.
        stiffness: Stiffness K of the layer [Pa/m].
        force: Normal force F > 0 [N].
        spacing: Typical distance between points, the length scale of the tilts [m].
        total: Sum of the areas of all points [m2].
        u: First coordinate of the center of pressure [m].
        v: Second coordinate of the center of pressure [m].
        plane: Initial p0 [m], p1 and p2.
        sums: Result of `integrate` for the initial plane.

    Returns:
        The plane that balances the force, and the result of `integrate` for it.
    """
    p0, p1, p2 = plane
    penalty = TILT_PENALTY * stiffness * total * spacing * spacing
    energy, s, h = _energy(sums, stiffness, force, penalty, u, v, p0, p1, p2)
    for _ in range(MOST_STEPS):
        (r0, r1, r2), (h00, h01, h02, h11, h12, h22) = s, h
        if abs(r0) <= 1e-11 * force and abs(r1) + abs(r2) <= 1e-11 * force * spacing:
            break
        if h00 == 0.0:  # nothing is pressed
            p0 = np.inf
            for k in range(count):
                p0 = min(p0, points[3, k] - p1 * points[0, k] - p2 * points[1, k])
            p0 += force / (stiffness * total)
            sums = integrate(points, count, p0, p1, p2)
            energy, s, h = _energy(sums, stiffness, force, penalty, u, v, p0, p1, p2)
            continue
        # Eliminate p0, then solve the remaining two equations.
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
        n0, n1, n2 = p0, p1, p2
        while step >= 1e-9:
            n0, n1, n2 = p0 + step * d0, p1 + step * d1, p2 + step * d2
            sums = integrate(points, count, n0, n1, n2)
            new, s, h = _energy(sums, stiffness, force, penalty, u, v, n0, n1, n2)
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
        p0, p1, p2 = n0, n1, n2
        if last or energy - new <= 1e-15 * abs(energy):
            break
        energy = new
    return (p0, p1, p2), sums


@kernel(counted=False)
def _energy(sums, stiffness, force, penalty, u, v, p0, p1, p2):
    """Compute the energy of a plane, and its derivatives with respect to p0, p1 and p2.

    Args:
        sums: Result of `integrate`.
        stiffness: As in `balance`.
        force: As in `balance`.
        penalty: Penalty stiffness of the tilts [N m].
        u: As in `balance`.
        v: As in `balance`.
        p0: Indentation at the origin [m].
        p1: Tilt along the first coordinate.
        p2: Tilt along the second coordinate.

    Returns:
        The energy, its gradient (3,), and the elements 00, 01, 02, 11, 12 and 22 of its Hessian.
    """
    squares, s0, s1, s2, a00, a01, a02, a11, a12, a22 = sums
    gradient = (
        stiffness * s0 - force,
        stiffness * s1 - force * u + penalty * p1,
        stiffness * s2 - force * v + penalty * p2,
    )
    hessian = (
        stiffness * a00, stiffness * a01, stiffness * a02,
        stiffness * a11 + penalty, stiffness * a12, stiffness * a22 + penalty,
    )  # fmt: skip
    level = p0 + p1 * u + p2 * v
    return 0.5 * stiffness * squares - force * level + 0.5 * penalty * (p1 * p1 + p2 * p2), gradient, hessian


@kernel(fastmath={"reassoc", "contract", "nsz"}, counted=False)
def integrate(points, count, p0, p1, p2):
    """Integrate depth and area over the points that a plane presses.

    Args:
        points: As in `balance`.
        count: As in `balance`.
        p0: Indentation at the origin [m].
        p1: Tilt along the first coordinate.
        p2: Tilt along the second coordinate.

    Returns:
        The integrals of depth d squared, d, d x, d y, 1, x, y, x^2, x y and y^2 over the pressed area.
    """
    squares, s0, s1, s2 = 0.0, 0.0, 0.0, 0.0
    a00, a01, a02, a11, a12, a22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(count):
        x, y = points[0, k], points[1, k]
        depth = p0 + p1 * x + p2 * y - points[3, k]
        w = points[4, k] if depth > 0.0 else 0.0
        wd, wx, wy = w * depth, w * x, w * y
        squares += wd * depth
        s0 += wd
        s1 += wd * x
        s2 += wd * y
        a00 += w
        a01 += wx
        a02 += wy
        a11 += wx * x
        a12 += wx * y
        a22 += wy * y
    return squares, s0, s1, s2, a00, a01, a02, a11, a12, a22

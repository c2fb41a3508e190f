"""Pressures of an elastic foundation that balance a given force and moment.

The skin is a thin elastic layer (Winkler foundation; K. L. Johnson, Contact Mechanics, 1985, section 4.3):
where another surface lies a depth d deep in it, the pressure is p = K d. For a rigid surface of known shape,

    p = K max(0, c0 + c1 x + c2 y - gap(x, y)),

and the indentation c0 and the tilts c1, c2 are those for which the pressures sum to the normal force F and
to its moments. They minimize the convex energy

    1/2 K sum(A max(0, d)^2) - F c0,

with x and y from the center of pressure, where the gradient vanishes. Newton's method with a line search
finds them in one to five steps. Where pressing cannot reach the moment, a very small penalty on the tilts
keeps the force exact and comes as near to the moment as the surface allows.
"""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel

TILT_PENALTY = 1e-9
"""Stiffness against tilting, over that of the layer itself over one spacing."""
MOST_STEPS = 60


@kernel
def balance(x, y, gap, area, stiffness, force, spacing, center_x, center_y, tilt):
    """Find the indentation and the tilts that balance a force at a center of pressure.

    Args:
        x, y, gap, area: (k,) coordinates [m], gap to the other surface [m] and area [m2] of points.
        stiffness: K of the layer [Pa/m].
        force: F > 0 [N].
        spacing: typical distance between points, the length scale of the tilts [m].
        center_x, center_y: center of pressure [m].
        tilt: (3,) c0 at the center [m], c1, c2: read as the start where c1 is finite, and written.
    """
    if not np.isfinite(tilt[1]):
        # Press evenly what a flat surface would press.
        tilt[0], tilt[1], tilt[2] = gap.min() + force / (stiffness * area.sum()), 0.0, 0.0
    penalty = TILT_PENALTY * stiffness * area.sum() * spacing * spacing
    c0, c1, c2 = tilt[0], tilt[1], tilt[2]
    h = np.empty(9)
    energy = _energy(x, y, gap, area, stiffness, force, penalty, center_x, center_y, c0, c1, c2, h)
    for _ in range(MOST_STEPS):
        r0, r1, r2, h00, h01, h02, h11, h12, h22 = h
        if abs(r0) <= 1e-13 * force and abs(r1) + abs(r2) <= 1e-12 * force * spacing:
            break
        if h00 == 0.0:  # nothing is pressed
            c0 = force / (stiffness * area.sum()) + (gap - c1 * (x - center_x) - c2 * (y - center_y)).min()
            energy = _energy(x, y, gap, area, stiffness, force, penalty, center_x, center_y, c0, c1, c2, h)
            continue
        # Eliminate c0; then two by two.
        a, b, c = h11 - h01 * h01 / h00, h12 - h01 * h02 / h00, h22 - h02 * h02 / h00
        g1, g2 = r1 - h01 * r0 / h00, r2 - h02 * r0 / h00
        determinant = a * c - b * b
        d1 = -(c * g1 - b * g2) / determinant
        d2 = -(a * g2 - b * g1) / determinant
        d0 = -(r0 + h01 * d1 + h02 * d2) / h00
        slope = r0 * d0 + r1 * d1 + r2 * d2
        step = 1.0
        while True:
            n0, n1, n2 = c0 + step * d0, c1 + step * d1, c2 + step * d2
            new = _energy(x, y, gap, area, stiffness, force, penalty, center_x, center_y, n0, n1, n2, h)
            if new <= energy + 1e-4 * step * slope or step < 1e-9:
                break
            step *= 0.5
        c0, c1, c2 = n0, n1, n2
        if energy - new <= 1e-15 * abs(energy):
            break
        energy = new
    tilt[0], tilt[1], tilt[2] = c0, c1, c2


@kernel
def _energy(x, y, gap, area, stiffness, force, penalty, center_x, center_y, c0, c1, c2, h):
    """Return the energy; write its gradient and the upper half of its Hessian into h (9,)."""
    energy, s0, s1, s2 = 0.0, 0.0, 0.0, 0.0
    a00, a01, a02, a11, a12, a22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(len(x)):
        dx, dy = x[k] - center_x, y[k] - center_y
        depth = c0 + c1 * dx + c2 * dy - gap[k]
        if depth > 0.0:
            w = area[k]
            wd = w * depth
            energy += wd * depth
            s0 += wd
            s1 += wd * dx
            s2 += wd * dy
            wx, wy = w * dx, w * dy
            a00 += w
            a01 += wx
            a02 += wy
            a11 += wx * dx
            a12 += wx * dy
            a22 += wy * dy
    h[0], h[1], h[2] = stiffness * s0 - force, stiffness * s1 + penalty * c1, stiffness * s2 + penalty * c2
    h[3], h[4], h[5] = stiffness * a00, stiffness * a01, stiffness * a02
    h[6], h[7], h[8] = stiffness * a11 + penalty, stiffness * a12, stiffness * a22 + penalty
    return 0.5 * stiffness * energy - force * c0 + 0.5 * penalty * (c1 * c1 + c2 * c2)

"""Contact radius and pressure distribution of Hertzian contact."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel

STIFFNESS = 2e5
"""Plane-strain modulus of a soft silicone or a fingertip [Pa]: E / (1 - nu^2) with E = 150 kPa, nu = 0.5."""


@kernel
def contact_radius(load, stiffness):
    """Return the radius of a load's contact area [m] on a skin with this plane-strain modulus [Pa]."""
    force = 0.0
    for i in range(3):
        force += load.force[i] * load.normal[i]
    return np.cbrt(0.75 * max(force, 0.0) * load.radius * load.skins / stiffness)


@kernel
def pressure(distance, radius):
    """Return the pressure at a distance from the center of the contact, relative to that at the center."""
    return np.sqrt(1.0 - (distance / radius) ** 2) if distance < radius else 0.0

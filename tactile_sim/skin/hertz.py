"""Contact radius and pressure distribution of Hertzian contact."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.schema import Number

STIFFNESS = 2e5
"""Plane-strain modulus of a soft silicone or a fingertip [Pa]: E / (1 - nu^2) with E = 150 kPa, nu = 0.5."""
# The softest gels have 10 Pa, and 10 mg press on 1 cm² with 1 Pa.
STIFFNESS_RANGE = Number(least=1.0, most=1e15, unit="Pa")
"""Valid values of the stiffness of a skin."""


@kernel
def contact_radius(load, stiffness):
    """Return the radius of the contact area of a load [m].

    Args:
        load: An entry of `loads.LOAD`.
        stiffness: Plane-strain modulus of the skin [Pa].
    """
    force = 0.0
    for i in range(3):
        force += load.force[i] * load.normal[i]
    return np.cbrt(0.75 * max(force, 0.0) * load.radius * load.skins / stiffness)


@kernel
def pressure(distance, radius):
    """Return the pressure relative to that at the center of the contact, from 0 to 1.

    Args:
        distance: Distance from the center [m].
        radius: Radius of the contact area [m].
    """
    return np.sqrt(1.0 - (distance / radius) ** 2) if distance < radius else 0.0

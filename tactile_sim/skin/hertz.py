"""Contact radius and pressure distribution of Hertzian contact."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.skin.materials import modulus_of


@kernel(counted=False)
def contact_radius(load, patches):
    """Return the radius of the contact area of a load [m].

    Args:
        load: The load, an entry of `loads.LOAD`.
        patches: (p,) patches of the skin, as an array of `patches.PATCH`.
    """
    force = 0.0
    for i in range(3):
        force += load.force[i] * load.normal[i]
    return np.cbrt(0.75 * max(force, 0.0) * load.radius / modulus_of(load, patches))


@kernel(counted=False)
def pressure(distance, radius):
    """Return the pressure relative to that at the centre of the contact, from 0 to 1.

    Args:
        distance: Distance from the centre [m].
        radius: Radius of the contact area [m].
    """
    return np.sqrt(1.0 - (distance / radius) ** 2) if distance < radius else 0.0

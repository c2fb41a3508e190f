"""A load spread as contact mechanics has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from tactile_sim.skin.shares import Shares

if TYPE_CHECKING:
    from tactile_sim.skin.loads import Loads
    from tactile_sim.skin.skin import Skin

STIFFNESS = 2e5
"""Of a soft silicone or the pulp of a finger [Pa]: E / (1 - nu^2) with E = 150 kPa, nu = 0.5."""


def hertz(skin: Skin, loads: Loads) -> Shares:
    """The pressure between two round elastic bodies, on each taxel by its area.

    After H. Hertz (1882), as in K. L. Johnson, Contact Mechanics (1985), section 4.2: a force F along the
    normal makes an area of contact of radius a = (3 F R / 4 E)^(1/3), over which the pressure falls with the
    distance r as p = p0 sqrt(1 - (r/a)^2). R is the effective radius of the two surfaces (see `curvature`). E
    is the skin's plane-strain modulus ``skin.stiffness``; what touches it is rigid, or another such skin, and
    then E is half of it. The sum is kept at the load by scaling p0; where no taxel lies within a, the nearest
    takes it all.
    """
    radii = _contact_radii(loads.table, skin.stiffness)
    near = skin.near(loads, radii)
    _press(near.begin, near.taxel, near.distance, radii, skin.areas)
    return Shares(near.begin, near.taxel, near.distance)


@njit(cache=True)
def _contact_radii(loads, stiffness):
    """(m,) radius of the area of contact of each load [m]."""
    out = np.empty(len(loads))
    for m in range(len(loads)):
        load = loads[m]
        force = 0.0
        for i in range(3):
            force += load.force[i] * load.normal[i]
        out[m] = np.cbrt(0.75 * max(force, 0.0) * load.radius * load.skins / stiffness)
    return out


@njit(cache=True)
def _press(begin, taxel, distance, radii, areas):
    """Makes of distances the weights of the taxels by area and pressure."""
    for m in range(len(radii)):
        for e in range(begin[m], begin[m + 1]):
            if distance[e] < radii[m]:
                distance[e] = areas[taxel[e]] * np.sqrt(1.0 - (distance[e] / radii[m]) ** 2)
            else:
                distance[e] = 0.0

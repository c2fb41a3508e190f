"""Response functions, which distribute a load over taxels.

The nearest taxel that faces a load receives it, so a load on one face of a thin plate does not reach the
other face. A taxel faces a load if the cosine between its outward normal and the load's normal, which points
into the body, is below 0.3. If there is no facing taxel within two spacings, the nearest of all taxels
receives the load, so no load is lost. A load is only spread over facing taxels that are connected to the
receiving taxel by a path over the surface.

A user-defined response function finds the taxels around each load with `Skin.taxels_near_loads` and returns
their weights as `Shares`; the weights need not be normalized. See docs/skin.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tactile_sim.skin.loads import Loads
from tactile_sim.skin.shares import Shares

if TYPE_CHECKING:
    from tactile_sim.skin.skin import Skin

Response = Callable[["Skin", "Loads"], "Shares | tuple[Loads, Shares]"]
"""Function that maps a skin and m loads to the shares of taxels, or to replacement loads and their shares."""

# The same as in core/include/tactile/skin.h; DISTANCES finds the distances of taxels instead of weights.
DISTANCES, NEAREST, LINEAR, HERTZ, ELASTIC, THICK = range(6)


def nearest(skin: Skin, loads: Loads) -> Shares:
    """Assign each load to the taxel that receives it: the nearest taxel that faces the load."""
    return Shares(*skin.spread(loads, NEAREST))


def spread_linear(skin: Skin, loads: Loads) -> Shares:
    """Distribute loads with weights that decrease linearly with the distance, to 0 at two spacings.

    If no taxel is within two spacings, the nearest one receives the whole load. Where pads with different
    spacings adjoin, the smallest spacing applies, or the distance of that pad's nearest taxel if it is larger
    (at most the largest spacing), so that readings change continuously. Taxels of a finer pad then count in
    proportion to their cells.
    """
    return Shares(*skin.spread(loads, LINEAR))


def hertz(skin: Skin, loads: Loads) -> Shares:
    """Distribute loads in proportion to taxel area times the pressure between round elastic bodies.

    This follows H. Hertz (1882), as in K. L. Johnson, Contact Mechanics (1985), section 4.2: a force F along
    the normal produces a contact area of radius a = (3 F R / 4 E)^(1/3), in which the pressure decreases with
    the distance r as p = p0 sqrt(1 - (r/a)^2). R is the effective radius of the two surfaces (see
    `curvature`). E is the skin's plane-strain modulus ``skin.stiffness`` if the other body is rigid, and
    1 / (1/E1 + 1/E2) between two skins. p0 is scaled so that the shares sum to the load. If no taxel is
    within the distance a, the nearest one receives the whole load.
    """
    return Shares(*skin.spread(loads, HERTZ))


def elastic_foundation(skin: Skin, loads: Loads) -> tuple[Loads, Shares]:
    """Distribute loads over the area where two surfaces touch.

    The physics engine reports the wrench between two bodies at a few points. The actual contact area is
    computed from geometry: for each pair of a patch of skin and another body, the gap between the two is
    measured along the mean contact normal. Then the pressures in an elastic layer that balance the wrench are
    computed. The tangential force is distributed in proportion to the pressure (Coulomb), and the torsional
    moment in proportion to pressure times distance from the center, so that forces and moments sum to those
    that the engine reports.

    Returns replacement loads, one at the center of pressure of each pressed taxel, and their shares.
    Loads that pull, act against a flex, or have no taxel in reach cannot be spread over an area; they are
    distributed with `spread_linear`.
    """
    return _press(skin, loads, ELASTIC)


def elastic_layer(skin: Skin, loads: Loads) -> tuple[Loads, Shares]:
    """Distribute loads like `elastic_foundation`, over a layer in which deflections and stresses spread.

    The layer has the skin's stiffness and thickness, a Poisson's ratio, and a rigid core, and its taxels may
    be below its surface. Where it is thin compared with the contact and Poisson's ratio is 0, it is an
    elastic foundation; where it is thick, it is an elastic half space. See docs/skin.md.
    """
    skin.tabulate_layers()
    return _press(skin, loads, THICK)


def _press(skin: Skin, loads: Loads, law: int) -> tuple[Loads, Shares]:
    memory, taxel, alone = skin.native.press(loads.records, law)
    pressed, rest = Loads.of_bytes(memory), loads[alone]
    linear, count = spread_linear(skin, rest), len(pressed)
    begin = np.concatenate([np.arange(count), count + linear.begin])
    weight = np.concatenate([np.ones(count), linear.weight])
    spread = Loads(np.concatenate([pressed.table, rest.table]))
    return spread, Shares(begin, np.concatenate([taxel, linear.taxel]), weight)


RESPONSE_FUNCTIONS: dict[str, Response] = {
    "nearest": nearest,
    "spread_linear": spread_linear,
    "hertz": hertz,
    "elastic_foundation": elastic_foundation,
    "elastic_layer": elastic_layer,
}
LAWS: dict[Response, int] = {
    nearest: NEAREST,
    spread_linear: LINEAR,
    hertz: HERTZ,
    elastic_foundation: ELASTIC,
    elastic_layer: THICK,
}
"""Number of the law in native code for each built-in response function."""
OVER_AREAS = elastic_foundation, elastic_layer
"""Response functions that distribute all loads between two surfaces together."""
PER_LOAD = [name for name, response in RESPONSE_FUNCTIONS.items() if response not in OVER_AREAS]
"""Names of the response functions that distribute each load independently of the others."""

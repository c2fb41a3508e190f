"""Stiffness and thickness of the skin of each body, and of two skins in contact."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tactile_sim.arguments import valid
from tactile_sim.compilation import kernel
from tactile_sim.errors import ConfigError
from tactile_sim.schema import Number

STIFFNESS = 2e5
"""Default plane-strain modulus E / (1 - nu^2) [Pa], for E = 150 kPa and nu = 0.5. This is typical of a soft
silicone or a fingertip."""
# The softest gels have a modulus of 10 Pa. For comparison, the weight of 10 mg on 1 cm² is 1 Pa.
STIFFNESS_RANGE = Number(least=1.0, most=1e15, unit="Pa", usual=(1e2, 1e12))
"""Valid values of the stiffness of a skin."""
THICKNESS = 2e-3
"""Default thickness of the elastic layer [m]."""
THICKNESS_RANGE = Number(least=1e-6, most=1.0, unit="m", usual=(1e-5, 0.1))
"""Valid values of the thickness of the elastic layer."""


def by_body(
    key: str, given: float | Mapping[int, float], default: float, check: Number, bodies: np.ndarray
) -> np.ndarray:
    """Return the value (b,) of a skin property for each body with skin.

    Args:
        key: Configuration key of the property, for error messages.
        given: One value for all bodies, or a dictionary of values keyed by body id.
        default: Value of the bodies that are not in ``given``.
        check: Range of valid values.
        bodies: (b,) ids of the bodies with skin.

    Raises:
        ConfigError: A value is out of range, or a body does not exist or has no skin.
    """
    values = given if isinstance(given, Mapping) else dict.fromkeys(bodies.tolist(), given)
    for body, value in values.items():
        where = f"{key}.{body}" if values is given else key
        valid(where, value, check, ConfigError)
        if isinstance(body, bool) or body not in bodies:
            known = ", ".join(map(str, bodies.tolist()[:10]))
            raise ConfigError(f"{where}: must be the id of a body with skin ({known}), got {body!r}")
    return np.array([values.get(body, default) for body in bodies.tolist()], float)


@kernel(counted=False)
def modulus_of(load, patches):
    """Return the effective plane-strain modulus for the contact that causes a load [Pa].

    If both bodies have skin, the compliances (1 / modulus) of the two skins add up.

    Args:
        load: The load, an entry of `loads.LOAD`.
        patches: (p,) patches of the skin, as an array of `patches.PATCH`.
    """
    modulus = patches[load.patch].modulus
    if load.other_patch < 0:
        return modulus
    return 1.0 / (1.0 / modulus + 1.0 / patches[load.other_patch].modulus)


@kernel(counted=False)
def foundation_of(load, patches):
    """Return the foundation stiffness for the contact that causes a load [Pa/m]: pressure per indentation.

    If both bodies have skin, their elastic layers are in series: the pressure is the same in both layers, and
    their indentations add up.

    Args:
        load: The load, an entry of `loads.LOAD`.
        patches: (p,) patches of the skin, as an array of `patches.PATCH`.
    """
    own = patches[load.patch]
    foundation = own.modulus / own.thickness
    if load.other_patch < 0:
        return foundation
    other = patches[load.other_patch]
    return 1.0 / (1.0 / foundation + other.thickness / other.modulus)


@kernel(counted=False)
def reach_of(load, patches):
    """Return the maximum distance of a pressed taxel from the other surface [m].

    This is the thickness of the layer (between two skins, of the thicker one) plus the spacing of the taxels.

    Args:
        load: The load, an entry of `loads.LOAD`.
        patches: (p,) patches of the skin, as an array of `patches.PATCH`.
    """
    own = patches[load.patch]
    thickness = own.thickness
    if load.other_patch >= 0:
        thickness = max(thickness, patches[load.other_patch].thickness)
    return thickness + own.spacing

"""Material and layer of the skin of each body."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tactile_sim.common.errors import ConfigError
from tactile_sim.common.schema import Number, valid

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

POISSON_RATIO = 0.45
"""Default Poisson's ratio of the elastic layer, of a soft silicone."""
POISSON_RATIO_RANGE = Number(least=0.0, most=0.5)
"""Valid values of Poisson's ratio."""
SENSOR_DEPTH_RANGE = Number(least=0.0, most=1.0, unit="m")
"""Valid values of the depth of the taxels below the surface, which is at most the thickness."""
BONDS = {"bonded": True, "sliding": False}
"""Contacts between the elastic layer and the body below it, and whether the layer adheres."""


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

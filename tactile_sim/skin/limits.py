"""Limit the number of taxels, so that a small spacing does not exhaust the memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10

import mujoco
import numpy as np

from tactile_sim.common.errors import ConfigError

MOST_TAXELS = 1_000_000
FINEST = 1e-100
"""Smallest spacing used to count taxels [m]; the square of a smaller one could underflow."""


def colliding_areas(model: mujoco.MjModel) -> np.ndarray:
    """Return the total surface area (nbody,) of each body's colliding geoms [m2], see `geom_areas`."""
    return np.bincount(model.geom_bodyid, geom_areas(model), minlength=model.nbody)


def geom_areas(model: mujoco.MjModel) -> np.ndarray:
    """Return the surface area (ngeom,) of each geom's bounding box [m2].

    It is an upper bound on the surface area of a convex geom. It is 0 for geoms that do not collide and
    almost 0 for planes.
    """
    x, y, z = np.where(model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE, 0.0, model.geom_aabb[:, 3:].T)
    collides = (model.geom_contype | model.geom_conaffinity) != 0
    collides[model.pair_geom1] = True
    collides[model.pair_geom2] = True
    return np.where(collides, np.maximum(8 * (x * y + y * z + z * x), np.finfo(float).tiny), 0.0)


def check_count(parts: Sequence[tuple[str, float, float]]) -> None:
    """Check that the total number of taxels is at most `MOST_TAXELS`.

    Args:
        parts: For each pad or body, a prefix for error messages (file and key), the surface area [m2] and the
            taxel spacing [m].

    Raises:
        ConfigError: There are too many taxels. The message names the part with the most taxels.
    """
    counts = [area / max(spacing, FINEST) ** 2 for _, area, spacing in parts]
    total = sum(counts)
    if total <= MOST_TAXELS:
        return
    place, _, spacing = parts[counts.index(max(counts))]
    remedy = _rounded_up(max(spacing, FINEST) * (total / MOST_TAXELS) ** 0.5)
    raise ConfigError(
        f"{place}: must give at most {MOST_TAXELS:,} taxels in total, got about {total:.1e} with"
        f" a spacing of {spacing:g} m; make it {remedy:g} m or more"
    )


def _rounded_up(value: float) -> float:
    """Round up to two significant digits."""
    step = 10.0 ** (floor(log10(value)) - 1)
    return ceil(value / step) * step

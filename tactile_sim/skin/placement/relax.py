"""Relaxation of points on a surface to even spacing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tactile_sim import _core

ROUNDS = 80
REACH = 2.0
"""Range of the repulsion between points, in spacings."""
STEP = 0.35
"""Displacement in each round per unit of repulsion, in spacings."""

Project = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Function that projects points (n, 3) [m] onto a surface, and returns points on it (n, 3) [m] and outward
normals (n, 3)."""


def relax(points: np.ndarray, spacing: float, project: Project) -> tuple[np.ndarray, np.ndarray]:
    """Move points on a surface apart until they are about evenly spaced.

    Args:
        points: Points (n, 3) near the surface [m].
        spacing: Approximate final distance between points [m].
        project: Projection onto the surface.

    Returns:
        Positions (n, 3) [m] and outward normals (n, 3).
    """
    places, normals = project(points)
    for _ in range(ROUNDS):
        places, normals = project(
            places + STEP * spacing * _core.push_apart(places, normals, REACH * spacing)
        )
    return places, normals

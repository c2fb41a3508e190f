"""Feelers on one geom, an intermediate result when feelers are placed on a body."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim.errors import SceneError
from tactile_sim.names import Names
from tactile_sim.skin.placement.merge import colliding_geoms
from tactile_sim.uv.uv_map import SurfacePoints

MOST_FEELERS = 1_000_000
"""Largest allowed total number of feelers on all bodies."""


class GeomFeelers(NamedTuple):
    """The feelers of one geom and their pixels in its image."""

    geom: int
    width: int
    """Width of the geom's image [pixels]."""
    height: int
    """Height of the geom's image [pixels]."""
    pixels: np.ndarray
    """(n,) index of each feeler's pixel in the geom's image, row * width + column, in ascending order."""
    points: SurfacePoints
    """Roots and normals of the feelers in the body frame, or in the geom frame before `in_body`."""
    levels: np.ndarray
    """(n,) length of each feeler as a fraction of the argument ``length`` of `place`."""


def feeler_geoms(model: mujoco.MjModel, body: int) -> list[int]:
    """Return the geoms of a body that get feelers: the colliding geoms, or all geoms if none collides.

    Args:
        model: MuJoCo model.
        body: Id of the body.

    Returns:
        Ids of the geoms.

    Raises:
        SceneError: The body has no geoms.
    """
    geoms = colliding_geoms(model, body).tolist()
    geoms = geoms or [int(model.body_geomadr[body]) + k for k in range(model.body_geomnum[body])]
    if not geoms:
        raise SceneError(f"body {Names(model).bodies[body]!r} has no geom for feelers; add one")
    return geoms


def in_body(model: mujoco.MjModel, geom: int, points: SurfacePoints) -> SurfacePoints:
    """Transform points from a geom's frame to its body's frame.

    Args:
        model: MuJoCo model.
        geom: Id of the geom.
        points: Points on the surface, in the geom's frame.

    Returns:
        The same points in the body's frame.
    """
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    turned = rotation.reshape(3, 3).T
    return SurfacePoints(points.uv, points.positions @ turned + model.geom_pos[geom], points.normals @ turned)


def format_remaining(most: int) -> str:
    """Format the number of feelers that are still allowed, for an error message."""
    if most == MOST_FEELERS:
        return f"{most:,}"
    return f"the {most:,} that remain of {MOST_FEELERS:,} for all bodies"

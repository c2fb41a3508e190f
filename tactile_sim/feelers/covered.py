"""What feelers of one geom are before they are those of a body."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim.errors import SceneError
from tactile_sim.feelers.uv_map import Spots
from tactile_sim.names import Names
from tactile_sim.skin.placement.merge import colliding_geoms

MOST_FEELERS = 1_000_000
"""Of all bodies together."""


class Covered(NamedTuple):
    """The feelers of one geom."""

    geom: int
    width: int
    height: int
    pixels: np.ndarray
    """(n,) row · width + column in the geom's own image, ascending."""
    spots: Spots
    """In the body's frame."""
    levels: np.ndarray
    """(n,) share of the full length."""


def bearing(model: mujoco.MjModel, body: int) -> list[int]:
    """The geoms of a body that collide, or, where none does, all."""
    geoms = colliding_geoms(model, body).tolist()
    geoms = geoms or [int(model.body_geomadr[body]) + k for k in range(model.body_geomnum[body])]
    if not geoms:
        raise SceneError(f"body {Names(model).bodies[body]!r} has no geom to bear feelers; give it one")
    return geoms


def in_body(model: mujoco.MjModel, geom: int, spots: Spots) -> Spots:
    """Places in a geom's frame, in its body's."""
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    turned = rotation.reshape(3, 3).T
    return Spots(spots.uv, spots.positions @ turned + model.geom_pos[geom], spots.normals @ turned)


def left(most: int) -> str:
    """How many feelers there may be, for errors."""
    if most == MOST_FEELERS:
        return f"{most:,}"
    return f"the {most:,} that are left of {MOST_FEELERS:,} for all"

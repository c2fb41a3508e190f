"""Build the skin of a body from the surfaces of its geoms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from tactile_sim.common.errors import SceneError
from tactile_sim.common.names import Names
from tactile_sim.skin.placement import union
from tactile_sim.skin.placement.shapes import Shape
from tactile_sim.skin.placement.surface import BodySurface, Surface

Cover = Callable[[Shape, float], Surface]
"""Function that places taxels on a geom, in its body's frame. Arguments: the shape and the spacing [m]."""
Join = Callable[[np.ndarray, Sequence[Shape], Sequence[Surface], float], BodySurface]
"""Function that builds a body's skin from k geoms. Arguments: the ids (k,), shapes and surfaces of the geoms,
and the spacing [m]."""


@dataclass(frozen=True)
class Placement:
    """A method to place the taxels of a body. A custom method only has to specify ``cover``."""

    cover: Cover
    """Places taxels on a geom that is part of a body."""
    join: Join = union.join
    alone: Cover | None = None
    """Places taxels on a geom that has a separate skin; defaults to `cover`."""


def merge(
    model: mujoco.MjModel, body: int, spacing: float, placement: Placement, names: Names
) -> BodySurface:
    """Build the skin of a body over all its geoms.

    Args:
        model: The model.
        body: Id of the body.
        spacing: Distance between taxels [m].
        placement: Method that places the taxels.
        names: Names of bodies and geoms, for error messages.

    Raises:
        SceneError: The body has no colliding geom, or a colliding geom that cannot have a skin.
    """
    geoms, shapes = _skin_geoms(model, body, names)
    return placement.join(geoms, shapes, [placement.cover(shape, spacing) for shape in shapes], spacing)


def separate(
    model: mujoco.MjModel, body: int, spacing: float, placement: Placement, names: Names
) -> BodySurface:
    """Build a separate skin on each colliding geom of a body; arguments and errors as in `merge`."""
    geoms, shapes = _skin_geoms(model, body, names)
    cover = placement.alone or placement.cover
    return BodySurface.of_parts(geoms, [cover(shape, spacing) for shape in shapes])


def colliding_geoms(model: mujoco.MjModel, body: int) -> np.ndarray:
    """Return the ids (k,) int32 of a body's geoms that can collide, through masks or explicit pairs.

    Args:
        model: The model.
        body: Id of the body.
    """
    geoms = model.body_geomadr[body] + np.arange(model.body_geomnum[body])
    masked = (model.geom_contype[geoms] != 0) | (model.geom_conaffinity[geoms] != 0)
    paired = np.isin(geoms, np.r_[model.pair_geom1, model.pair_geom2])
    return geoms[masked | paired].astype(np.int32)


def _skin_geoms(model: mujoco.MjModel, body: int, names: Names) -> tuple[np.ndarray, list[Shape]]:
    """Return the ids (k,) and shapes of the geoms that carry a body's skin."""
    geoms = colliding_geoms(model, body)
    if len(geoms) == 0:
        lacks = "its geoms do not collide" if model.body_geomnum[body] else "it has no geom"
        raise SceneError(
            f"body {names.bodies[body]!r}: cannot have a skin, since {lacks}; give it a geom with a nonzero "
            "contype or conaffinity, or remove it from the skin"
        )
    return geoms, [Shape.of_geom(model, geom) for geom in geoms]

"""The skin of one body, made of its geoms' surfaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from tactile_sim.errors import SceneError
from tactile_sim.names import Names
from tactile_sim.skin.placement import union
from tactile_sim.skin.placement.shapes import Shape
from tactile_sim.skin.placement.surface import BodySurface, Surface

Cover = Callable[[Shape, float], Surface]
"""Taxels over a geom, in its body's frame; the second argument is the spacing [m]."""
Join = Callable[[np.ndarray, Sequence[Shape], Sequence[Surface], float], BodySurface]
"""Makes a body's skin of its k geoms: their ids (k,), shapes and covers, and the spacing [m]."""


@dataclass(frozen=True)
class Placement:
    """Where the taxels of a body lie. One's own is ``Placement(cover)``."""

    cover: Cover
    """For a geom as a part of its body."""
    join: Join = union.join
    alone: Cover | None = None
    """For a geom that bears a skin of its own; as `cover` where there is none."""


def merge(
    model: mujoco.MjModel, body: int, spacing: float, placement: Placement, names: Names
) -> BodySurface:
    """The skin of a body over all its geoms.

    Raises SceneError where the body has no colliding geom, or one that cannot bear a skin.
    """
    geoms, shapes = _bearing(model, body, names)
    return placement.join(geoms, shapes, [placement.cover(shape, spacing) for shape in shapes], spacing)


def separate(
    model: mujoco.MjModel, body: int, spacing: float, placement: Placement, names: Names
) -> BodySurface:
    """A skin over each colliding geom of a body, whole and not joined to the others; errors as in `merge`."""
    geoms, shapes = _bearing(model, body, names)
    cover = placement.alone or placement.cover
    return BodySurface.of_parts(geoms, [cover(shape, spacing) for shape in shapes])


def colliding_geoms(model: mujoco.MjModel, body: int) -> np.ndarray:
    """(k,) int32 ids of a body's geoms that can be in a contact: by their masks or by an explicit pair."""
    geoms = model.body_geomadr[body] + np.arange(model.body_geomnum[body])
    masked = (model.geom_contype[geoms] != 0) | (model.geom_conaffinity[geoms] != 0)
    paired = np.isin(geoms, np.r_[model.pair_geom1, model.pair_geom2])
    return geoms[masked | paired].astype(np.int32)


def _bearing(model: mujoco.MjModel, body: int, names: Names) -> tuple[np.ndarray, list[Shape]]:
    """The ids (k,) and shapes of the geoms that bear a body's skin."""
    geoms = colliding_geoms(model, body)
    if len(geoms) == 0:
        lacks = "its geoms do not collide" if model.body_geomnum[body] else "it has no geom"
        raise SceneError(
            f"body {names.bodies[body]!r} cannot bear a skin: {lacks}; give it a geom with a contype or "
            "conaffinity other than 0, or take it out of skin.scales"
        )
    return geoms, [Shape.of_geom(model, geom) for geom in geoms]

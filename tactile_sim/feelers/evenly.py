"""Feelers spread evenly over a body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import mujoco
import numpy as np

from tactile_sim.errors import ConfigError, SceneError
from tactile_sim.feelers.covered import Covered, bearing, in_body, left
from tactile_sim.feelers.maps import own_map
from tactile_sim.feelers.painted import MOST_PIXELS
from tactile_sim.feelers.uv_map import Spots, UvMap, pixels_of
from tactile_sim.names import Names
from tactile_sim.skin.placement.merge import colliding_geoms
from tactile_sim.skin.placement.shapes import Shape

AHEAD = 1e-3
"""How far out of the surface a feeler must be free of other geoms of its body, in spacings."""
FINER = 0.95
"""Step by which pixels are made smaller until each has one feeler."""


@dataclass(frozen=True)
class Met:
    """Shapes that feelers were spread over: many bodies of a scene are often of few shapes."""

    maps: dict[tuple, UvMap] = field(default_factory=dict)
    fitted: dict[tuple, Covered] = field(default_factory=dict)
    """By shape and spacing; in the geom's frame."""


def spread(model: mujoco.MjModel, body: int, spacing: float, most: int, met: Met) -> list[Covered]:
    """Feelers evenly over a body's geoms, but not inside of another one."""
    geoms = bearing(model, body)
    shapes = [_shape(model, geom) for geom in geoms]
    for shape, geom in zip(shapes, geoms, strict=True):
        if shape not in met.maps:
            met.maps[shape] = own_map(model, geom)
    number = sum(met.maps[shape].area for shape in shapes) / max(spacing, 1e-100) ** 2
    if number > most:
        enough = float(f"{1.06 * spacing * np.sqrt(number / max(most, 1)):.2g}")
        raise ConfigError(
            f"a spacing of {spacing:g} m makes too many feelers, about {number:.1e}, at most "
            f"{left(most)}; make it {enough:g} m or more"
        )
    covered = []
    for shape, geom in zip(shapes, geoms, strict=True):
        if (shape, spacing) not in met.fitted:
            met.fitted[shape, spacing] = _fit(model, geom, met.maps[shape], spacing)
        fitted = met.fitted[shape, spacing]
        covered.append(fitted._replace(geom=geom, spots=in_body(model, geom, fitted.spots)))
    solids = {int(geom): Shape.of_geom(model, geom) for geom in colliding_geoms(model, body)}
    return [_seen(part, solids, spacing) for part in covered]


def _shape(model: mujoco.MjModel, geom: int) -> tuple:
    """What geoms of the same map have in common."""
    return int(model.geom_type[geom]), model.geom_size[geom].tobytes(), int(model.geom_dataid[geom])


def _fit(model: mujoco.MjModel, geom: int, found: UvMap, spacing: float) -> Covered:
    """Feelers evenly over one geom, in its frame, and the image that they fit in."""
    spots = found.spread(spacing)
    grid = _grid(found, spots, spacing)
    if grid is None:
        # Its UV coordinates are too crowded somewhere.
        found = own_map(model, geom, laid_out=True)
        spots = found.spread(spacing)
        grid = _grid(found, spots, spacing)
    if grid is None:
        raise SceneError(
            f"the map of geom {Names(model).geoms[geom]!r} is too large for feelers {spacing:g} m apart; "
            "give a larger spacing"
        )
    pixels = pixels_of(spots.uv, *grid)
    order = np.argsort(pixels)
    spots = Spots(*(values[order] for values in spots))
    return Covered(geom, *grid, pixels[order], spots, np.ones(len(order)))


def _grid(found: UvMap, spots: Spots, spacing: float) -> tuple[int, int] | None:
    """Width and height of the coarsest image in which each place has a pixel of its own."""
    pixel = spacing
    most = min(MOST_PIXELS, 64 * len(spots.uv) + 4096)
    while True:
        # As many as fit, where the map is a whole number of pixels but for rounding.
        width, height = np.maximum(np.ceil(found.size / pixel - 1e-6), 1)
        if width * height > most:
            return None
        if len(np.unique(pixels_of(spots.uv, int(width), int(height)))) == len(spots.uv):
            return int(width), int(height)
        pixel *= FINER


def _seen(part: Covered, solids: Mapping[int, Shape], spacing: float) -> Covered:
    """Those feelers of a geom that neither begin in another solid of the body nor point into one there."""
    kept = np.ones(len(part.pixels), bool)
    ahead = part.spots.positions + AHEAD * spacing * part.spots.normals
    for geom, solid in solids.items():
        if geom != part.geom:
            for points in (part.spots.positions, ahead):
                kept &= solid.depth(points) <= AHEAD / 2 * spacing
    spots = Spots(*(values[kept] for values in part.spots))
    return part._replace(pixels=part.pixels[kept], spots=spots, levels=part.levels[kept])

"""Place evenly spaced feelers on the surface of a body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import mujoco
import numpy as np

from tactile_sim.errors import ConfigError, SceneError
from tactile_sim.feelers.geom_feelers import GeomFeelers, feeler_geoms, format_remaining, in_body
from tactile_sim.feelers.painted import MOST_PIXELS
from tactile_sim.names import Names
from tactile_sim.skin.placement.merge import colliding_geoms
from tactile_sim.skin.placement.shapes import Shape
from tactile_sim.uv.maps import own_map
from tactile_sim.uv.uv_map import SurfacePoints, UvMap, pixels_of

AHEAD = 1e-3
"""Height above the surface at which feelers must be outside other geoms, as a fraction of the spacing."""
FINER = 0.95
"""Factor by which the pixel size is multiplied repeatedly until no two feelers share a pixel."""


@dataclass(frozen=True)
class MapCache:
    """Cache of UV maps and feelers, keyed by the shape of a geom, because many geoms have the same shape."""

    maps: dict[tuple, UvMap] = field(default_factory=dict)
    fitted: dict[tuple, GeomFeelers] = field(default_factory=dict)
    """Feelers in the geom frame, keyed by shape and spacing."""


def spread(model: mujoco.MjModel, body: int, spacing: float, most: int, cache: MapCache) -> list[GeomFeelers]:
    """Place evenly spaced feelers on a body's geoms and drop those inside other geoms of the body.

    Args:
        model: MuJoCo model.
        body: Id of the body.
        spacing: Distance between neighbouring feelers [m].
        most: Largest allowed number of feelers.
        cache: Results for the shapes processed so far; this call adds those of new shapes.

    Returns:
        The feelers of each geom.

    Raises:
        ConfigError: The spacing would result in more than ``most`` feelers.
        SceneError: A geom cannot have feelers, or its UV map is too large for this spacing.
    """
    geoms = feeler_geoms(model, body)
    shapes = [_shape(model, geom) for geom in geoms]
    for shape, geom in zip(shapes, geoms, strict=True):
        if shape not in cache.maps:
            cache.maps[shape] = own_map(model, geom)
    number = sum(cache.maps[shape].area for shape in shapes) / max(spacing, 1e-100) ** 2
    if number > most:
        enough = float(f"{1.06 * spacing * np.sqrt(number / max(most, 1)):.2g}")
        raise ConfigError(
            f"too many feelers, got about {number:.1e} for a spacing of {spacing:g} m, at most "
            f"{format_remaining(most)} are allowed; use a spacing of {enough:g} m or more"
        )
    found = []
    for shape, geom in zip(shapes, geoms, strict=True):
        if (shape, spacing) not in cache.fitted:
            cache.fitted[shape, spacing] = _fit(model, geom, cache.maps[shape], spacing)
        fitted = cache.fitted[shape, spacing]
        found.append(fitted._replace(geom=geom, points=in_body(model, geom, fitted.points)))
    solids = {int(geom): Shape.of_geom(model, geom) for geom in colliding_geoms(model, body)}
    return [_outside(part, solids, spacing) for part in found]


def _shape(model: mujoco.MjModel, geom: int) -> tuple:
    """Return a cache key that is equal for geoms with the same UV map."""
    return int(model.geom_type[geom]), model.geom_size[geom].tobytes(), int(model.geom_dataid[geom])


def _fit(model: mujoco.MjModel, geom: int, uv_map: UvMap, spacing: float) -> GeomFeelers:
    """Place evenly spaced feelers on one geom, in its frame, and assign a separate pixel to each feeler."""
    points = uv_map.spread(spacing)
    grid = _grid(uv_map, points, spacing)
    if grid is None:
        # The mesh's own UV coordinates are too dense somewhere.
        uv_map = own_map(model, geom, laid_out=True)
        points = uv_map.spread(spacing)
        grid = _grid(uv_map, points, spacing)
    if grid is None:
        raise SceneError(
            f"geom {Names(model).geoms[geom]!r}: its map is too large for a spacing of {spacing:g} m; "
            "use a larger spacing"
        )
    pixels = pixels_of(points.uv, *grid)
    order = np.argsort(pixels)
    points = SurfacePoints(*(values[order] for values in points))
    return GeomFeelers(geom, *grid, pixels[order], points, np.ones(len(order)))


def _grid(uv_map: UvMap, points: SurfacePoints, spacing: float) -> tuple[int, int] | None:
    """Return the size (width, height) of the coarsest image with a separate pixel for each point.

    The result is None if this image would be too large.
    """
    pixel = spacing
    most = min(MOST_PIXELS, 64 * len(points.uv) + 4096)
    while True:
        # The tolerance keeps rounding from adding a pixel where the map is a whole number of pixels.
        width, height = np.maximum(np.ceil(uv_map.size / pixel - 1e-6), 1)
        if width * height > most:
            return None
        if len(np.unique(pixels_of(points.uv, int(width), int(height)))) == len(points.uv):
            return int(width), int(height)
        pixel *= FINER


def _outside(part: GeomFeelers, solids: Mapping[int, Shape], spacing: float) -> GeomFeelers:
    """Return the feelers of a geom without those that start inside another geom or point into it.

    Args:
        part: Feelers of the geom.
        solids: Shapes of the colliding geoms of the same body, keyed by geom id.
        spacing: Distance between neighbouring feelers [m].
    """
    kept = np.ones(len(part.pixels), bool)
    ahead = part.points.positions + AHEAD * spacing * part.points.normals
    for geom, solid in solids.items():
        if geom != part.geom:
            for positions in (part.points.positions, ahead):
                kept &= solid.depth(positions) <= AHEAD / 2 * spacing
    points = SurfacePoints(*(values[kept] for values in part.points))
    return part._replace(pixels=part.pixels[kept], points=points, levels=part.levels[kept])

"""Place evenly spaced feelers on the surface of a body.

Unlike taxels, feelers of a mesh are on its triangles rather than on its convex hull, and those of a cylinder
are not on its rims, where a feeler would have no unique normal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.common.errors import ConfigError, SceneError
from tactile_sim.common.names import Names
from tactile_sim.feelers.painted import MOST_PIXELS
from tactile_sim.geometry.maps import in_body, own_map
from tactile_sim.geometry.uv_map import SIDES, BoxMap, RoundMap, SurfacePoints, Triangles, UvMap, pixels_of
from tactile_sim.skin.placement import even
from tactile_sim.skin.placement.merge import colliding_geoms
from tactile_sim.skin.placement.shapes import Shape

MOST_FEELERS = 1_000_000
"""Largest allowed total number of feelers on all bodies."""
AHEAD = 1e-3
"""Height above the surface at which feelers must be outside other geoms, as a fraction of the spacing."""
FINER = 0.95
"""Factor by which the pixel size is multiplied repeatedly until no two feelers share a pixel."""
APART = 0.8
"""Minimum distance between points [spacings].

Random points that keep a distance d to all earlier ones have a density of 0.70 per d² when no more fit
(Feder 1980). With a limited number of candidates (`DRAWN`), it is slightly lower: about one per spacing².
"""
DRAWN = 40
"""Number of random candidates that are drawn per spacing² of surface. More candidates leave fewer gaps."""


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
    """Return the ids of a body's geoms that get feelers: the colliding ones, or all if none collides."""
    geoms = colliding_geoms(model, body).tolist()
    geoms = geoms or [int(model.body_geomadr[body]) + k for k in range(model.body_geomnum[body])]
    if not geoms:
        raise SceneError(f"body {Names(model).bodies[body]!r} has no geom for feelers; add one")
    return geoms


def format_remaining(most: int) -> str:
    """Format the number of feelers that are still allowed, for an error message."""
    if most == MOST_FEELERS:
        return f"{most:,}"
    return f"the {most:,} that remain of {MOST_FEELERS:,} for all bodies"


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
        spacing: Distance between neighboring feelers [m].
        most: Largest allowed number of feelers; more raise ConfigError.
        cache: Results for the shapes processed so far; this call adds those of new shapes.
    """
    geoms = feeler_geoms(model, body)
    shapes = [_shape(model, geom) for geom in geoms]
    for shape, geom in zip(shapes, geoms, strict=True):
        if shape not in cache.maps:
            cache.maps[shape] = own_map(model, geom)
    number = sum(_area(cache.maps[shape]) for shape in shapes) / max(spacing, 1e-100) ** 2
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
    points = _spread_points(uv_map, spacing)
    grid = _grid(uv_map, points, spacing)
    if grid is None:
        # The mesh's own UV coordinates are too dense somewhere.
        uv_map = own_map(model, geom, laid_out=True)
        points = _spread_points(uv_map, spacing)
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

    ``solids`` contains the shapes of the colliding geoms of the same body, keyed by geom id.
    """
    kept = np.ones(len(part.pixels), bool)
    ahead = part.points.positions + AHEAD * spacing * part.points.normals
    for geom, solid in solids.items():
        if geom != part.geom:
            for positions in (part.points.positions, ahead):
                kept &= solid.depth(positions) <= AHEAD / 2 * spacing
    points = SurfacePoints(*(values[kept] for values in part.points))
    return part._replace(pixels=part.pixels[kept], points=points, levels=part.levels[kept])


def _spread_points(uv_map: UvMap, spacing: float) -> SurfacePoints:
    """Return points about one spacing [m] apart on the whole surface of a geom, in its frame."""
    if isinstance(uv_map, BoxMap):
        return _over_box(uv_map, spacing)
    if isinstance(uv_map, Triangles):
        face, weights = _over_triangles(uv_map.corners, spacing)
        uv, positions = (np.einsum("nk,nki->ni", weights, at[face]) for at in (uv_map.uv, uv_map.corners))
        return SurfacePoints(uv, positions, uv_map.normals[face])
    assert isinstance(uv_map, RoundMap)
    if uv_map.kind == "cylinder":
        positions, normals = _over_cylinder(uv_map.radii[0], uv_map.half, spacing)
    else:
        covered = even.cover(_round_shape(uv_map), spacing)
        positions, normals = covered.positions, covered.normals
    return SurfacePoints(uv_map.flat(positions, normals), positions, normals)


def _area(uv_map: UvMap) -> float:
    """Return the area of the whole surface of a geom [m2]."""
    if isinstance(uv_map, Triangles):
        return float(uv_map.areas.sum())
    assert isinstance(uv_map, RoundMap)
    return _round_shape(uv_map).area


def _round_shape(uv_map: RoundMap) -> Shape:
    return Shape(uv_map.kind, uv_map.half_sizes, np.zeros(3), np.eye(3))


def _over_box(uv_map: BoxMap, spacing: float) -> SurfacePoints:
    """Return a grid of points on each face, which begins half a grid step away from the edges."""
    number = np.maximum(1, np.round(2 * uv_map.half / spacing))
    uv, positions, normals = [], [], []
    for side, corner in zip(SIDES, uv_map.lower_left, strict=True):
        right, up = (np.abs(side[1:]) @ number).astype(int)
        i, j = np.meshgrid((np.arange(right) + 0.5) / right, (np.arange(up) + 0.5) / up)
        share = np.stack([i.ravel(), j.ravel()], axis=1)
        uv.append((corner + share * 2 * (np.abs(side[1:]) @ uv_map.half)) / uv_map.size)
        positions.append((side[0] + (2 * share - 1) @ side[1:]) * uv_map.half)
        normals.append(np.tile(side[0], (len(share), 1)))
    return SurfacePoints(np.concatenate(uv), np.concatenate(positions), np.concatenate(normals))


def _over_triangles(corners: np.ndarray, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points on a mesh, about one per spacing² and at least 0.8 spacings apart.

    Points on opposite sides of a thin part do not count as neighbors; points on adjacent faces do. The
    result is deterministic.

    Returns:
        faces: Index of the triangle that contains each point (n,).
        weights: Barycentric coordinates of each point in its triangle (n, 3).
    """
    a, b, c = np.moveaxis(corners, 1, 0)
    across = np.cross(b - a, c - a)
    doubled = np.linalg.norm(across, axis=1)
    up_to = np.cumsum(doubled / 2)
    count = DRAWN * max(int(np.ceil(up_to[-1] / spacing**2)), 6)
    random = np.random.default_rng(0)
    face = np.searchsorted(up_to, (np.arange(count) + random.random(count)) / count * up_to[-1])
    face = np.minimum(face, np.flatnonzero(doubled > 0)[-1])
    s, t = np.sqrt(random.random(count)), random.random(count)
    weights = np.stack([1 - s, s * (1 - t), s * t], axis=1)
    points = np.einsum("nk,nki->ni", weights, corners[face])
    normals = across / np.maximum(doubled, 1e-300)[:, None]
    taken = _core.keep_apart(points, normals[face], random.permutation(count), APART * spacing)
    return face[taken], weights[taken]


def _over_cylinder(radius: float, half: float, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 3) [m] and normals (n, 3) on a cylinder, in rows on its side, spirals on its ends."""
    rows = max(1, round(2 * half / spacing))
    in_row = max(3, round(2 * np.pi * radius / spacing))
    row, step = np.divmod(np.arange(rows * in_row), in_row)
    turn = 2 * np.pi * (step + 0.5 + (row % 2) / 2) / in_row
    out = np.stack([np.cos(turn), np.sin(turn), np.zeros(len(turn))], axis=1)
    side = radius * out + np.outer((2 * row + 1) / rows - 1, [0, 0, half])
    # A spiral with equal areas and golden angles (Vogel 1979).
    count = max(1, round(np.pi * (radius / spacing) ** 2))
    k = np.arange(count)
    turn, r = k * np.pi * (3 - np.sqrt(5)), radius * np.sqrt((k + 0.5) / count)
    end = np.stack([r * np.cos(turn), r * np.sin(turn), np.full(count, half)], axis=1)
    up = np.tile([0.0, 0.0, 1.0], (count, 1))
    lower = end * [1, 1, -1]
    return np.concatenate([end, side, lower]), np.concatenate([up, out, -up])

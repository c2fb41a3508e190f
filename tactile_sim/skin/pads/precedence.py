"""Remove a body's own skin under its pads, and measure the overlap between pads.

A pad covers the cells of its taxels: the points of the surface that are nearer to one of its taxels than to
any place next to the pad (`PlacedPad.beside`). The pads take precedence: a body's own skin keeps only the
part of the surface that no pad covers, so that the areas of both add up to that of the body.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from math import ceil

import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.common.text import shortened
from tactile_sim.skin.pads.plan import PlacedPad
from tactile_sim.skin.quadrature import (
    NX,
    POINT_AREA,
    SMOOTH,
    THIRDS,
    Cells,
    cells_of,
    grid_cells,
    grid_steps,
    on_triangles,
)

_LOG = logging.getLogger("tactile_sim.skin")
ALIKE = 0.3
"""Minimum cosine between the normals of a pad and of the surface that it covers."""
SLOPE, STEP = 0.5, 0.1
"""A pad with a layout covers only points up to this slope, plus this fraction of the spacing, above or below
the tangent plane of a taxel, so that it does not cover another surface below it."""
NEAREST = 16
"""Number of nearby taxels among which the nearest one on the same side of a thin body is found."""
MOST_PARTS = 60
"""Maximum number of parts along a side of a triangle of the body's skin."""
MOST_POINTS = 100_000
"""Maximum number of points that are tested at once."""
OVERLAP = 0.1
"""Largest overlap between two pads without a warning, as a fraction of one of them. The cells of adjacent
layouts that are not grids overlap a little, because they are approximated by squares."""
LEAST = 0.05
"""Smallest fraction of a taxel's area with which it is kept."""


def places_beside(positions: np.ndarray, axes: np.ndarray, spacing: float, grid: Sequence) -> np.ndarray:
    """Return places next to the cells of a layout on the surface, for `PlacedPad.beside`.

    Args:
        positions: (n, 3) taxels on the surface [m].
        axes: (n, 3, 3) axes of the taxels, as in `PlacedPad`.
        spacing: Spacing of the pad [m].
        grid: Rows (n,) and columns (n,) of the taxels; empty arrays if they are not in a grid.
    """
    if len(grid[0]):
        sides, ends, _ = grid_steps(positions, axes, spacing, *grid)
        both = ((*sides[0], *sides[1]), (*ends[0], *ends[1]))
        steps = [(flat + up, end) for (flat, up), end in zip(*both, strict=True)]
    else:
        every = np.ones(len(positions), bool)
        steps = [(sign * spacing * axes[:, k], every) for k in (0, 1) for sign in (-1, 1)]
    places = np.concatenate([positions[end] + step[end] for step, end in steps])
    normals = np.concatenate([axes[end, 2] for _, end in steps])
    if not len(grid[0]):
        # A place between taxels is in one of their cells.
        outside = cKDTree(positions).query(places)[0] > 0.75 * spacing
        places, normals = places[outside], normals[outside]
    return np.stack([places, normals], axis=1)


def covers(pad: PlacedPad, points: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Return whether a pad covers each point (m,) of its body's surface.

    Args:
        pad: The pad.
        points: (m, 3) points on the surface [m].
        normals: (m, 3) outward normals of the surface at these points.
    """
    places = np.concatenate([pad.surface.positions, pad.beside[:, 0]])
    facing = np.concatenate([pad.surface.normals, pad.beside[:, 1]])
    count = min(NEAREST, len(places))
    _, near = cKDTree(places).query(points, range(1, count + 1), distance_upper_bound=2 * pad.spacing)
    found = near < len(places)
    near = np.where(found, near, 0)
    alike = found & (np.einsum("mki,mi->mk", facing[near], normals) > ALIKE)
    nearest = near[np.arange(len(points)), alike.argmax(axis=1)]
    inside = alike.any(axis=1) & (nearest < len(pad))
    if not pad.is_meshed:
        step = points - places[nearest]
        rise = np.abs(np.einsum("mi,mi->m", step, facing[nearest]))
        inside &= rise <= SLOPE * np.linalg.norm(step, axis=1) + STEP * pad.spacing
    return inside


def uncovered(whole: PlacedPad, pads: Sequence[PlacedPad]) -> PlacedPad | None:
    """Return a body's own skin without the part that pads cover, or None if no taxel remains.

    Args:
        whole: The skin of the entire body.
        pads: The pads on this body.
    """
    surface, scale = whole.surface, whole.spacing

    def is_covered(points: np.ndarray, normals: np.ndarray) -> np.ndarray:
        return np.any([covers(pad, points, normals) for pad in pads], axis=0)

    mesh = surface.triangles.astype(np.int64)
    weights, parts = _visible_parts(whole, pads, is_covered)
    positions, normals, areas = surface.positions, surface.normals, surface.areas
    owner, points, smooth = cells_of(positions, normals, areas, mesh, weights, parts)
    kept = ~is_covered(positions, normals)
    left = np.bincount(owner, points[:, POINT_AREA], minlength=len(areas))
    kept &= left > LEAST * areas
    if not kept.any():
        return None
    # The rest of a removed cell goes to the nearest cell on the same side.
    lost = np.flatnonzero(~kept[owner])
    _, near = cKDTree(positions[kept]).query(points[lost, :NX], range(1, NEAREST + 1), 0, 2, 3 * scale)
    found = near < kept.sum()
    near = np.flatnonzero(kept)[np.where(found, near, 0)]
    alike = found & (np.einsum("mki,mi->mk", normals[near], points[lost, NX:POINT_AREA]) > ALIKE)
    owner[lost] = near[np.arange(len(lost)), alike.argmax(axis=1)]
    used = np.ones(len(owner), bool)
    used[lost] = alike.any(axis=1)
    owner, points = owner[used], points[used]
    own = np.bincount(owner, points[:, POINT_AREA], minlength=len(areas))
    smooth &= np.isclose(own, areas)
    new = np.cumsum(kept) - 1
    part = replace(surface, areas=own).part(kept)
    return replace(
        whole,
        surface=part,
        positions=part.positions,
        axes=whole.axes[kept],
        ids=whole.ids[: len(part.positions)],
        is_whole=False,
        cells=Cells(new[owner], points, smooth[kept]),
    )


def warn_of_overlaps(pads: Sequence[PlacedPad]) -> None:
    """Log a warning about pads of which one covers more than `OVERLAP` of the other."""
    found = []
    for a, b in combinations(pads, 2):
        low, high = a.surface.positions.min(axis=0), a.surface.positions.max(axis=0)
        other = b.surface.positions
        apart = np.maximum(low - other.max(axis=0), other.min(axis=0) - high).max()
        if (a.body, a.flex) == (b.body, b.flex) and apart <= a.spacing + b.spacing:
            share = max(_share(a, b), _share(b, a))
            if share > OVERLAP:
                found.append(f"{a.name} and {b.name} by {100 * share:.0f} %")
    if found:
        _LOG.warning("skin.pads: pads overlap: %s; both read a part of each load there", shortened(found))


def _share(pad: PlacedPad, other: PlacedPad) -> float:
    """Return the fraction of a pad's area that another pad covers."""
    if pad.cells is not None:
        points = pad.cells.points
    elif len(pad.rows):
        points, _ = grid_cells(
            pad.surface.positions, pad.axes, pad.surface.areas, pad.spacing, pad.rows, pad.columns
        )
    else:
        x, y = np.divmod(np.arange(9), 3)
        along = np.stack([x - 1, y - 1, 0 * x], axis=1) * pad.spacing / 3
        places = pad.surface.positions[:, None] + along @ pad.axes
        facing = np.broadcast_to(pad.axes[:, None, 2], places.shape)
        points = np.concatenate([places, facing, np.ones((*places.shape[:2], 1))], axis=2).reshape(-1, 7)
    hidden = covers(other, points[:, :NX], points[:, NX:POINT_AREA])
    return float(points[hidden, POINT_AREA].sum() / points[:, POINT_AREA].sum())


def _visible_parts(
    whole: PlacedPad, pads: Sequence[PlacedPad], is_covered: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights (t, 3, 3) and parts (t, 3) of a skin's triangles near pads, as for `cells_of`."""
    positions, normals = whole.surface.positions, whole.surface.normals
    triangles = whole.surface.triangles.astype(np.int64)
    weights, parts = np.tile(THIRDS, (len(triangles), 1, 1)), np.ones((len(triangles), 3))
    middles = positions[triangles].mean(axis=1)
    radii = np.linalg.norm(positions[triangles] - middles[:, None], axis=2).max(axis=1)
    near = np.any([cKDTree(p.surface.positions).query(middles)[0] <= radii + p.spacing for p in pads], axis=0)
    finest = min(pad.spacing for pad in pads)
    across = 3 * min(max(1, ceil(2 * whole.spacing / finest)), MOST_PARTS // 3)
    bary = _centroids(across)
    corner = bary.argmax(axis=1)
    candidates = np.flatnonzero(near)
    step = max(1, MOST_POINTS // len(bary))
    for chunk in (candidates[k : k + step] for k in range(0, len(candidates), step)):
        corners, own = positions[triangles[chunk]], normals[triangles[chunk]]
        flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        flat /= np.maximum(np.linalg.norm(flat, axis=1), 1e-300)[:, None]
        smooth = (np.einsum("tki,ti->tk", own, flat) > SMOOTH).all(axis=1)
        points = on_triangles(corners, own, smooth, np.broadcast_to(bary, (len(chunk), *bary.shape)))
        facing = np.where(smooth[:, None, None], own[:, corner], flat[:, None])
        hidden = is_covered(points.reshape(-1, 3), facing.reshape(-1, 3)).reshape(len(chunk), -1)
        for k in range(3):
            seen = ~hidden[:, corner == k]
            count = seen.sum(axis=1)
            parts[chunk, k] = count / seen.shape[1]
            cut = (count > 0) & (count < seen.shape[1])
            weights[chunk[cut], k] = (seen[cut] @ bary[corner == k]) / count[cut, None]
    return weights, parts


def _centroids(across: int) -> np.ndarray:
    """Return the barycentric coordinates (across², 3) of the equal parts of a triangle."""
    i, j = np.divmod(np.arange(across**2), across)
    inside = i + j < across
    # The parts that point down are the others, mirrored.
    i, j = (
        np.where(inside, i + 1 / 3, across - 1 - i + 2 / 3),
        np.where(inside, j + 1 / 3, across - 1 - j + 2 / 3),
    )
    return np.stack([i, j, across - i - j], axis=1) / across

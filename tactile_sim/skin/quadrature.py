"""Quadrature points on the surface of a skin: several per taxel, each representing a part of its area.

A taxel in a grid of rows and columns has the points of its rectangular cell, see `grid_cells`; so has each
taxel of a pad without triangles, as if it had no neighbors. Elsewhere, a triangle between taxels contributes
one point to each of its three corners, in the middle of the third that is nearest to the corner. Between
taxels, the surface is curved according to their normals: points are lifted halfway to the tangent planes of
the corners (T. Boubekeur, M. Alexa, Phong Tessellation, SIGGRAPH Asia 2008), which is exact for quadratic
surfaces. If a taxel's normal differs from the triangle's by more than 25 degrees, the surface is assumed to
have an edge there and the triangle to be flat.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tactile_sim.geometry.solids import NODE, boxes_of, tree

if TYPE_CHECKING:
    from tactile_sim.skin.taxels import Taxels

THIRDS = np.full((1, 3, 3), 5 / 24) + np.diag(np.full(3, 7 / 12 - 5 / 24))
"""Barycentric coordinates of the middles of the three corners' thirds, one row per corner."""
SMOOTH = np.cos(np.radians(25.0))
STEEP = np.sin(np.radians(25.0))
ACROSS = 3
"""Number of quadrature points along each side of a taxel's cell, for taxels that form a grid."""

TAXEL = np.dtype(
    [
        ("x", float), ("y", float), ("z", float),
        ("nx", float), ("ny", float), ("nz", float),
        ("area", float),
        ("margin", float),
        ("id", np.int32),
        ("begin", np.int32),
    ],
    align=True,
)  # fmt: skip
"""Structured dtype of a taxel: position [m], outward normal, and area [m2].

``margin`` is EDGE if the surface has an edge at the taxel. Otherwise, it is the distance to the farthest
neighbor [m], or infinite if any neighbor is not in the taxel's plane. ``id`` is the index in the skin.
``begin`` is the index of the taxel's first point in `Quadrature.points`.
"""
EDGE = -1.0
"""Margin of a taxel at an edge of the surface, where a single point does not represent the taxel well."""
NX, POINT_AREA = 3, 6
"""Columns of `Quadrature.points`: the first column of the normals, and the column of the areas."""
FLAT = 0.02
"""A neighbor is in a taxel's tangent plane if its height above or below this plane is at most this fraction
of the distance between the two taxels."""


class Quadrature(NamedTuple):
    """Taxels of a skin and their quadrature points, in the frames of their bodies."""

    taxels: np.ndarray
    """(n + 1,) array of `TAXEL`. The n taxels are sorted so that each node's taxels are consecutive. The last
    entry is not a taxel: its ``begin`` is the length of ``points``."""
    place: np.ndarray
    """(n,) index in ``taxels`` of each taxel of the skin."""
    points: np.ndarray
    """(q, 7) quadrature points, taxel by taxel. Columns: position [m], outward normal (unit or 0), and area
    [m2]. The areas of a taxel's points sum to the taxel's area."""
    beside: np.ndarray
    """(n, w) int32 neighbors of each taxel, as indices into ``taxels``. Taxels with fewer than w neighbors
    are listed as neighbors of themselves, so that all rows have the same length."""
    nodes: np.ndarray
    """Array of `tree.NODE` with one tree over the taxels of each patch, patch by patch."""
    node_normals: np.ndarray
    """(number of nodes, 6) centers and half-sizes of boxes around the normals of the taxels in each node. A
    box is very large if a taxel has no normal."""
    roots: np.ndarray
    """(p + 1,) index of the first node of each patch's tree; the last entry is the number of nodes."""


def quadrature(skin: Taxels) -> Quadrature:
    """Compute the quadrature points of a skin.

    A taxel that is not in a triangle of its pad has a single point at its position.
    """
    positions, normals, areas = skin.surface_positions, skin.normals, skin.areas
    trees = [tree(positions[a:b]) for a, b in pairwise(skin.patch_offsets)]
    roots = np.concatenate([[0], np.cumsum([len(nodes) for _, nodes in trees])]).astype(np.int64)
    for (own, nodes), start, root in zip(trees, skin.patch_offsets[:-1], roots[:-1], strict=True):
        own += start
        nodes["first"] += start
        nodes["last"] += start
        nodes["skip"] += root
    order = np.concatenate([np.empty(0, np.int64), *(own for own, _ in trees)])
    nodes = np.concatenate([np.empty(0, NODE), *(nodes for _, nodes in trees)])
    index = np.empty(len(order), np.int64)
    index[order] = np.arange(len(order))

    oriented = (normals != 0.0).any(axis=1, keepdims=True)
    owner, points, smooth = _all_points(skin)
    begin, beside = skin.neighbors
    ahead = np.repeat(np.arange(len(positions)), np.diff(begin))
    step = positions[beside] - positions[ahead]
    distance, rise = np.linalg.norm(step, axis=1), np.abs((step * normals[ahead]).sum(axis=1))
    margin = np.where(smooth, 0.0, EDGE)
    level = np.where(rise <= FLAT * distance, distance, np.inf)
    np.maximum.at(margin, ahead[smooth[ahead]], level[smooth[ahead]])

    taxels = np.zeros(len(positions) + 1, TAXEL)
    for i, axis in enumerate("xyz"):
        taxels[axis][:-1], taxels["n" + axis][:-1] = positions[order, i], normals[order, i]
    taxels["area"][:-1], taxels["margin"][:-1], taxels["id"][:-1] = areas[order], margin[order], order
    taxels["begin"][1:] = np.cumsum(np.bincount(index[owner], minlength=len(positions)))
    low, high = (np.where(oriented, normals, wide)[order] for wide in (-1e9, 1e9))
    around = np.tile(np.arange(len(positions), dtype=np.int32)[:, None], np.diff(begin).max(initial=0))
    around[index[ahead], np.arange(len(ahead)) - begin[ahead]] = index[beside]
    return Quadrature(
        taxels,
        index,
        points[np.argsort(index[owner], kind="stable")],
        around,
        nodes,
        boxes_of(low, high, nodes),
        roots,
    )


def _all_points(skin: Taxels) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the quadrature points of all taxels of a skin.

    Returns:
        owner: (q,) index of the taxel to which each point belongs.
        points: (q, 7) points, with the columns of `Quadrature.points`.
        smooth: (n,) whether each taxel is smooth, which means that the surface has no edge there.
    """
    triangles = [np.empty((0, 3), np.int64)]
    owners, points, smooth = [np.empty(0, np.int64)], [np.empty((0, 7))], np.zeros(len(skin.positions), bool)
    done = np.zeros(len(skin.positions), bool)
    for pad, given in zip(skin.pads, skin.pad_cells, strict=True):
        own = slice(pad.start, pad.stop)
        if given is not None:
            done[own] = True
            owners.append(given.owner + pad.start)
            points.append(given.points)
            smooth[own] = given.smooth
        elif pad.flex < 0 and (len(pad.rows) or not (pad.is_whole or len(pad.triangles))):
            done[own] = True
            alone = np.arange(pad.stop - pad.start)  # on a diagonal, so that none has a neighbor
            rows, columns = (pad.rows, pad.columns) if len(pad.rows) else (alone, alone)
            cells, smooth[own] = grid_cells(
                skin.surface_positions[own],
                skin.axes[own],
                skin.areas[own],
                pad.spacing,
                rows,
                columns,
            )
            owners.append(np.repeat(np.arange(pad.start, pad.stop), ACROSS**2))
            points.append(cells)
        else:
            triangles.append(pad.triangles.astype(np.int64) + pad.start)
    rest = cells_of(skin.surface_positions, skin.normals, skin.areas, np.concatenate(triangles))
    kept = ~done[rest.owner]
    return (
        np.concatenate([*owners, rest.owner[kept]]),
        np.concatenate([*points, rest.points[kept]]),
        np.where(done, smooth, rest.smooth),
    )


def grid_cells(
    positions: np.ndarray,
    axes: np.ndarray,
    areas: np.ndarray,
    spacing: float,
    rows: np.ndarray,
    columns: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute ACROSS x ACROSS points in the cell of each of n taxels in a grid.

    A cell extends halfway to the next taxels along rows and columns. At the border of the grid, it extends as
    far outward as it does inward. It follows the curvature of the surface: the height over the tangent plane
    grows with the square of the distance.

    Args:
        positions: (n, 3) positions of the taxels [m].
        axes: (n, 3, 3) rows: two tangents and the outward normal.
        areas: (n,) areas of the taxels [m2].
        spacing: Edge length of the cell of a taxel without neighbors [m].
        rows: (n,) row of each taxel in the grid.
        columns: (n,) column of each taxel in the grid.

    Returns:
        The points (n ACROSS^2, 7) with the columns of `Quadrature.points`, and whether each taxel (n,) is
        smooth, as in `_all_points`.
    """
    place, at = positions[:, None, None], (np.arange(ACROSS) + 0.5) / ACROSS - 0.5
    sides, _, smooth = grid_steps(positions, axes, spacing, rows, columns)
    for along, steps in enumerate(sides):
        parts = [np.abs(t) * (flat + np.abs(t) * up) for t in at for flat, up in [steps[int(t > 0)]]]
        offset = np.stack(parts, axis=1)
        place = place + (offset[:, None] if along == 0 else offset[:, :, None])
    count = ACROSS**2
    points = np.empty((len(rows) * count, 7))
    points[:, :NX] = place.reshape(-1, 3)
    points[:, NX:POINT_AREA] = np.repeat(axes[:, 2], count, axis=0)
    points[:, POINT_AREA] = np.repeat(areas / count, count)
    return points, smooth


def grid_steps(
    positions: np.ndarray, axes: np.ndarray, spacing: float, rows: np.ndarray, columns: np.ndarray
) -> tuple[list[list[tuple[np.ndarray, np.ndarray]]], list[list[np.ndarray]], np.ndarray]:
    """Compute the steps from each of n taxels in a grid to its neighbors; for arguments, see `grid_cells`.

    Returns:
        sides: Along x and y of the pad, the steps behind and ahead, each as its part in the taxel's tangent
            plane (n, 3) and its part along the normal (n, 3) [m]. Missing steps are filled in by `_complete`.
        ends: For the same steps, whether each taxel (n,) has no neighbor on this side.
        smooth: (n,) whether each taxel is smooth, as in `_all_points`.
    """
    row, column = (np.unique(values, return_inverse=True)[1] for values in (rows, columns))
    grid = np.full((row.max() + 3, column.max() + 3), -1)
    grid[row + 1, column + 1] = np.arange(len(row))
    normals, smooth = axes[:, 2], np.ones(len(row), bool)
    sides, ends = [], []
    for along in (0, 1):
        steps, known, missing = [], [], []
        for sign in (-1, 1):
            beside = grid[row + 1 + sign * along, column + 1 + sign * (1 - along)]
            step = positions[beside] - positions
            level = np.einsum("ni,nki->nk", step, np.stack([normals, normals[beside]], axis=1))
            bends = (np.abs(level) > STEEP * np.linalg.norm(step, axis=1)[:, None]).any(axis=1)
            smooth &= (beside < 0) | ~bends
            steps.append(step)
            known.append((beside >= 0) & ~bends)
            missing.append(beside < 0)
        sides.append(_complete(steps, known, axes[:, along] * spacing, normals))
        ends.append(missing)
    return sides, ends, smooth


def _complete(steps: list, known: list, default: np.ndarray, normals: np.ndarray) -> list:
    """Return the steps from each taxel to its neighbors on both sides, with missing steps filled in.

    If one step is missing, the surface is assumed to be symmetric; if both are missing, it is assumed to be
    flat, with a default step.

    Args:
        steps: Steps to the neighbors behind (n, 3) and ahead (n, 3) [m].
        known: Whether each step behind (n,) and ahead (n,) exists.
        default: (n, 3) step ahead for taxels without neighbors [m].
        normals: (n, 3) outward unit normals.

    Returns:
        For each side, the part of the step in the tangent plane and the part along the normal, each (n, 3).
    """
    parts = []
    for step in steps:
        up = np.einsum("ni,ni->n", step, normals)[:, None] * normals
        parts.append((step - up, up))
    (back, back_up), (ahead, ahead_up) = parts
    no_back, no_ahead = (~k[:, None] for k in known)
    lone = no_back & no_ahead
    return [
        (np.where(lone, -default, np.where(no_back, -ahead, back)),
         np.where(lone, 0.0, np.where(no_back, ahead_up, back_up))),
        (np.where(lone, default, np.where(no_ahead, -back, ahead)),
         np.where(lone, 0.0, np.where(no_ahead, back_up, ahead_up))),
    ]  # fmt: skip


class Cells(NamedTuple):
    """The cells of n taxels as quadrature points."""

    owner: np.ndarray
    """(q,) index of the taxel of each point."""
    points: np.ndarray
    """(q, 7) points, with the columns of `Quadrature.points`."""
    smooth: np.ndarray
    """(n,) whether each taxel is smooth, as in `_all_points`."""


def cells_of(
    positions: np.ndarray,
    normals: np.ndarray,
    areas: np.ndarray,
    triangles: np.ndarray,
    weights: np.ndarray = THIRDS,
    parts: np.ndarray | float = 1.0,
) -> Cells:
    """Compute the cells of taxels in a triangle mesh, with one point in each corner of each triangle.

    A taxel that is not in a triangle gets a single point at its position.

    Args:
        positions: (n, 3) positions on the surface [m].
        normals: (n, 3) outward normals.
        areas: (n,) areas [m2].
        triangles: (t, 3) taxels at the corners.
        weights: (t, 3, 3) barycentric coordinates of the points, one row per corner.
        parts: (t, 3) fraction of each corner's third that its point represents.
    """
    corners = positions[triangles]
    weights, parts = np.broadcast_to(weights, corners.shape), np.broadcast_to(parts, triangles.shape)
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    double = np.linalg.norm(cross, axis=1)
    kept = double > 0.0
    triangles, corners, double, weights = triangles[kept], corners[kept], double[kept], weights[kept]
    flat = cross[kept] / double[:, None]
    own = normals[triangles]
    smooth = (np.einsum("tki,ti->tk", own, flat) > SMOOTH).all(axis=1)

    middle = on_triangles(corners, own, smooth, weights)
    facing = np.where(smooth[:, None, None], own, flat[:, None])

    taxels = triangles.ravel()
    alone = np.setdiff1d(np.arange(len(positions)), taxels)
    owner = np.concatenate([taxels, alone])
    share = np.concatenate([np.repeat(double, 3), np.ones(len(alone))])
    total = np.bincount(owner, share, minlength=len(positions))
    part = np.concatenate([parts[kept].ravel(), np.ones(len(alone))])
    points = np.column_stack(
        [
            np.concatenate([middle.reshape(-1, 3), positions[alone]]),
            np.concatenate([facing.reshape(-1, 3), normals[alone]]),
            areas[owner] * share / total[owner] * part,
        ]
    )
    edge = np.bincount(triangles[~smooth].ravel(), minlength=len(positions)) > 0
    return Cells(owner[part > 0.0], points[part > 0.0], ~edge & (normals != 0.0).any(axis=1))


def on_triangles(
    corners: np.ndarray, normals: np.ndarray, smooth: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return points (t, m, 3) on the surface over t triangles.

    Args:
        corners: (t, 3, 3) corners of the triangles [m].
        normals: (t, 3, 3) normals of the surface at the corners.
        smooth: (t,) whether the surface is curved according to the normals; otherwise it is flat.
        weights: (t, m, 3) barycentric coordinates of the points.
    """
    points = np.einsum("tkj,tji->tki", weights, corners)
    height = np.einsum("tkji,tji->tkj", corners[:, None] - points[:, :, None], normals)
    lift = 0.5 * np.einsum("tkj,tkj,tji->tki", weights, height, normals)
    return points + np.where(smooth[:, None, None], lift, 0.0)

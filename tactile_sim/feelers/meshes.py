"""The triangles of several meshes as tables for kernels: in trees and in grids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from tactile_sim.feelers.grid import lay
from tactile_sim.feelers.rays_mesh import contained
from tactile_sim.feelers.tree import Tree, build, join

LEAF = 2
"""Triangles in a leaf of a mesh's tree."""
MESH = np.dtype(
    [
        ("first", np.int64),
        ("last", np.int64),
        ("closed", np.int64),
        ("x", np.float64),
        ("y", np.float64),
        ("z", np.float64),
        ("step", np.float64),
        ("cell", np.int64),
        ("rows", np.int64),
        ("columns", np.int64),
    ],
    align=True,
)
"""A mesh: its nodes from first to last, whether it has an inside; the lower corner of its grid and the side
of a cell [m], its first cell, and how many of them there are along y and z."""


class Meshes(NamedTuple):
    """Several meshes, each with a tree and a grid of its own; all in the frames of their geoms [m]."""

    table: np.ndarray
    """(m,) of MESH."""
    boxes: np.ndarray
    links: np.ndarray
    """Those of the trees, one behind another."""
    triangles: np.ndarray
    """(t, 9) corners [m] in the order of the trees."""
    cells: np.ndarray
    starts: np.ndarray
    listed: np.ndarray
    """Those of the grids, likewise."""


def meshes_of(shapes: Iterable[tuple[np.ndarray, np.ndarray]]) -> Meshes:
    """Tables of meshes that are given as vertices (v, 3) [m] and triangles (t, 3)."""
    rows: list[tuple[float, ...]] = []
    trees: list[Tree] = []
    triangles, cells = [np.empty((0, 9))], [np.empty(0, np.int32)]
    starts, listed = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for vertices, faces in shapes:
        corners = vertices[faces].astype(float)
        tree = build(corners.min(axis=1), corners.max(axis=1), LEAF)
        ordered = corners.reshape(-1, 9)[tree.order]
        closed = _closed(vertices, faces)
        inside = partial(contained, tree.boxes, tree.links, ordered) if closed else _nowhere
        grid = lay(ordered.reshape(-1, 3, 3), inside)
        rows.append((0, 0, closed, *grid.corner, grid.step, _count(cells), *grid.cells.shape[1:]))
        cells.append((grid.cells + (grid.cells >= 0) * _count(starts)).ravel())
        starts.append(grid.starts + _count(listed))
        listed.append(grid.listed + _count(triangles))
        triangles.append(ordered)
        trees.append(tree)
    boxes, links, first = join(trees)
    table = np.array(rows, MESH)
    table["first"], table["last"] = first[:-1], first[1:]
    return Meshes(
        table, boxes, links, np.concatenate(triangles),
        *(np.concatenate(parts).astype(np.int32) for parts in (cells, starts, listed)),
    )  # fmt: skip


def _count(parts: Sequence[np.ndarray]) -> int:
    return sum(map(len, parts))


def _nowhere(points: np.ndarray) -> np.ndarray:
    """What is inside of an open mesh."""
    return np.zeros(len(points), bool)


def _closed(vertices: np.ndarray, faces: np.ndarray) -> bool:
    """Whether each edge is run along as often one way as the other; vertices at one place are one."""
    _, same = np.unique(vertices, axis=0, return_inverse=True)
    corner = same.reshape(-1)[faces].astype(np.int64)
    start, stop = corner.ravel(), np.roll(corner, -1, axis=1).ravel()
    low, high = np.minimum(start, stop), np.maximum(start, stop)
    _, edge = np.unique(low * len(vertices) + high, return_inverse=True)
    return not np.bincount(edge.reshape(-1), np.sign(stop - start)).any()

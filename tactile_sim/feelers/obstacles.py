"""What can cover feelers: the geoms of a model as tables for kernels, and which of them count for whom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim.feelers.tree import PAD, Tree, build, join
from tactile_sim.shapes import geom_mesh

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF = range(9)
"""Kinds of geoms, as in mujoco.mjtGeom."""

GEOM = np.dtype(
    [
        ("kind", np.int64),
        ("size", np.float64, 4),
        ("centre", np.float64, 3),
        ("half", np.float64, 3),
        ("radius", np.float64),
        ("first", np.int64),
        ("last", np.int64),
        ("closed", np.int64),
        ("rows", np.int64),
        ("columns", np.int64),
    ],
    align=True,
)
"""A geom in its own frame [m]: kind, size as MuJoCo has it (of a height field that of its data), the box
around it (centre, half sizes) and the radius of the ball about its origin; of a mesh the nodes from first to
last, and whether it has an inside; of a height field the first of its heights, its rows and columns."""

LEAF = 2
"""Triangles in a leaf of a mesh's tree."""


class Meshes(NamedTuple):
    """The triangles of several meshes, each with a tree of its own."""

    boxes: np.ndarray
    links: np.ndarray
    """Those of the trees, one behind another."""
    triangles: np.ndarray
    """(t, 9) corners [m] in the order of the trees."""


def covering(model: mujoco.MjModel, body: int, children: bool) -> np.ndarray:
    """Ids of the geoms that can cover the feelers of a body.

    Those that can touch something, on other bodies; if not `children`, bodies that hang below this one in the
    tree are left out too. What stands in the world is not a part of it: all other bodies cover its feelers.
    """
    touches = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    touches[model.pair_geom1] = True
    touches[model.pair_geom2] = True
    own = np.zeros(model.nbody, bool)
    own[body] = True
    if not children and body != 0:
        for below in range(body + 1, model.nbody):  # parents come before their children
            own[below] = own[model.body_parentid[below]]
    return np.flatnonzero(touches & ~own[model.geom_bodyid])


def tables(model: mujoco.MjModel, used: Iterable[int]) -> tuple[np.ndarray, Meshes]:
    """All geoms of a model as GEOM (ngeom,), filled in for those that are used, and the meshes of these."""
    geoms: np.ndarray = np.zeros(model.ngeom, GEOM)
    geoms["kind"], geoms["size"][:, :3] = model.geom_type, model.geom_size
    of_mesh: dict[int, list[int]] = {}
    for geom in used:
        row, data = geoms[geom], int(model.geom_dataid[geom])
        if row["kind"] in (MESH, SDF):
            of_mesh.setdefault(data, []).append(geom)
        elif row["kind"] == HFIELD:
            _fill_hfield(model, data, row)
        else:
            row["half"], row["radius"] = _bounds(row["kind"], row["size"])
    trees: list[Tree] = []
    triangles = [np.empty((0, 9))]
    for those in of_mesh.values():
        vertices, faces = geom_mesh(model, those[0])
        corners = vertices[faces].astype(float)
        tree = build(corners.min(axis=1), corners.max(axis=1), LEAF)
        triangles.append(corners.reshape(-1, 9)[tree.order])
        trees.append(tree)
        geoms["centre"][those], geoms["half"][those] = tree.boxes[0, :3], tree.boxes[0, 3:]
        geoms["radius"][those] = np.linalg.norm(corners, axis=2).max() + PAD
        geoms["closed"][those] = _closed(vertices, faces)
    boxes, links, first = join(trees)
    for k, those in enumerate(of_mesh.values()):
        geoms["first"][those], geoms["last"][those] = first[k], first[k + 1]
    return geoms, Meshes(boxes, links, np.concatenate(triangles))


def _bounds(kind: int, size: np.ndarray) -> tuple[np.ndarray, float]:
    """Half sizes of the box around a solid of MuJoCo's own, and the radius of the ball [m]."""
    r, length = size[0], size[1]
    if kind == PLANE:
        return np.full(3, np.inf), np.inf
    if kind == SPHERE:
        return np.full(3, r), r
    if kind == CAPSULE:
        return np.array([r, r, length + r]), length + r
    if kind == ELLIPSOID:
        return size[:3], size[:3].max()
    half = np.array([r, r, length]) if kind == CYLINDER else size[:3]
    return half, np.hypot(r, length) if kind == CYLINDER else float(np.linalg.norm(half))


def _fill_hfield(model: mujoco.MjModel, field: int, row: np.void) -> None:
    x, y, height, base = model.hfield_size[field]
    row["size"] = x, y, height, base
    row["centre"], row["half"] = (0, 0, (height - base) / 2), (x, y, (height + base) / 2)
    row["radius"] = np.linalg.norm([x, y, max(height, base)])
    row["first"] = model.hfield_adr[field]
    row["rows"], row["columns"] = model.hfield_nrow[field], model.hfield_ncol[field]


def _closed(vertices: np.ndarray, faces: np.ndarray) -> bool:
    """Whether each edge is run along as often one way as the other; vertices at one place are one."""
    _, same = np.unique(vertices, axis=0, return_inverse=True)
    corner = same.reshape(-1)[faces].astype(np.int64)
    start, stop = corner.ravel(), np.roll(corner, -1, axis=1).ravel()
    low, high = np.minimum(start, stop), np.maximum(start, stop)
    _, edge = np.unique(low * len(vertices) + high, return_inverse=True)
    return not np.bincount(edge.reshape(-1), np.sign(stop - start)).any()

"""Select the geoms that can cover feelers and store them in tables for the kernels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim.geometry.rays.tree import PAD, Tree, build, join
from tactile_sim.geometry.shapes import geom_mesh

LEAF = 2
"""Largest number of triangles per leaf of a mesh's bounding volume tree."""

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF = range(9)
"""Types of geoms, as in mujoco.mjtGeom."""

GEOM = np.dtype(
    [
        ("kind", np.int64),
        ("size", np.float64, 4),
        ("centre", np.float64, 3),
        ("half", np.float64, 3),
        ("radius", np.float64),
        ("mesh", np.int64),
        ("first", np.int64),
        ("rows", np.int64),
        ("columns", np.int64),
    ],
    align=True,
)
"""A geom in its own frame, with lengths in metres.

``kind`` is the type, and ``size`` is as in MuJoCo (hfield_size for a height field). ``centre`` and ``half``
are the centre and half sizes of the bounding box. ``radius`` is the radius of the bounding sphere around the
origin. For a mesh, ``mesh`` is its row in `Meshes.table`. For a height field, ``first`` is the index of its
first elevation, and ``rows`` and ``columns`` are its numbers of rows and columns.
"""

MESH_ROW = np.dtype([("first", np.int64), ("last", np.int64), ("closed", np.int64)], align=True)
"""A mesh: its nodes [first, last) in the joined trees, and whether it is closed and therefore solid."""


class Meshes(NamedTuple):
    """Tables that describe several meshes, with coordinates in their geom frames."""

    table: np.ndarray
    """(m,) array of `MESH_ROW`, one per mesh."""
    boxes: np.ndarray
    """(nodes, 6) bounding boxes in the joined triangle trees, see `tree.Tree`."""
    links: np.ndarray
    """(nodes, 3) links in the joined trees, see `tree.Tree`."""
    triangles: np.ndarray
    """(t, 9) corners of each triangle [m], in tree order."""


def covering(model: mujoco.MjModel, body: int, children: bool) -> np.ndarray:
    """Return the ids of the geoms that can cover the feelers of a body.

    These geoms belong to other bodies and can collide, because contype or conaffinity is not 0 or the geom is
    in a contact pair.

    Args:
        model: MuJoCo model.
        body: Id of the body that has the feelers.
        children: Whether to include the descendants of the body in the kinematic tree. For the world body,
            they are always included.

    Returns:
        Geom ids, ascending.
    """
    touches = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    touches[model.pair_geom1] = True
    touches[model.pair_geom2] = True
    own = np.zeros(model.nbody, bool)
    own[body] = True
    if not children and body != 0:
        parents = model.body_parentid
        below = np.flatnonzero(parents == body)
        while len(below):
            own[below] = True
            below = np.flatnonzero(np.isin(parents, below))
    return np.flatnonzero(touches & ~own[model.geom_bodyid])


def tables(model: mujoco.MjModel, used: Iterable[int]) -> tuple[np.ndarray, Meshes]:
    """Build the tables of geoms and meshes for the kernels.

    Args:
        model: MuJoCo model.
        used: Ids of the geoms to include.

    Returns:
        (ngeom,) array of `GEOM`, in which only the used geoms are filled in, and the meshes of these geoms.
    """
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
    meshes = meshes_of(geom_mesh(model, those[0]) for those in of_mesh.values())
    for k, those in enumerate(of_mesh.values()):
        vertices, faces = geom_mesh(model, those[0])
        box = meshes.boxes[meshes.table["first"][k]]
        geoms["centre"][those], geoms["half"][those] = box[:3], box[3:]
        geoms["radius"][those] = np.linalg.norm(vertices[np.unique(faces)], axis=1).max() + PAD
        geoms["mesh"][those] = k
    return geoms, meshes


def _bounds(kind: int, size: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the half sizes of a primitive's bounding box and the radius of its bounding sphere [m]."""
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
    row["centre"], row["half"] = ((0, 0, (height - base) / 2), (x, y, (height + base) / 2))
    row["radius"] = np.linalg.norm([x, y, max(height, base)])
    row["first"] = model.hfield_adr[field]
    row["rows"], row["columns"] = model.hfield_nrow[field], model.hfield_ncol[field]


def meshes_of(shapes: Iterable[tuple[np.ndarray, np.ndarray]]) -> Meshes:
    """Build the tables for a set of meshes.

    Args:
        shapes: Vertices (v, 3) [m] and triangles (t, 3) of each mesh.
    """
    trees: list[Tree] = []
    triangles, closed = [np.empty((0, 9))], []
    for vertices, faces in shapes:
        corners = vertices[faces].astype(float)
        trees.append(build(corners.min(axis=1), corners.max(axis=1), LEAF))
        triangles.append(corners.reshape(-1, 9)[trees[-1].order])
        closed.append(_closed(vertices, faces))
    boxes, links, first = join(trees)
    table: np.ndarray = np.zeros(len(trees), MESH_ROW)
    table["first"], table["last"], table["closed"] = first[:-1], first[1:], closed
    return Meshes(table, boxes, links, np.concatenate(triangles))


def _closed(vertices: np.ndarray, faces: np.ndarray) -> bool:
    """Return whether a mesh is closed, that is, its triangles use each edge equally often in both directions.

    Coincident vertices count as one.
    """
    _, same = np.unique(vertices, axis=0, return_inverse=True)
    corner = same.reshape(-1)[faces].astype(np.int64)
    start, stop = corner.ravel(), np.roll(corner, -1, axis=1).ravel()
    low, high = np.minimum(start, stop), np.maximum(start, stop)
    _, edge = np.unique(low * len(vertices) + high, return_inverse=True)
    return not np.bincount(edge.reshape(-1), np.sign(stop - start)).any()

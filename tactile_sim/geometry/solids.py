"""Represent the geoms of a scene as solids.

Meshes and height fields are represented by their triangles, not by their convex hulls. A signed distance
field (SDF) is represented by the mesh that its plugin created. Flexes are not included, because they have no
geom.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim.geometry.orientation import faces_outward
from tactile_sim.geometry.tree import NODE, tree

SOLID = np.dtype(
    [
        ("kind", np.int64),
        ("size", float, 3),
        ("center", float, 3),
        ("half", float, 3),
        ("nodes", np.int64, 2),
    ]
)
"""A geom as a solid. ``kind`` is MuJoCo's geom type, or `MESH`. ``size`` is MuJoCo's size [m]. ``center`` and
``half`` are the centre and half-sizes of the bounding box in the geom's frame [m]. ``nodes`` is the range
[first, last) of the geom's nodes in `Solids.nodes`."""
PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{name}"))
    for name in ("PLANE", "SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX")
)
MESH = int(mujoco.mjtGeom.mjGEOM_MESH)
"""Kind of all geoms that consist of triangles, including height fields."""


class Solids(NamedTuple):
    """All geoms of a scene, as arrays for native code."""

    table: np.ndarray
    """(ngeom,) array of `SOLID`, one entry per geom."""
    corners: np.ndarray
    """(f, 3, 3) corners of the triangles of meshes and height fields, in the frames of their geoms [m]."""
    nodes: np.ndarray
    """Trees of `tree.NODE` over the triangles of each mesh and height field."""


def solids(model: mujoco.MjModel) -> Solids:
    """Return the geoms of a model as solids."""
    table = np.zeros(model.ngeom, SOLID)
    table["kind"], table["size"] = model.geom_type, model.geom_size
    table["center"], table["half"] = model.geom_aabb[:, :3], model.geom_aabb[:, 3:]
    corners, nodes = [np.empty((0, 3, 3))], [np.empty(0, NODE)]
    known: dict[tuple[int, int], tuple[int, int]] = {}
    faces, count = 0, 0
    for geom in range(model.ngeom):
        kind, data = int(model.geom_type[geom]), int(model.geom_dataid[geom])
        hfield = kind == mujoco.mjtGeom.mjGEOM_HFIELD
        if not hfield and kind not in (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_SDF):
            continue
        if (hfield, data) not in known:
            own = corners[0] if data < 0 else _hfield(model, data) if hfield else mesh_triangles(model, data)
            low, high = own.min(axis=1), own.max(axis=1)
            order, boxes = tree(0.5 * (low + high), 0.5 * (high - low))
            boxes["first"] += faces
            boxes["last"] += faces
            boxes["skip"] += count
            known[hfield, data] = count, count + len(boxes)
            corners.append(own[order])
            nodes.append(boxes)
            faces, count = faces + len(own), count + len(boxes)
        table["kind"][geom], table["nodes"][geom] = MESH, known[hfield, data]
    return Solids(table, np.concatenate(corners), np.concatenate(nodes))


def mesh_triangles(model: mujoco.MjModel, mesh: int) -> np.ndarray:
    """Return the counterclockwise corners (f, 3, 3) of a mesh's triangles in the frame of its geoms [m]."""
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    face, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    vertices = model.mesh_vert[first : first + count].astype(float)
    return vertices[faces_outward(vertices, model.mesh_face[face : face + faces])]


def _hfield(model: mujoco.MjModel, field: int) -> np.ndarray:
    """Return the triangles of a height field, including its sides and bottom.

    Its cells are split along the same diagonal as in MuJoCo's collision detection.

    Args:
        model: MuJoCo model.
        field: Id of the height field.

    Returns:
        (f, 3, 3) corners in the frame of its geoms [m].
    """
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    width, depth, scale, base = model.hfield_size[field]
    start = model.hfield_adr[field]
    heights = scale * model.hfield_data[start : start + rows * columns].astype(float)
    x, y = np.meshgrid(np.linspace(-width, width, columns), np.linspace(-depth, depth, rows))
    top = np.stack([x.ravel(), y.ravel(), heights], axis=1)
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    right, above = corner + 1, corner + columns
    upper = np.concatenate([np.stack([corner, right, above + 1], 1), np.stack([corner, above + 1, above], 1)])
    grid = np.arange(rows * columns).reshape(rows, columns)
    border = np.concatenate([grid[0, :-1], grid[:-1, -1], grid[-1, :0:-1], grid[:0:-1, 0]])
    bottom = top * (1.0, 1.0, 0.0) - (0.0, 0.0, base)
    after = np.roll(border, -1)
    halves = [[top[border], bottom[border], bottom[after]], [top[border], bottom[after], top[after]]]
    sides = np.swapaxes(halves, 1, 2).reshape(-1, 3, 3)
    a, b, c, d = bottom[[0, columns - 1, -1, -columns]]
    return np.concatenate([top[upper], sides, [[a, c, b], [a, d, c]]])

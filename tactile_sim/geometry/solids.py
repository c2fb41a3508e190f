"""Represent the geoms of a scene as solids: primitives, or outward triangles in trees of boxes.

Meshes and height fields are represented by their triangles, not by their convex hulls. A signed distance
field (SDF) is represented by the mesh that its plugin created. Flexes are not included, because they have no
geom.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

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
``half`` are the center and half-sizes of the bounding box in the geom's frame [m]. ``nodes`` is the range
[first, last) of the geom's nodes in `Solids.nodes`."""
PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{name}"))
    for name in ("PLANE", "SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX")
)
MESH = int(mujoco.mjtGeom.mjGEOM_MESH)
"""Kind of all geoms that consist of triangles, including height fields."""

LEAF, CHILDREN = 8, 4
"""Maximum number of points in a leaf and of children of a node."""
BITS = 10
"""Number of bits of each coordinate in the Morton code, by which the points are sorted."""

NODE = np.dtype(
    [
        ("x", float), ("y", float), ("z", float),
        ("hx", float), ("hy", float), ("hz", float),
        ("first", np.int64), ("last", np.int64), ("skip", np.int64),
    ]
)  # fmt: skip
"""A node of a tree; its children follow it. ``x`` to ``z`` and ``hx`` to ``hz`` are the center and half-sizes
of its box [m]. [``first``, ``last``) is the range of its points in the order that `tree` returns; it is empty
for inner nodes. ``skip`` is the index of the next node outside its subtree."""


class Solids(NamedTuple):
    """All geoms of a scene, as arrays for native code."""

    table: np.ndarray
    """(ngeom,) array of `SOLID`, one entry per geom."""
    corners: np.ndarray
    """(f, 3, 3) corners of the triangles of meshes and height fields, in the frames of their geoms [m]."""
    nodes: np.ndarray
    """Trees of `NODE` over the triangles of each mesh and height field."""


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
    """Return the corners (f, 3, 3) of the triangles of a height field, with its sides and bottom [m].

    Its cells are split along the same diagonal as in MuJoCo's collision detection.
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


def tree(points: np.ndarray, half: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Build a tree of boxes over points or boxes, for fast searches near a location.

    Args:
        points: (n, 3) points, or centers of boxes [m].
        half: (n, 3) half-sizes of the boxes [m]; None for points.

    Returns:
        order: (n,) indices of the points, sorted so that nearby points are close to each other.
        nodes: Array of `NODE`; their ranges refer to ``order``.
    """
    if not len(points):
        return np.empty(0, np.int64), np.empty(0, NODE)
    low = points.min(axis=0)
    extent = max(float((points.max(axis=0) - low).max()), 1e-12)
    cells = np.minimum((points - low) * (2**BITS / extent), 2**BITS - 1).astype(np.int64)
    code = np.zeros(len(points), np.int64)
    for bit in range(BITS):  # the Morton order
        for axis in range(3):
            code |= (cells[:, axis] >> bit & 1) << (3 * bit + axis)
    order = np.argsort(code, kind="stable")

    low, high = (points, points) if half is None else (points - half, points + half)
    parts: list[np.ndarray] = []
    width = LEAF
    while True:
        start = np.arange(0, len(points), width)
        lower = np.minimum.reduceat(low[order], start)
        upper = np.maximum.reduceat(high[order], start)
        level = np.zeros(len(start), NODE)
        for axis, name in enumerate("xyz"):
            level[name] = 0.5 * (lower + upper)[:, axis]
            level["h" + name] = 0.5 * (upper - lower)[:, axis]
        level["first"], level["last"] = start, np.minimum(start + width, len(points))
        parts.append(level)
        if len(start) == 1:
            break
        width *= CHILDREN
    nodes, depth = np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    preorder = np.lexsort([-depth, nodes["first"]])
    nodes, inner = nodes[preorder], depth[preorder] > 0
    nodes["skip"] = np.searchsorted(nodes["first"], nodes["last"])
    nodes["last"][inner] = nodes["first"][inner]
    return order, nodes


def boxes_of(low: np.ndarray, high: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Compute boxes around other quantities of the points in each node of one or more trees.

    Args:
        low: (n, 3) lower ends of the quantities, in the order of the ranges of the nodes.
        high: (n, 3) upper ends.
        nodes: (k,) array of `NODE`, in which ranges and ``skip`` are those of the whole array.

    Returns:
        (k, 6) centers and half-sizes of the boxes.
    """
    if not len(nodes):
        return np.empty((0, 6))
    # The points of a node are those from its first to its last leaf.
    ranges = np.column_stack([nodes["first"], nodes["last"][nodes["skip"] - 1]]).ravel()
    lower = np.minimum.reduceat(np.append(low, low[:1], axis=0), ranges)[::2]
    upper = np.maximum.reduceat(np.append(high, high[:1], axis=0), ranges)[::2]
    return np.hstack([0.5 * (lower + upper), 0.5 * (upper - lower)])


def faces_outward(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the triangles of a mesh, of which a file may have some the wrong way round, facing outward.

    Triangles connected by shared edges form a shell. All of them get the orientation that most of the shell's
    area has. A closed shell that then faces inward is reversed, unless it lies within another closed shell,
    where it bounds a cavity. Open shells are only reversed together with the whole mesh. The triangles of a
    one-sided shell keep their relative orientation.

    Args:
        vertices: (v, 3) vertices [m]. Vertices at the same place count as one.
        faces: (f, 3) indices of the vertices of each triangle.
    """
    _, same = np.unique(vertices + 0.0, axis=0, return_inverse=True)
    shell, turned, is_closed = _shells(same.reshape(-1)[faces], _areas(vertices[faces]))
    corners = vertices[faces]
    volumes = np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    volumes[turned] *= -1.0
    if volumes.sum() < 0.0:
        turned, volumes = ~turned, -volumes
    inward = np.flatnonzero(is_closed & (np.bincount(shell, volumes, len(is_closed)) < 0.0))
    if len(inward):
        low, high = np.full((2, len(is_closed), 3), [[[np.inf]], [[-np.inf]]])
        np.minimum.at(low, shell, corners.min(axis=1))
        np.maximum.at(high, shell, corners.max(axis=1))
        low[~is_closed], high[~is_closed] = np.inf, -np.inf
        is_cavity = [np.any((low < low[n]).all(axis=1) & (high > high[n]).all(axis=1)) for n in inward]
        turned ^= np.isin(shell, inward[~np.array(is_cavity)])
    return np.where(turned[:, None], faces[:, ::-1], faces)


def _areas(corners: np.ndarray) -> np.ndarray:
    """Return twice the area [m2] of each triangle (f,), given the corners (f, 3, 3) [m]."""
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return np.linalg.norm(np.cross(u, v), axis=1)


def _shells(faces: np.ndarray, areas: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the shells of a mesh, and the triangles to reverse so that each shell is consistent.

    Returns:
        shell: (f,) index of the shell that contains each triangle.
        turned: (f,) whether to reverse each triangle.
        is_closed: (s,) whether each shell is closed: each of its edges is shared by an even number of
            triangles.
    """
    count, start, stop = len(faces), faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    ends = np.minimum(start, stop) * (int(faces.max(initial=0)) + 1) + np.maximum(start, stop)
    order = np.argsort(ends, kind="stable")
    first = np.flatnonzero(np.diff(ends[order], prepend=-1))
    uses = np.diff(first, append=len(order))
    a, b = order[first[uses == 2]], order[first[uses == 2] + 1]
    opposite = (start < stop)[a] != (start < stop)[b]  # as in a consistent mesh
    # Each triangle has two nodes, one as given and one turned. An edge joins nodes that are consistent.
    a, b = a // 3, b // 3
    rows = np.concatenate([a, a + count])
    columns = np.concatenate([b + count * ~opposite, b + count * opposite])
    links = coo_matrix((np.ones(len(rows), np.int8), (rows, columns)), (2 * count, 2 * count))
    nodes, label = connected_components(links, directed=False)
    given, other = label[:count], label[count:]
    weight = np.bincount(given, areas, nodes)
    turned = (weight[other] > weight[given]) | ((weight[other] == weight[given]) & (other > given))
    _, shell = np.unique(np.minimum(given, other), return_inverse=True)
    shell = shell.reshape(-1)
    is_closed = np.ones(shell.max(initial=-1) + 1, bool)
    odd = np.repeat(uses % 2 == 1, uses)
    is_closed[shell[order[odd] // 3]] = False
    return shell, turned, is_closed


def hole_area(corners: np.ndarray) -> float:
    """Return the total area of a mesh's holes [m2].

    The area of a hole is that of the flattest surface that closes it, projected along its mean normal. Cracks
    between triangles that do not share vertices therefore count as 0. ``corners`` (f, 3, 3) are those of the
    triangles, in counterclockwise order as seen from outside [m].
    """
    points, same = np.unique(corners.reshape(-1, 3) + 0.0, axis=0, return_inverse=True)
    faces = same.reshape(-1, 3)
    start, stop = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    ends = np.stack([np.minimum(start, stop), np.maximum(start, stop)], axis=1)
    edges, edge = np.unique(ends, axis=0, return_inverse=True)
    surplus = np.bincount(edge.reshape(-1), np.where(start < stop, 1.0, -1.0), len(edges))
    first, second = edges[surplus != 0.0].T
    graph = coo_matrix((np.ones(len(first), np.int8), (first, second)), (len(points), len(points)))
    count, hole = connected_components(graph, directed=False)
    area = np.zeros((count, 3))
    crosses = np.cross(points[first], points[second]) * surplus[surplus != 0.0, None]
    np.add.at(area, hole[first], 0.5 * crosses)
    return float(np.linalg.norm(area, axis=1).sum())

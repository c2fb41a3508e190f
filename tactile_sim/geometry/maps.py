"""Select or compute the UV map of a geom.

A mesh without suitable UV coordinates is unwrapped: each face is assigned to the axis direction (one of six)
that is nearest to its normal. Connected faces with the same direction form a chart, which is projected along
that axis; faces that would hide others go into another chart. Charts are packed in rows at one scale.
Therefore, nothing overlaps, and a length on the map is at least 0.58 times the corresponding length on the
surface.
"""

from __future__ import annotations

import mujoco
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tactile_sim import _core
from tactile_sim.common.errors import SceneError
from tactile_sim.common.names import Names
from tactile_sim.geometry.shapes import GEOM, KINDS, UNFIT
from tactile_sim.geometry.uv_map import (
    SIDES,
    BoxMap,
    RoundMap,
    SurfacePoints,
    Triangles,
    UvMap,
    mesh_corners,
    mesh_uv,
)

TRIAL = 512
"""Side length of the image that is used to detect overlapping parts of a map [pixels]."""
ROW = 1.15
"""Width of the map relative to the side of a square with the area of all charts."""


def can_have_map(model: mujoco.MjModel, geom: int) -> bool:
    """Return whether a geom can have a UV map. Planes, height fields and signed distance fields cannot."""
    return int(model.geom_type[geom]) in KINDS


def painted_map(model: mujoco.MjModel, geom: int) -> UvMap:
    """Return the UV map to use for an image painted for a geom.

    The map consists of the UV coordinates of a mesh, or of the unfolded surface of a primitive.

    Raises:
        SceneError: The geom is a mesh without UV coordinates, or its type cannot have a map.
    """
    kind = _kind(model, geom)
    if kind != "mesh":
        return _primitive_map(model, geom, kind)
    found = _mesh_map(model, geom)
    if found is None:
        raise SceneError(
            f"{_mesh_name(model, geom)} has no UV coordinates, which an image needs; unwrap it in a modeling"
            " program and export it with UV coordinates (vt in an OBJ file), or give spacing instead of image"
        )
    return found


def own_map(model: mujoco.MjModel, geom: int, laid_out: bool = False) -> UvMap:
    """Return a UV map of a geom that shows each point of its surface once.

    The result is `painted_map` if it meets this condition. Otherwise, or if ``laid_out`` is True, the map of
    a mesh is computed.

    Raises:
        SceneError: The type of the geom cannot have a map.
    """
    kind = _kind(model, geom)
    if kind != "mesh":
        return _primitive_map(model, geom, kind)
    found = None if laid_out else _mesh_map(model, geom)
    if found is not None and _is_injective(found):
        return found
    corners = mesh_corners(model, int(model.geom_dataid[geom]))
    return Triangles(corners, *unwrap(corners), _mesh_name(model, geom))


def in_body(model: mujoco.MjModel, geom: int, points: SurfacePoints) -> SurfacePoints:
    """Transform points on the surface of a geom from its frame to its body's frame."""
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    turned = rotation.reshape(3, 3).T
    return SurfacePoints(points.uv, points.positions @ turned + model.geom_pos[geom], points.normals @ turned)


def _kind(model: mujoco.MjModel, geom: int) -> str:
    kind = int(model.geom_type[geom])
    if kind not in KINDS:
        raise SceneError(
            f"geom {Names(model).geoms[geom]!r} is {UNFIT.get(GEOM(kind), 'of an unknown type')}, which "
            f"cannot have feelers; use a body with other geoms ({', '.join(KINDS.values())})"
        )
    return KINDS[GEOM(kind)]


def _primitive_map(model: mujoco.MjModel, geom: int, kind: str) -> UvMap:
    if kind == "box":
        return BoxMap.of(model.geom_size[geom].copy(), f"geom {Names(model).geoms[geom]!r}")
    return RoundMap.of(kind, model.geom_size[geom].copy())


def _mesh_map(model: mujoco.MjModel, geom: int) -> Triangles | None:
    mesh = int(model.geom_dataid[geom])
    uv, corners = mesh_uv(model, mesh), mesh_corners(model, mesh)
    if uv is None:
        return None
    if not np.isfinite(uv).all():
        raise SceneError(f"{_mesh_name(model, geom)} has UV coordinates that are not finite; export it again")
    # The image repeats, so each triangle is moved into the first repeat.
    uv -= np.floor(uv.min(axis=1, keepdims=True) + 1e-6)
    return Triangles(corners, uv, _extent(corners, uv), _mesh_name(model, geom))


def _extent(corners: np.ndarray, uv: np.ndarray) -> np.ndarray:
    """Return the lengths on the surface [m] that correspond to a step of 1 in u and in v.

    The scale of the map can vary, so each length is the root mean square over the surface area. It is 1 if no
    triangle has an area.
    """
    sides, over = corners[:, 1:] - corners[:, :1], uv[:, 1:] - uv[:, :1]
    area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    turn = over[:, 0, 0] * over[:, 1, 1] - over[:, 0, 1] * over[:, 1, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        along_u = (over[:, 1, 1, None] * sides[:, 0] - over[:, 0, 1, None] * sides[:, 1]) / turn[:, None]
        along_v = (over[:, 0, 0, None] * sides[:, 1] - over[:, 1, 0, None] * sides[:, 0]) / turn[:, None]
    squares = np.stack([(along_u**2).sum(axis=1), (along_v**2).sum(axis=1)], axis=1)
    fit = np.isfinite(squares).all(axis=1) & (area > 0)
    if not fit.any():
        return np.ones(2)
    return np.asarray(np.sqrt(np.average(squares[fit], axis=0, weights=area[fit])))


def _is_injective(found: Triangles) -> bool:
    """Return whether a map assigns each pixel to at most one surface point.

    All triangles must lie inside the image, and those with an area in space must also have one on the map.
    No two may overlap at a pixel of a trial image of `TRIAL` x `TRIAL` pixels.
    """
    surface = found.areas > 0
    a, b, c = np.moveaxis(found.uv[surface], 1, 0)
    flat = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
    if found.uv.min() < -1e-6 or found.uv.max() > 1 + 1e-6 or not flat.all():
        return False
    try:
        found.surface(np.ones((TRIAL, TRIAL), bool))
    except SceneError:
        return False
    return True


def _mesh_name(model: mujoco.MjModel, geom: int) -> str:
    mesh = int(model.geom_dataid[geom])
    name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_MESH, mesh) or f"mesh{mesh}"
    return f"mesh {name!r} of geom {Names(model).geoms[geom]!r}"


def unwrap(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return u and v (t, 3, 2) for the corners (t, 3, 3) of a mesh [m], and the size (2,) of the map [m].

    The corners of the triangles are counterclockwise seen from outside.
    """
    a, b, c = np.moveaxis(corners, 1, 0)
    across = np.cross(b - a, c - a)
    label = np.argmax(across @ SIDES[:, 0].T, axis=1)
    flat = np.einsum("tik,tjk->tji", SIDES[label, 1:], corners)
    adjacent = _adjacent(corners)
    extent = np.ptp(corners.reshape(-1, 3), axis=0).max()
    chart = _charts(adjacent, label)
    layer, number = np.zeros(len(corners), np.int64), 0
    left = np.asarray(across.any(axis=1))
    while left.any():
        faces = np.flatnonzero(left)
        faces = faces[np.lexsort((flat[faces, :, 0].min(axis=1), chart[faces]))]
        covers = _core.covering_triangles(flat[faces], chart[faces], 1e-9 * extent)
        layer[faces] = number
        left[faces[covers == 0]] = False
        number += 1
    chart = _charts(adjacent, label * number + layer)
    return _pack(flat, chart)


def _adjacent(corners: np.ndarray) -> np.ndarray:
    """Return the indices of the two triangles at each shared edge (e, 2)."""
    _, vertex = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    triangles = vertex.reshape(-1, 3)
    edges = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2), axis=2).reshape(-1, 2)
    face = np.repeat(np.arange(len(triangles)), 3)
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    same = (edges[order[1:]] == edges[order[:-1]]).all(axis=1)
    return np.stack([face[order[:-1]][same], face[order[1:]][same]], axis=1)


def _charts(adjacent: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return the index (t,) of the chart of each triangle: adjacent triangles with equal labels (t,)."""
    joined = adjacent[label[adjacent[:, 0]] == label[adjacent[:, 1]]]
    graph = coo_array((np.ones(len(joined), bool), joined.T), shape=(len(label), len(label)))
    return np.asarray(connected_components(graph, directed=False)[1])


def _pack(flat: np.ndarray, chart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pack charts, given the projected corners (t, 3, 2) of their triangles [m], in rows, highest first.

    Returns:
        u and v (t, 3, 2) of the triangles, and the size (2,) of the map [m].
    """
    count = chart.max() + 1
    low, high = np.full((count, 2), np.inf), np.full((count, 2), -np.inf)
    for corner in range(3):
        np.minimum.at(low, chart, flat[:, corner])
        np.maximum.at(high, chart, flat[:, corner])
    extent = high - low
    gap = 0.01 * np.sqrt(extent.prod(axis=1).sum() / count)
    width = max(extent[:, 0].max(), ROW * np.sqrt((extent + gap).prod(axis=1).sum()))
    place = np.empty((count, 2))
    x = top = row = 0.0
    for k in np.argsort(-extent[:, 1], kind="stable"):
        if x + extent[k, 0] > width * (1 + 1e-9):
            x, top, row = 0.0, top + row + gap, 0.0
        place[k] = x, -top - extent[k, 1]
        x, row = x + extent[k, 0] + gap, max(row, extent[k, 1])
    placed = flat + (place - low)[chart][:, None]
    first, last = placed.min(axis=(0, 1)), placed.max(axis=(0, 1))
    return (placed - first) / (last - first), last - first

"""Select or compute the UV map of a geom."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.errors import SceneError
from tactile_sim.names import Names
from tactile_sim.skin.placement.shapes import GEOM, KINDS, UNFIT
from tactile_sim.uv.primitive_uv import BoxMap, RoundMap
from tactile_sim.uv.unwrap import unwrap
from tactile_sim.uv.uv_map import Triangles, UvMap, mesh_corners, mesh_uv

TRIAL = 512
"""Side length of the image that is used to detect overlapping parts of a map [pixels]."""


def can_have_map(model: mujoco.MjModel, geom: int) -> bool:
    """Return whether a geom can have a UV map. Planes, height fields and signed distance fields cannot.

    Args:
        model: MuJoCo model.
        geom: Id of the geom.
    """
    return int(model.geom_type[geom]) in KINDS


def painted_map(model: mujoco.MjModel, geom: int) -> UvMap:
    """Return the UV map to use for an image painted for a geom.

    The map consists of the UV coordinates of a mesh, or of the unfolded surface of a primitive.

    Args:
        model: MuJoCo model.
        geom: Id of the geom.

    Raises:
        SceneError: The geom is a mesh without UV coordinates, or its type cannot have a map.
    """
    kind = _kind(model, geom)
    if kind != "mesh":
        return _primitive_map(model, geom, kind)
    found = _mesh_map(model, geom)
    if found is None:
        raise SceneError(
            f"{_mesh_name(model, geom)} has no UV coordinates, which an image needs; unwrap it in a modelling"
            " program and export it with UV coordinates (vt in an OBJ file), or give spacing instead of image"
        )
    return found


def own_map(model: mujoco.MjModel, geom: int, laid_out: bool = False) -> UvMap:
    """Return a UV map of a geom that shows each point of its surface once.

    The result is `painted_map` if it meets this condition. Otherwise `unwrap` computes the map.

    Args:
        model: MuJoCo model.
        geom: Id of the geom.
        laid_out: True to compute the map of a mesh even if its UV coordinates are suitable.

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

    Args:
        corners: (t, 3, 3) corners of the triangles in space [m].
        uv: (t, 3, 2) u and v of the corners.
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

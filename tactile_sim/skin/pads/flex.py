"""Place pads on flexes, with taxels on the surface triangles of a deformable body."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.common.errors import ConfigError
from tactile_sim.geometry.curvature import FLAT, GEOM
from tactile_sim.skin.pads.layout import default_tangents
from tactile_sim.skin.pads.plan import PadPlan, PlacedPad
from tactile_sim.skin.placement.surface import BodySurface

MOST_TAXELS = 5000
"""Maximum number of taxels in a pad on a flex."""
CANDIDATES = 20
"""Number of random candidate points per taxel."""


@dataclass(frozen=True)
class FlexSurface:
    """The surface of a flex in its rest shape, which is its shape at ``qpos0``."""

    flex: int
    body: int
    """Id of the body that carries the flex."""
    vertices: np.ndarray
    """(v, 3) positions of all vertices of the flex, in the frame of ``body`` [m]."""
    triangles: np.ndarray
    """(t, 3) vertex indices of the surface triangles, wound outward if the flex is solid (``dim`` 3)."""

    @staticmethod
    def of(model: mujoco.MjModel, flex: int) -> FlexSurface:
        """Return the surface of a flex of triangles or tetrahedra (``dim`` 2 or 3)."""
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_flex(model, data)
        first, number = model.flex_vertadr[flex], model.flex_vertnum[flex]
        body = carrier(model, flex)
        world = data.flexvert_xpos[first : first + number]
        vertices = (world - data.xpos[body]) @ data.xmat[body].reshape(3, 3)
        if model.flex_dim[flex] == 3:
            start, count, table = model.flex_shelldataadr[flex], model.flex_shellnum[flex], model.flex_shell
        else:
            start, count, table = model.flex_elemdataadr[flex], model.flex_elemnum[flex], model.flex_elem
        triangles = table[start : start + 3 * count].reshape(-1, 3).astype(np.int64)
        a, b, c = np.moveaxis(vertices[triangles] - vertices.mean(axis=0), 1, 0)
        if model.flex_dim[flex] == 3 and np.einsum("ti,ti->", a, np.cross(b, c)) < 0:
            triangles = triangles[:, ::-1]
        return FlexSurface(flex, body, vertices, np.ascontiguousarray(triangles))


def carrier(model: mujoco.MjModel, flex: int) -> int:
    """Return the id of the body that carries a flex: the parent of the bodies of its vertices or nodes."""
    if model.flex_interp[flex]:
        first, number = model.flex_nodeadr[flex], model.flex_nodenum[flex]
        bodies = np.unique(model.flex_nodebodyid[first : first + number])
    else:
        first, number = model.flex_vertadr[flex], model.flex_vertnum[flex]
        bodies = np.unique(model.flex_vertbodyid[first : first + number])
    # Pinned vertices belong to the carrier itself.
    parents, counts = np.unique(model.body_parentid[bodies], return_counts=True)
    return int(bodies[0] if len(bodies) == 1 else parents[counts.argmax()])


def flex_rows(model: mujoco.MjModel) -> np.ndarray:
    """Return an array (nflex,) of `curvature.GEOM` that represents flexes as flat geoms without a skin."""
    table = np.zeros(model.nflex, GEOM)
    table["patch"], table["kind"] = -1, FLAT
    table["body"] = [carrier(model, flex) for flex in range(model.nflex)]
    table["rotation"] = np.eye(3)
    for flex in range(model.nflex):
        vertices = FlexSurface.of(model, flex).vertices
        table["bound"][flex] = np.linalg.norm(vertices - vertices.mean(axis=0), axis=1).max()
    return table


def place_flex(model: mujoco.MjModel, plan: PadPlan) -> PlacedPad:
    """Place evenly spaced taxels on a flex in its rest shape.

    Args:
        model: The model.
        plan: The configured pad.

    Raises:
        ConfigError: The pad has no taxel, or more than `MOST_TAXELS`.
    """
    surface = FlexSurface.of(model, plan.flex)
    corners = surface.vertices[surface.triangles]
    crosses = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(crosses, axis=1) / 2
    normals = crosses / np.maximum(2 * areas, 1e-300)[:, None]
    number = max(1, round(areas.sum() / plan.spacing**2))
    if number > MOST_TAXELS:
        raise ConfigError(
            f"{plan.where}.spacing: must give at most {MOST_TAXELS} taxels on a flex, got about {number};"
            f" use {np.sqrt(areas.sum() / MOST_TAXELS):.2g} m or more"
        )
    random = np.random.default_rng(0)
    triangle = random.choice(len(areas), CANDIDATES * number, p=areas / areas.sum())
    weights = np.sort(random.random((len(triangle), 2)), axis=1)
    weights = np.column_stack([weights[:, 0], np.diff(weights, axis=1), 1 - weights[:, 1]])
    points = np.einsum("nk,nki->ni", weights, corners[triangle])
    if plan.region is not None:
        kept = plan.region.contains(points, normals[triangle])
        if not kept.any():
            raise ConfigError(f"{plan.where}: no taxel of the flex is in the region; make it larger")
        triangle, weights, points = triangle[kept], weights[kept], points[kept]
    chosen = _spread(points, max(1, round(len(points) / CANDIDATES)))
    owner = cKDTree(points[chosen]).query(points)[1]
    shares = np.bincount(owner, minlength=len(chosen)) * areas.sum() / (CANDIDATES * number)
    normals, positions = normals[triangle[chosen]], points[chosen]
    tangents = default_tangents(normals)
    none = np.empty(0, np.uint32)
    placed = BodySurface(
        np.empty(0, np.int32),
        positions,
        normals,
        shares,
        np.zeros(len(chosen), np.uint16),
        np.empty((0, 3), np.uint32),
        np.empty((0, 2), np.int64),
    )
    return PlacedPad(
        plan.name, surface.body, plan.spacing, placed, positions,
        np.stack([tangents, np.cross(normals, tangents), normals], axis=1),
        np.arange(len(chosen), dtype=np.uint32), none, none, plan.ignores_outside, is_meshed=False,
        flex=plan.flex, corners=surface.triangles[triangle[chosen]], weights=weights[chosen],
    )  # fmt: skip


def _spread(points: np.ndarray, number: int) -> np.ndarray:
    """Select points that are far apart from each other, by farthest-point sampling.

    Args:
        points: (n, 3) points [m].
        number: Number of points to select.

    Returns:
        (number,) indices of the selected points.
    """
    chosen = np.zeros(number, np.int64)
    chosen[0] = np.argmin(np.linalg.norm(points - points.mean(axis=0), axis=1))
    distances = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    for k in range(1, number):
        chosen[k] = np.argmax(distances)
        np.minimum(distances, ((points - points[chosen[k]]) ** 2).sum(axis=1), out=distances)
    return chosen

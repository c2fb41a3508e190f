"""How thick a body is below its skin."""

from __future__ import annotations

import mujoco
import numpy as np
from numba import njit

from tactile_sim.feelers.obstacles import BOX, HFIELD, Meshes
from tactile_sim.feelers.rays import through_box
from tactile_sim.feelers.rays_mesh import cross_mesh
from tactile_sim.feelers.reading import through

JUST = 1e-4
"""How deep below the skin its body must have begun, as a part of the depth of interest: a place on the
surface is on either side of it."""


def thickness(
    model: mujoco.MjModel,
    body: int,
    positions: np.ndarray,
    normals: np.ndarray,
    geoms: np.ndarray,
    meshes: Meshes,
    depths: np.ndarray,
) -> np.ndarray:
    """(n,) how far one can go inwards from places on a body's skin [m] without leaving all of its geoms.

    Of a closed mesh that is as far as its next triangle, of an open one too; where none follows, as on a
    sheet, it is 0. Height fields are as thick as the box around them.

    Args:
        model, body: whose geoms count, also those that only are seen.
        positions, normals: (n, 3) [m] and outward unit vectors in the body's frame.
        geoms, meshes: of `obstacles.tables`.
        depths: (n,) to look into [m]; beyond, only some thickness above it is told.
    """
    own = np.arange(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body])
    rotations = np.empty((len(own), 9))
    for rotation, geom in zip(rotations, own, strict=True):
        mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    out = np.empty(len(positions))
    _dig(positions, normals, geoms[own], model.geom_pos[own], rotations, meshes, depths, out)
    return out


@njit(cache=True, error_model="numpy")
def _dig(positions, normals, shapes, origins, rotations, meshes, depths, out):
    for f in range(len(positions)):
        out[f] = 0.0
        deeper = True
        while deeper and out[f] < depths[f]:
            deeper = False
            depth = out[f] + JUST * depths[f]
            for g in range(len(shapes)):
                rest = _rest(positions[f], normals[f], depth, shapes[g], origins[g], rotations[g], meshes)
                if rest > 0.0:
                    out[f], deeper = max(out[f], depth + rest), True


@njit(cache=True, error_model="numpy")
def _rest(position, normal, depth, shape, origin, rotation, meshes):
    """How far it is inwards from a place at some depth [m] until a geom ends; 0 where it is not in it."""
    p, d = np.zeros(3), np.zeros(3)
    for j in range(3):
        for i in range(3):
            axis = rotation[3 * i + j]
            p[j] += axis * (position[i] - depth * normal[i] - origin[i])
            d[j] -= axis * normal[i]
    if shape.kind > BOX:
        mesh = meshes.table[shape.mesh]
        nearest, turns = cross_mesh(
            p[0], p[1], p[2], d[0], d[1], d[2], mesh.first, mesh.last,
            meshes.boxes, meshes.links, meshes.triangles, np.inf, True,
        )  # fmt: skip
        return nearest if nearest < np.inf and (turns != 0 or not mesh.closed) else 0.0
    if shape.kind == HFIELD:
        for j in range(3):
            p[j] -= shape.centre[j]
        half = (shape.half[0], shape.half[1], shape.half[2])
        enter, leave = through_box(p[0], p[1], p[2], d[0], d[1], d[2], half)
    else:
        size = (shape.size[0], shape.size[1], shape.size[2], shape.size[3])
        enter, leave = through(shape.kind, p[0], p[1], p[2], d[0], d[1], d[2], size)
    return leave if enter <= 0.0 < leave else 0.0

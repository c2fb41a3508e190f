"""Compute the thickness of a body below points on its surface."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.feelers.obstacles import BOX, HFIELD, Meshes
from tactile_sim.feelers.reading import intersect
from tactile_sim.geometry.rays.mesh import cross_mesh
from tactile_sim.geometry.rays.primitives import intersect_box

JUST = 1e-4
"""Depth below the surface at which the measurement starts, as a fraction of the depth of interest.

Exactly on the surface, rounding errors would decide whether a point is inside the body.
"""


def thickness(
    model: mujoco.MjModel,
    body: int,
    positions: np.ndarray,
    normals: np.ndarray,
    geoms: np.ndarray,
    meshes: Meshes,
    depths: np.ndarray,
) -> np.ndarray:
    """Return the thickness of a body below points on its surface.

    The thickness is the distance that a ray along the inward normal travels until it leaves the last of the
    overlapping geoms. A mesh ends at the next triangle; if there is none, as on a sheet, the thickness is 0.
    A height field is treated as a solid box.

    Args:
        model: MuJoCo model.
        body: Id of the body. All its geoms count, including visual ones.
        positions: (n, 3) points in the body's frame [m].
        normals: (n, 3) outward unit normals in the body's frame.
        geoms: Table of geoms from `obstacles.tables`.
        meshes: Table of meshes from `obstacles.tables`.
        depths: (n,) depth of interest [m]. Where the body is thicker, the result is at least this depth but
            may be less than the thickness.

    Returns:
        (n,) thickness [m].
    """
    own = np.arange(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body])
    rotations = np.empty((len(own), 9))
    for rotation, geom in zip(rotations, own, strict=True):
        mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    out = np.empty(len(positions))
    _measure(positions, normals, geoms[own], model.geom_pos[own], rotations, meshes, depths, out)
    return out


@kernel(error_model="numpy")
def _measure(positions, normals, shapes, origins, rotations, meshes, depths, out):
    """Write the thickness below each point to ``out`` (n,) [m].

    ``shapes`` are the rows of `GEOM` for the body's geoms. ``origins`` (g, 3) [m] and ``rotations`` (g, 9)
    are the poses of these geoms in the body's frame. The other arguments are those of `thickness`.
    """
    for f in range(len(positions)):
        out[f] = 0.0
        deeper = True
        while deeper and out[f] < depths[f]:
            deeper = False
            depth = out[f] + JUST * depths[f]
            for g in range(len(shapes)):
                rest = _rest_of_geom(
                    positions[f], normals[f], depth, shapes[g], origins[g], rotations[g], meshes
                )
                if rest > 0.0:
                    out[f], deeper = max(out[f], depth + rest), True


@kernel(error_model="numpy")
def _rest_of_geom(position, normal, depth, shape, origin, rotation, meshes):
    """Return how much farther a geom extends inwards, from a point ``depth`` below the body's surface [m].

    The result is 0 if this point is outside the geom. ``position`` is the point on the surface above it, and
    ``normal`` is the outward normal there, both in the body's frame. ``shape`` is the geom's row of `GEOM`,
    and ``origin`` and ``rotation`` are its pose in the body's frame.
    """
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
        enter, leave = intersect_box(p[0], p[1], p[2], d[0], d[1], d[2], half)
    else:
        size = (shape.size[0], shape.size[1], shape.size[2], shape.size[3])
        enter, leave = intersect(shape.kind, p[0], p[1], p[2], d[0], d[1], d[2], size)
    return leave if enter <= 0.0 < leave else 0.0

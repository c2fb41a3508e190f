"""How far each feeler is free, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

from tactile_sim.feelers.obstacles import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, PLANE, SPHERE
from tactile_sim.feelers.rays import (
    through_ball,
    through_box,
    through_capsule,
    through_cylinder,
    through_ellipsoid,
    through_plane,
)
from tactile_sim.feelers.rays_hfield import first_in_hfield
from tactile_sim.feelers.rays_mesh import first_in_mesh, misses
from tactile_sim.feelers.tree import BEGIN, END, SKIP

BODY = np.dtype(
    [
        ("body", np.int64),
        ("first", np.int64),
        ("last", np.int64),
        ("begin", np.int64),
        ("end", np.int64),
        ("centre", np.float64, 3),
        ("radius", np.float64),
    ],
    align=True,
)
"""A body with feelers: its id, its nodes in the tree of feelers from first to last, what covers it from begin
to end in a list, and the ball around its feelers, in its frame [m]."""

INSIDE = 6
"""Column of a feeler, behind where it is cast from and its unit direction, both in its body's frame: how deep
inside of the body it is cast from [m]."""


@njit(cache=True, error_model="numpy")
def read(
    geom_positions, geom_rotations, body_positions, body_rotations,
    bodies, covering, boxes, links, feelers, order, geoms, meshes, heights, out,
):  # fmt: skip
    """Takes from out (n,), the lengths of all feelers [m], what is covered of them.

    Args:
        geom_positions, geom_rotations, body_positions, body_rotations: as mujoco.MjData has them.
        bodies: (b,) of BODY.
        covering: ids of geoms, body by body.
        boxes, links, order: trees of the feelers, as `tree.Tree`.
        feelers: (n, 7) in the order of the trees.
        geoms, meshes: of `obstacles.tables`.
        heights: of all height fields.
    """
    pose, centre = np.empty((4, 3)), np.empty(3)
    for b in range(len(bodies)):
        body = bodies[b]
        turn, origin = body_rotations[body.body], body_positions[body.body]
        for k in range(3):
            centre[k] = origin[k]
            for i in range(3):
                centre[k] += turn[3 * k + i] * body.centre[i]
        for c in range(body.begin, body.end):
            geom = covering[c]
            shape = geoms[geom]
            if _far(centre, body.radius, shape, geom_positions, geom_rotations, geom):
                continue
            _relate(turn, origin, geom_rotations[geom], geom_positions[geom], pose)
            _cover(pose, body.first, body.last, boxes, links, feelers, order, shape, meshes, heights, out)


@njit(cache=True, error_model="numpy")
def _far(centre, radius, shape, positions, rotations, geom):
    """Whether a geom is away from a ball [m]."""
    x, y, z = (centre[0] - positions[geom, 0], centre[1] - positions[geom, 1], centre[2] - positions[geom, 2])
    if shape.kind == PLANE:
        return x * rotations[geom, 2] + y * rotations[geom, 5] + z * rotations[geom, 8] > radius
    reach = radius + shape.radius
    return x * x + y * y + z * z > reach * reach


@njit(cache=True, error_model="numpy")
def _relate(turn, origin, rotation, position, pose):
    """Writes a geom in a body's frame into pose (4, 3): its axes, one a row, and its origin."""
    for i in range(3):
        pose[3, i] = 0.0
        for k in range(3):
            pose[3, i] += turn[3 * k + i] * (position[k] - origin[k])
        for j in range(3):
            pose[j, i] = 0.0
            for k in range(3):
                pose[j, i] += turn[3 * k + i] * rotation[3 * k + j]


@njit(cache=True, error_model="numpy")
def _cover(pose, node, last, boxes, links, feelers, order, shape, meshes, heights, out):
    """One geom and the feelers of one body."""
    ball = shape.radius * shape.radius
    # As plain numbers: an array made in the loop is counted by whom it is used, at several times the cost.
    size = (shape.size[0], shape.size[1], shape.size[2], shape.size[3])
    table, mesh_boxes, mesh_links, triangles = meshes
    mesh = table[shape.mesh]
    end = shape.first + shape.rows * shape.columns
    ground = heights[shape.first : end].reshape((shape.rows, shape.columns))
    while node < last:
        if _apart(boxes, node, pose, shape):
            node = links[node, SKIP]
            continue
        for f in range(links[node, BEGIN], links[node, END]):
            free, inside = out[order[f]], feelers[f, INSIDE]
            reach = inside + free
            x, y, z = (feelers[f, 0] - pose[3, 0], feelers[f, 1] - pose[3, 1], feelers[f, 2] - pose[3, 2])
            u, v, w = feelers[f, 3], feelers[f, 4], feelers[f, 5]
            if free <= 0.0 or _passes(x, y, z, u, v, w, reach, ball):
                continue
            x, y, z = _turned(pose, x, y, z)
            u, v, w = _turned(pose, u, v, w)
            if shape.kind == HFIELD:
                met = first_in_hfield(x, y, z, u, v, w, size, ground, reach)
            elif shape.kind > BOX:
                if misses(mesh_boxes, mesh.first, x, y, z, u, v, w, reach):
                    continue
                met = first_in_mesh(
                    x, y, z, u, v, w, mesh.first, mesh.last, mesh.closed,
                    mesh_boxes, mesh_links, triangles, reach,
                )  # fmt: skip
            else:
                enter, leave = through(shape.kind, x, y, z, u, v, w, size)
                met = max(enter, 0.0) if leave > 0.0 else np.inf
            if met < reach:
                out[order[f]] = max(met - inside, 0.0)
        node += 1


@njit(cache=True, error_model="numpy")
def _passes(x, y, z, u, v, w, reach, ball):
    """Whether a ray is nowhere in a ball about the origin, whose squared radius is given."""
    along = min(max(-(x * u + y * v + z * w), 0.0), reach)
    x, y, z = x + along * u, y + along * v, z + along * w
    return x * x + y * y + z * z > ball


@njit(cache=True, error_model="numpy")
def _turned(pose, x, y, z):
    """A vector of the body's frame, in the geom's."""
    return (
        x * pose[0, 0] + y * pose[0, 1] + z * pose[0, 2],
        x * pose[1, 0] + y * pose[1, 1] + z * pose[1, 2],
        x * pose[2, 0] + y * pose[2, 1] + z * pose[2, 2],
    )


@njit(cache=True, error_model="numpy")
def _apart(boxes, node, pose, shape):
    """Whether a box of the body's frame and a geom's box are apart along an axis of the geom."""
    p, q, r = boxes[node, 3], boxes[node, 4], boxes[node, 5]
    x, y, z = (boxes[node, 0] - pose[3, 0], boxes[node, 1] - pose[3, 1], boxes[node, 2] - pose[3, 2])
    if shape.kind == PLANE:
        extent = abs(pose[2, 0]) * p + abs(pose[2, 1]) * q + abs(pose[2, 2]) * r
        return x * pose[2, 0] + y * pose[2, 1] + z * pose[2, 2] > extent
    for j in range(3):
        away = abs(x * pose[j, 0] + y * pose[j, 1] + z * pose[j, 2] - shape.centre[j])
        if away > abs(pose[j, 0]) * p + abs(pose[j, 1]) * q + abs(pose[j, 2]) * r + shape.half[j]:
            return True
    return False


@njit(cache=True, error_model="numpy")
def through(kind, x, y, z, u, v, w, size):
    """Where a line runs through a solid of this kind, as the functions of `rays`."""
    if kind == PLANE:
        return through_plane(x, y, z, u, v, w)
    if kind == SPHERE:
        return through_ball(x, y, z, u, v, w, size[0])
    if kind == CAPSULE:
        return through_capsule(x, y, z, u, v, w, size)
    if kind == ELLIPSOID:
        return through_ellipsoid(x, y, z, u, v, w, size)
    if kind == CYLINDER:
        return through_cylinder(x, y, z, u, v, w, size)
    return through_box(x, y, z, u, v, w, size)


@njit(cache=True, error_model="numpy")
def place_in_world(positions, normals, offsets, body_ids, body_positions, body_rotations, starts, directions):
    """Writes where feelers stand and where they point, in the world, into starts and directions (n, 3)."""
    for b in range(len(body_ids)):
        turn, origin = body_rotations[body_ids[b]], body_positions[body_ids[b]]
        for f in range(offsets[b], offsets[b + 1]):
            for k in range(3):
                starts[f, k], directions[f, k] = origin[k], 0.0
                for i in range(3):
                    starts[f, k] += turn[k, i] * positions[f, i]
                    directions[f, k] += turn[k, i] * normals[f, i]

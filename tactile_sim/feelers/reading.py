"""Compiled kernels that compute the free length of each feeler."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.feelers.obstacles import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, PLANE, SPHERE
from tactile_sim.geometry.rays.hfield import hit_hfield
from tactile_sim.geometry.rays.mesh import hit_mesh, misses_box
from tactile_sim.geometry.rays.primitives import (
    intersect_box,
    intersect_capsule,
    intersect_cylinder,
    intersect_ellipsoid,
    intersect_plane,
    intersect_sphere,
)
from tactile_sim.geometry.rays.tree import BEGIN, END, SKIP

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
"""A body with feelers.

``body`` is its id. [``first``, ``last``) are its nodes in the joined feeler trees, and [``begin``, ``end``)
are its obstacles in the list of geom ids. ``centre`` and ``radius`` describe the bounding sphere of its
feelers in the body frame [m].
"""

INSIDE = 6
"""Column of the argument ``feelers`` of `read`: depth inside the body at which a feeler's ray starts [m].

Columns 0 to 2 contain the start of the ray [m], and columns 3 to 5 its unit direction, in the body frame.
"""


@kernel(error_model="numpy")
def read(
    geom_positions, geom_rotations, body_positions, body_rotations,
    bodies, covering, boxes, links, feelers, order, geoms, meshes, heights, out,
):  # fmt: skip
    """Shorten the lengths of all feelers to their free lengths.

    Args:
        geom_positions: (ngeom, 3) positions of geoms in the world, as in mujoco.MjData [m].
        geom_rotations: (ngeom, 9) rotations from geom frames to the world.
        body_positions: (nbody, 3) positions of bodies in the world [m].
        body_rotations: (nbody, 9) rotations from body frames to the world.
        bodies: (b,) rows of `BODY`.
        covering: Ids of the geoms that are obstacles for each body, concatenated over the bodies.
        boxes: Bounding boxes in the feeler trees, see `tree.Tree`.
        links: Links in the feeler trees, see `tree.Tree`.
        feelers: (n, 7) rays of the feelers in tree order, see `INSIDE`.
        order: Feeler indices in tree order, see `tree.Tree`.
        geoms: Table of geoms from `obstacles.tables`.
        meshes: Table of meshes from `obstacles.tables`.
        heights: Elevations of all height fields, as fractions of their heights.
        out: (n,) full lengths [m]; overwritten with the free lengths.
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
            _relative_pose(turn, origin, geom_rotations[geom], geom_positions[geom], pose)
            _cover(pose, body.first, body.last, boxes, links, feelers, order, shape, meshes, heights, out)


@kernel(error_model="numpy")
def _far(centre, radius, shape, positions, rotations, geom):
    """Return whether a geom is certainly too far from a sphere to touch it.

    Planes are tested exactly, all other geoms by their bounding sphere. ``centre`` (3,) and ``radius``
    describe the sphere in the world [m]. ``shape`` is the geom's row of `GEOM`, and ``geom`` is its id.
    ``positions`` and ``rotations`` are the poses of all geoms in the world.
    """
    x, y, z = (centre[0] - positions[geom, 0], centre[1] - positions[geom, 1], centre[2] - positions[geom, 2])
    if shape.kind == PLANE:
        return x * rotations[geom, 2] + y * rotations[geom, 5] + z * rotations[geom, 8] > radius
    reach = radius + shape.radius
    return x * x + y * y + z * z > reach * reach


@kernel(error_model="numpy")
def _relative_pose(turn, origin, rotation, position, pose):
    """Write the axes of a geom (three rows) and its origin [m] in the body frame to ``pose`` (4, 3).

    ``turn`` (9,) and ``origin`` (3,) are the pose of the body in the world, and ``rotation`` (9,) and
    ``position`` (3,) are the pose of the geom.
    """
    for i in range(3):
        pose[3, i] = 0.0
        for k in range(3):
            pose[3, i] += turn[3 * k + i] * (position[k] - origin[k])
        for j in range(3):
            pose[j, i] = 0.0
            for k in range(3):
                pose[j, i] += turn[3 * k + i] * rotation[3 * k + j]


@kernel(error_model="numpy")
def _cover(pose, node, last, boxes, links, feelers, order, shape, meshes, heights, out):
    """Shorten the free lengths of one body's feelers where one geom covers them.

    ``pose`` is the result of `_relative_pose`, [node, last) are the body's nodes in the feeler trees, and
    ``shape`` is the geom's row of `GEOM`. The other arguments are those of `read`.
    """
    ball = shape.radius * shape.radius
    # A tuple of numbers, because reference counting of an array takes longer than the rest of the loop.
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
            if free <= 0.0 or _misses_sphere(x, y, z, u, v, w, reach, ball):
                continue
            x, y, z = _to_geom(pose, x, y, z)
            u, v, w = _to_geom(pose, u, v, w)
            if shape.kind == HFIELD:
                distance = hit_hfield(x, y, z, u, v, w, size, ground, reach)
            elif shape.kind > BOX:
                if misses_box(mesh_boxes, mesh.first, x, y, z, u, v, w, reach):
                    continue
                distance = hit_mesh(
                    x, y, z, u, v, w, mesh.first, mesh.last, mesh.closed,
                    mesh_boxes, mesh_links, triangles, reach,
                )  # fmt: skip
            else:
                enter, leave = intersect(shape.kind, x, y, z, u, v, w, size)
                distance = max(enter, 0.0) if leave > 0.0 else np.inf
            if distance < reach:
                out[order[f]] = max(distance - inside, 0.0)
        node += 1


@kernel(error_model="numpy")
def _misses_sphere(x, y, z, u, v, w, reach, ball):
    """Return whether a ray misses a sphere around the origin with squared radius ``ball`` [m2].

    The ray starts at (x, y, z) [m], has the unit direction (u, v, w) and the length ``reach`` [m].
    """
    along = min(max(-(x * u + y * v + z * w), 0.0), reach)
    x, y, z = x + along * u, y + along * v, z + along * w
    return x * x + y * y + z * z > ball


@kernel(error_model="numpy")
def _to_geom(pose, x, y, z):
    """Rotate the vector (x, y, z) from the body's frame to the geom's frame."""
    return (
        x * pose[0, 0] + y * pose[0, 1] + z * pose[0, 2],
        x * pose[1, 0] + y * pose[1, 1] + z * pose[1, 2],
        x * pose[2, 0] + y * pose[2, 1] + z * pose[2, 2],
    )


@kernel(error_model="numpy")
def _apart(boxes, node, pose, shape):
    """Return whether the bounding boxes of a geom and of a node in a feeler tree are separate.

    Only the axes of the geom are tested, so the result may be False although the boxes do not touch.
    """
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


@kernel(error_model="numpy")
def intersect(kind, x, y, z, u, v, w, size):
    """Return the distances [m] at which a line enters and leaves a plane or primitive, or `MISS`.

    The line passes through (x, y, z) [m] with the unit direction (u, v, w), in the geom's frame. ``kind`` is
    PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER or BOX, and ``size`` is as in MuJoCo's geom_size [m].
    """
    if kind == PLANE:
        return intersect_plane(x, y, z, u, v, w)
    if kind == SPHERE:
        return intersect_sphere(x, y, z, u, v, w, size[0])
    if kind == CAPSULE:
        return intersect_capsule(x, y, z, u, v, w, size)
    if kind == ELLIPSOID:
        return intersect_ellipsoid(x, y, z, u, v, w, size)
    if kind == CYLINDER:
        return intersect_cylinder(x, y, z, u, v, w, size)
    return intersect_box(x, y, z, u, v, w, size)


@kernel(error_model="numpy")
def to_world(positions, normals, offsets, body_ids, body_positions, body_rotations, starts, directions):
    """Transform the roots and normals of feelers from body frames to the world frame.

    Args:
        positions: (n, 3) roots in body frames [m].
        normals: (n, 3) normals in body frames.
        offsets: (b + 1,) index of each body's first feeler, followed by the total number of feelers.
        body_ids: (b,) ids of the bodies.
        body_positions: (nbody, 3) positions of bodies in the world [m].
        body_rotations: (nbody, 3, 3) rotations from body frames to the world.
        starts: (n, 3) output array for the roots in the world [m].
        directions: (n, 3) output array for the unit directions in the world.
    """
    for b in range(len(body_ids)):
        turn, origin = body_rotations[body_ids[b]], body_positions[body_ids[b]]
        for f in range(offsets[b], offsets[b + 1]):
            for k in range(3):
                starts[f, k], directions[f, k] = origin[k], 0.0
                for i in range(3):
                    starts[f, k] += turn[k, i] * positions[f, i]
                    directions[f, k] += turn[k, i] * normals[f, i]

"""Measure the gaps from points of a skin to another body, along the mean contact normal."""

import warp as wp
from warp import float64 as real

from tactile_sim.batch.warp_backend.elastic import constants
from tactile_sim.batch.warp_backend.elastic.arrays import Layer
from tactile_sim.batch.warp_backend.elastic.solids import enter_box, enter_round, surface_below
from tactile_sim.geometry import solids


@wp.struct
class Face:
    """Level face of the other body, in the frame of a `Pair`."""

    exists: bool
    start_a: real
    start_b: real
    a: wp.vec3d
    b: wp.vec3d
    half_a: real
    half_b: real


@wp.func
def gap_at(layer: Layer, lane: int, geoms: int, x: real, y: real, z: real):
    """Return the gap from a point of the skin to the touching geoms of the other body [m].

    x, y and z are the coordinates of the point in the frame of the pair. The gap is measured along the -z
    axis of this frame, and is infinite if no geom is in that direction. ``geoms`` is the number of touching
    geoms.
    """
    gap, has_mesh = real(wp.inf), bool(False)
    for g in range(geoms):
        pose = layer.poses[g, lane]
        solid = layer.solids[pose.geom]
        kind, r = solid.kind, pose.rotation
        p = wp.vec3d(x, y, z) - pose.position
        here = real(wp.inf)
        if kind == wp.static(solids.MESH):
            has_mesh = True
        elif kind == wp.static(solids.SPHERE):
            root = solid.size[0] * solid.size[0] - p[0] * p[0] - p[1] * p[1]
            if root >= real(0.0):
                half = wp.sqrt(root)
                if p[2] + half >= real(0.0):
                    here = p[2] - half
        elif kind == wp.static(solids.PLANE):
            if r[2, 2] > real(wp.static(constants.PARALLEL)):
                here = p[2] + (r[0, 2] * p[0] + r[1, 2] * p[1]) / r[2, 2]
            elif r[2, 2] >= real(0.0) and wp.dot(wp.transpose(r)[2], p) < real(0.0):
                here = real(-wp.inf)
        else:
            local, down = wp.transpose(r) * p, -r[2]
            if kind == wp.static(solids.BOX):
                here = enter_box(solid.size, local, down)
            else:
                here = enter_round(kind, solid.size, local, down)
        gap = wp.min(gap, here)
    if has_mesh:
        gap = wp.min(gap, z - surface_below(layer, lane, geoms, x, y, z))
    return gap


@wp.func
def write_gaps(layer: Layer, lane: int, geoms: int, first: int, last: int):
    """Compute the gaps at the taxels with indices [first, last) in ``Layer.near``, as in `gap_at` [m].

    The gaps are written to row 3 of ``Layer.near``.
    """
    for e in range(first, last):
        x, y, z = layer.near[0, e, lane], layer.near[1, e, lane], layer.near[2, e, lane]
        layer.near[3, e, lane] = gap_at(layer, lane, geoms, x, y, z)


@wp.func
def level_face(layer: Layer, lane: int, geoms: int):
    """Return the `Face` of the other body that is perpendicular to the pair's normal.

    If the body has no such face, the field ``exists`` is False. Only a plane or a box has one, and only if it
    is the single geom of the body that touches the skin (``geoms`` is 1).
    """
    face = Face()
    pose = layer.poses[0, lane]
    solid = layer.solids[pose.geom]
    if geoms != 1:
        return face
    upright = real(wp.static(constants.UPRIGHT))
    if solid.kind == wp.static(solids.PLANE) and pose.rotation[2, 2] > upright:
        face.exists = True
        face.half_a = real(wp.inf)
        face.half_b = real(wp.inf)
    if solid.kind == wp.static(solids.BOX):
        side = int(-1)
        for i in range(3):
            if wp.abs(pose.rotation[2, i]) > upright:
                side = i
        if side >= 0:
            columns = wp.transpose(pose.rotation)
            i, j = (side + 1) % 3, (side + 2) % 3
            face.exists = True
            face.a = columns[i]
            face.b = columns[j]
            face.start_a = -wp.dot(face.a, pose.position)
            face.start_b = -wp.dot(face.b, pose.position)
            face.half_a = solid.size[i]
            face.half_b = solid.size[j]
    return face

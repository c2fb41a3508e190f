"""Compute where lines enter solids and triangle meshes; see `tactile_sim.geometry.solids`."""

import warp as wp
from warp import float64 as real

from tactile_sim.batch.warp_backend.elastic import constants
from tactile_sim.batch.warp_backend.elastic.arrays import Layer, Node, Pose, Solid
from tactile_sim.geometry import solids


@wp.func
def ordered(first: real, last: real):
    """Return the parameter t at which a line p + t d enters a solid.

    ``first`` and ``last`` are the ends of the interval of t in which the line is in the solid. The result is
    infinite if the interval is empty or ends before t = 0.
    """
    if first <= last and last >= real(0.0):
        return first
    return real(wp.inf)


@wp.func
def crossing(a: real, b: real, c: real):
    """Return the interval of t in which a t^2 + 2 b t + c is negative; (inf, -inf) if it is empty."""
    if a < real(wp.static(constants.PARALLEL)):
        if c <= real(0.0):
            return wp.vec2d(real(-wp.inf), real(wp.inf))
        return wp.vec2d(real(wp.inf), real(-wp.inf))
    root = b * b - a * c
    if root < real(0.0):
        return wp.vec2d(real(wp.inf), real(-wp.inf))
    root = wp.sqrt(root)
    return wp.vec2d((-b - root) / a, (-b + root) / a)


@wp.func
def slab(p: real, d: real, half: real):
    """Return the interval of t in which the coordinate p + t d is between -half and half."""
    if wp.abs(d) <= real(wp.static(constants.PARALLEL)):
        if wp.abs(p) <= half:
            return wp.vec2d(real(-wp.inf), real(wp.inf))
        return wp.vec2d(real(wp.inf), real(-wp.inf))
    inverse = real(1.0) / d
    middle, reach = -p * inverse, half * wp.abs(inverse)
    return wp.vec2d(middle - reach, middle + reach)


@wp.func
def ball(p: wp.vec3d, d: wp.vec3d, radius: real):
    """Return the interval of t in which p + t d is in a sphere about the origin."""
    return crossing(real(1.0), wp.dot(p, d), wp.dot(p, p) - radius * radius)


@wp.func
def enter_round(kind: int, size: wp.vec3d, p: wp.vec3d, d: wp.vec3d):
    """Return the t at which the line p + t d enters an ellipsoid, cylinder or capsule; see `ordered`.

    ``kind`` and ``size`` are MuJoCo's type and size of the geom. p and d are in its frame.
    """
    if kind == wp.static(solids.ELLIPSOID):
        q, e = wp.cw_div(p, size), wp.cw_div(d, size)
        inside = crossing(wp.dot(e, e), wp.dot(q, e), wp.dot(q, q) - real(1.0))
        return ordered(inside[0], inside[1])
    a, b = size[0], size[1]
    tube = crossing(d[0] * d[0] + d[1] * d[1], p[0] * d[0] + p[1] * d[1], p[0] * p[0] + p[1] * p[1] - a * a)
    first, last = real(tube[0]), real(tube[1])
    if kind == wp.static(solids.CYLINDER):
        between = slab(p[2], d[2], b)
        return ordered(wp.max(first, between[0]), wp.min(last, between[1]))
    if not wp.abs(p[2] + first * d[2]) <= b:
        first = real(wp.inf)
    if not wp.abs(p[2] + last * d[2]) <= b:
        last = real(-wp.inf)
    shift = wp.vec3d(real(0.0), real(0.0), b)
    lower, upper = ball(p + shift, d, a), ball(p - shift, d, a)
    return ordered(wp.min(first, wp.min(lower[0], upper[0])), wp.max(last, wp.max(lower[1], upper[1])))


@wp.func
def enter_box(size: wp.vec3d, p: wp.vec3d, d: wp.vec3d):
    """Return the t at which the line p + t d enters a box with half-sizes ``size``; see `ordered`."""
    x, y, z = slab(p[0], d[0], size[0]), slab(p[1], d[1], size[1]), slab(p[2], d[2], size[2])
    return ordered(wp.max(wp.max(x[0], y[0]), z[0]), wp.min(wp.min(x[1], y[1]), z[1]))


@wp.func
def is_apart(low: wp.vec3d, high: wp.vec3d, center: wp.vec3d, half: wp.vec3d):
    """Return whether the box from low to high and the box with a center and half-sizes are apart."""
    apart = bool(False)
    for i in range(3):
        apart = apart or low[i] > center[i] + half[i] or high[i] < center[i] - half[i]
    return apart


@wp.func
def misses(node: Node, p: wp.vec3d, d: wp.vec3d):
    """Return whether a line through p along d misses the box of a node, by the separating axis theorem."""
    m, h = p - node.center, node.half
    u = wp.vec3d(wp.abs(d[0]), wp.abs(d[1]), wp.abs(d[2]))
    missing = wp.abs(m[1] * d[2] - m[2] * d[1]) > h[1] * u[2] + h[2] * u[1]
    missing = missing or wp.abs(m[2] * d[0] - m[0] * d[2]) > h[2] * u[0] + h[0] * u[2]
    return missing or wp.abs(m[0] * d[1] - m[1] * d[0]) > h[0] * u[1] + h[1] * u[0]


@wp.func
def crossing_of_mesh(layer: Layer, solid: Solid, pose: Pose, x: real, y: real, top: real, best: wp.vec2d):
    """Search a mesh for crossings with the line through (x, y) along z, up to the height ``top``.

    ``best`` is the highest crossing with the meshes that were searched earlier: its height, and the number of
    triangles that face up at this crossing minus the number that face down. Triangles outside the box of the
    pose are ignored. x, y and the heights are in the frame of the pair.

    Returns:
        The highest crossing with this and the earlier meshes, as in ``best``.
    """
    height, up, same = best[0], best[1], real(wp.static(constants.SAME))
    line = wp.transpose(pose.rotation) * (wp.vec3d(x, y, real(0.0)) - pose.position)
    direction = pose.rotation[2]
    n = int(solid.nodes[0])
    while n < solid.nodes[1]:
        node = layer.mesh_nodes[n]
        if is_apart(node.center - node.half, node.center + node.half, pose.center, pose.half) or misses(
            node, line, direction
        ):
            n = node.skip
            continue
        n += 1
        for f in range(node.first, node.last):
            p, q, r = layer.corners[f, 0], layer.corners[f, 1], layer.corners[f, 2]
            if is_apart(wp.min(p, wp.min(q, r)), wp.max(p, wp.max(q, r)), pose.center, pose.half):
                continue
            a, u, v = pose.rotation * p, pose.rotation * (q - p), pose.rotation * (r - p)
            w = wp.vec3d(x, y, real(0.0)) - pose.position - a
            area = u[0] * v[1] - u[1] * v[0]
            if area != real(0.0):
                along = (w[0] * v[1] - w[1] * v[0]) / area
                across = (w[1] * u[0] - w[0] * u[1]) / area
                least, both = real(wp.static(-constants.EDGE)), along + across
                if along >= least and across >= least and both <= real(wp.static(1.0 + constants.EDGE)):
                    z = a[2] + pose.position[2] + along * u[2] + across * v[2]
                    if height - same <= z and z <= top:
                        facing = wp.sign(area)
                        up = wp.where(z > height + same, facing, up + facing)
                        height = wp.max(height, z)
    return wp.vec2d(height, up)


@wp.func
def surface_below(layer: Layer, lane: int, geoms: int, x: real, y: real, z: real):
    """Return the height of the mesh on which the point (x, y, z) presses [m]; -inf if there is none."""
    inside, surface, height, up = int(0), real(wp.inf), real(wp.inf), real(0.0)
    done, odd = bool(False), bool(False)
    while not done:
        top, next = height - real(wp.static(constants.SAME)), wp.vec2d(real(-wp.inf), real(0.0))
        for g in range(geoms):
            pose = layer.poses[g, lane]
            solid = layer.solids[pose.geom]
            if solid.kind == wp.static(solids.MESH):
                next = crossing_of_mesh(layer, solid, pose, x, y, top, next)
        height = next[0]
        up = next[1]
        if height < z or height == real(-wp.inf):
            done = True
        elif up != real(0.0):
            odd = not odd
            if inside == 0:
                surface = real(height)
            inside = wp.max(inside + int(wp.sign(up)), 0)
    if inside > 0 or odd:
        return surface
    return height

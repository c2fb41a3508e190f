"""Surfaces that touch, for the Warp kernels of `elastic_foundation`: pairs, solids, gaps and nearby taxels.

The method is that of core/src/elastic.cpp. Everything is computed in float64, because indentations of
micrometers are small differences of large distances. ``lane`` is the index of the thread, which selects its
working memory in the arrays of `Layer`.
"""

import warp as wp
from warp import float64 as real

from tactile_sim.batch.warp.contacts import BODIES, DISTANCE, FRAME, GEOMS, POSITION, WRENCH_WORLD, vector_at
from tactile_sim.batch.warp.elastic_arrays import Cell, Layer, Load, Node, Pose, Solid
from tactile_sim.batch.warp.taxels import Geom, Taxels, find_nearest
from tactile_sim.batch.warp.taxels import Load as Point
from tactile_sim.geometry import solids

# The values are those of core/src.
APART = 0.7
"""Contacts with the same body are in separate pairs if the cosine between their normals is below this."""
FACING = 0.2
"""Minimum cosine between a point's outward normal and the direction to the other surface."""
UPRIGHT = 0.999
"""A face is level if the cosine between its normal and the pair's normal is above this."""
EDGE = 1e-12
"""Tolerance of barycentric coordinates, so that a line through a shared edge hits at least one triangle."""
SAME = 1e-7
"""Crossings of a line with triangles count as one if their heights differ by at most this [m]."""
PARALLEL = 1e-12
"""A line is parallel to a plane if its direction's absolute component along the normal is below this."""
MISSED = 1e300
"""Gap of a taxel if the line from the taxel along the pair's normal misses the other body [m]."""
GUESS = 3.0
"""Depth of the first search for pressed points, relative to the depth estimated without a tilt."""
MOST_CUTS = 20
"""Maximum number of iterations of the depth estimate. Each iteration leaves out the taxels that are not
pressed at the previously estimated depth."""


@wp.struct
class Pair:
    """Combined contacts of a patch with one other body.

    ``origin`` [m] and ``axes`` give the frame of the pair in the frame of the body with the patch; the rows
    of ``axes`` are two tangents and the mean normal. ``force`` [N] and ``moment`` about the origin [N m] are
    expressed in the frame of the pair.
    """

    first: int
    number: int
    loads: int
    """Number of loads on the patch."""
    patch: int
    base: int
    """First taxel of the patch."""
    spacing: real
    other_patch: int
    """Patch of the other body, or -1 if it has no skin."""
    origin: wp.vec3d
    axes: wp.mat33d
    force: wp.vec3d
    moment: wp.vec3d


@wp.func
def doubled(values: wp.array3d[float], env: int, slot: int, column: int):
    """Return the values of a contact in ``column`` and the next two columns as a float64 vector."""
    return wp.vec3d(vector_at(values, env, slot, column))


@wp.func
def load_at(
    env: int,
    slot: int,
    side: int,
    values: wp.array3d[float],
    ids: wp.array3d[int],
    xpos: wp.array2d[wp.vec3],
    xmat: wp.array2d[wp.mat33],
    geoms: wp.array[Geom],
    layer: Layer,
):
    """Return the load of a contact on the skin of one of its two geoms, in the frame of that geom's body.

    ``slot`` is the index of the contact in the environment, and ``side`` is 0 for the first geom or 1 for the
    second.
    """
    other = ids[env, slot, wp.static(GEOMS) + 1 - side]
    here = ids[env, slot, wp.static(BODIES) + side]
    there = ids[env, slot, wp.static(BODIES) + 1 - side]
    sign = wp.where(side == 1, real(1.0), real(-1.0))
    to_body = wp.transpose(wp.mat33d(xmat[env, here]))
    origin = wp.vec3d(xpos[env, here])
    normal = doubled(values, env, slot, wp.static(FRAME))
    half = real(0.5) * real(values[env, slot, wp.static(DISTANCE)]) * sign
    load = Load()
    load.contact = 2 * slot + side
    load.group = -1
    load.other = other
    load.other_body = there
    load.other_patch = geoms[other].patch
    load.point = to_body * (doubled(values, env, slot, wp.static(POSITION)) + half * normal - origin)
    load.normal = sign * (to_body * normal)
    load.force = sign * (to_body * doubled(values, env, slot, wp.static(WRENCH_WORLD)))
    load.torque = sign * (to_body * doubled(values, env, slot, wp.static(WRENCH_WORLD) + 3))
    load.torque += wp.cross(-half * sign * load.normal, load.force)
    solid, turn = layer.solids[other], wp.mat33d(xmat[env, there])
    load.other_position = to_body * (wp.vec3d(xpos[env, there]) + turn * solid.position - origin)
    load.other_rotation = to_body * (turn * solid.rotation)
    return load


@wp.func
def group_loads(layer: Layer, lane: int, count: int):
    """Set each load's ``group`` to the number of its pair, or to -1 if it pulls; return how many pairs exist.

    Loads from the same body with similar normals belong to the same pair. ``count`` is the number of loads.
    """
    number = int(0)
    for m in range(count):
        load = layer.loads[m, lane]
        push = wp.dot(load.force, load.normal)
        load.group = -1
        if push > real(0.0) and push < real(wp.inf):
            for k in range(m):
                other = layer.loads[k, lane]
                if load.group < 0 and other.group >= 0 and other.other_body == load.other_body:
                    if wp.dot(other.normal, load.normal) > real(wp.static(APART)):
                        load.group = other.group
            if load.group < 0:
                load.group = number
                number += 1
        layer.loads[m, lane] = load
    return number


@wp.func
def net_load(layer: Layer, lane: int, number: int, count: int, patch: int, base: int, spacing: real):
    """Combine the loads between a pair of surfaces into a `Pair`.

    ``number``: Number of the pair.
    ``base``: First taxel of the patch.
    ``spacing``: Distance between neighboring taxels of the patch [m].
    """
    pair = Pair()
    pair.first = int(-1)
    pair.number = number
    pair.loads = count
    pair.patch = patch
    pair.base = base
    pair.spacing = spacing
    total, normal = real(0.0), wp.vec3d()
    for m in range(count):
        load = layer.loads[m, lane]
        if load.group == number:
            if pair.first < 0:
                pair.first = m
                pair.other_patch = load.other_patch
            push = wp.dot(load.force, load.normal)
            total += push
            pair.origin += push * load.point
            normal += push * load.normal
    pair.origin = pair.origin / total
    normal = normal / wp.sqrt(wp.dot(normal, normal))
    # A tangent: the axis that is farthest from the normal, made orthogonal to it.
    a, b, c = wp.abs(normal[0]), wp.abs(normal[1]), wp.abs(normal[2])
    axis = wp.vec3d(real(0.0), real(0.0), real(1.0))
    if a <= b and a <= c:
        axis = wp.vec3d(real(1.0), real(0.0), real(0.0))
    elif b < a and b <= c:
        axis = wp.vec3d(real(0.0), real(1.0), real(0.0))
    tangent = axis - wp.dot(axis, normal) * normal
    tangent = tangent / wp.sqrt(wp.dot(tangent, tangent))
    pair.axes = wp.matrix_from_rows(tangent, wp.cross(normal, tangent), normal)
    force, moment = wp.vec3d(), wp.vec3d()
    for m in range(count):
        load = layer.loads[m, lane]
        if load.group == number:
            force += load.force
            moment += load.torque + wp.cross(load.point - pair.origin, load.force)
    pair.force = pair.axes * force
    pair.moment = pair.axes * moment
    return pair


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
    if a < real(wp.static(PARALLEL)):
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
    if wp.abs(d) <= real(wp.static(PARALLEL)):
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
    height, up, same = best[0], best[1], real(wp.static(SAME))
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
                least, both = real(wp.static(-EDGE)), along + across
                if along >= least and across >= least and both <= real(wp.static(1.0 + EDGE)):
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
        top, next = height - real(wp.static(SAME)), wp.vec2d(real(-wp.inf), real(0.0))
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
            if r[2, 2] > real(wp.static(PARALLEL)):
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
    upright = real(wp.static(UPRIGHT))
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


@wp.struct
class Nearby:
    """Summary of the taxels that are near another body."""

    found: int
    measured: int
    geoms: int
    is_round: bool
    has_mesh: bool
    within: real
    least: real
    depth: real


@wp.func
def cosine_of(normal: wp.vec3d, pair: Pair):
    """Return the cosine of the angle between an outward normal and the direction to the other surface."""
    return -wp.dot(normal, pair.axes[2])


@wp.func
def take(layer: Layer, lane: int, pair: Pair, t: int, cell: Cell, count: int):
    """Write a taxel that is near the other body to index ``count`` of ``Layer.near`` and ``Layer.taxel``.

    The taxel ``cell`` is the element ``t`` of ``Layer.cells``. Its gap is not measured.
    """
    at = pair.axes * (cell.position - pair.origin)
    for i in range(3):
        layer.near[i, count, lane] = at[i]
    layer.near[4, count, lane] = cosine_of(cell.normal, pair)
    layer.near[5, count, lane] = cell.area
    layer.near[6, count, lane] = cell.margin
    layer.taxel[count, lane] = t


@wp.func
def touching(layer: Layer, lane: int, pair: Pair, taxels: Taxels):
    """Write the poses of the touching geoms, and append the taxels nearest to the contacts.

    Returns:
        The `Nearby` with these geoms (in ``Layer.poses``) and taxels; gaps are not measured yet.
    """
    near = Nearby()
    near.is_round = True
    near.least = real(wp.inf)
    near.depth = real(wp.inf)
    for m in range(pair.first, pair.loads):
        load = layer.loads[m, lane]
        if load.group != pair.number:
            continue
        known = bool(False)
        for g in range(near.geoms):
            known = known or layer.poses[g, lane].geom == load.other
        if not known:
            pose, kind = Pose(), layer.solids[load.other].kind
            pose.geom = load.other
            pose.load = m
            pose.position = pair.axes * (load.other_position - pair.origin)
            pose.rotation = pair.axes * load.other_rotation
            layer.poses[near.geoms, lane] = pose
            near.geoms += 1
            is_mesh = kind == wp.static(solids.MESH)
            near.has_mesh = near.has_mesh or is_mesh
            angular = is_mesh or kind == wp.static(solids.BOX) or kind == wp.static(solids.CYLINDER)
            near.is_round = near.is_round and not angular
        point = Point()
        point.point = wp.vec3(load.point)
        point.normal = wp.vec3(load.normal)
        t = layer.place[find_nearest(point, taxels.patches[pair.patch], taxels)]
        if layer.gap[t - pair.base, lane] == real(wp.inf):
            take(layer, lane, pair, t, layer.cells[t], near.found)
            layer.gap[t - pair.base, lane] = real(0.0)
            near.found += 1
    return near


@wp.func
def taxels_around(layer: Layer, lane: int, pair: Pair, geom: int, reach: real, count: int):
    """Append the taxels of a patch that are near a touching geom and face it; return the new count.

    ``geom`` is the index of the geom in ``Layer.poses``, ``reach`` is the maximum distance of the taxels from
    the geom [m], and ``count`` is the number of taxels in ``Layer.near`` before the call.
    """
    pose = layer.poses[geom, lane]
    load, solid = layer.loads[pose.load, lane], layer.solids[pose.geom]
    rotation, position = load.other_rotation, load.other_position
    is_plane, is_ball = solid.kind == wp.static(solids.PLANE), solid.kind == wp.static(solids.SPHERE)
    farthest = (solid.size[0] + reach) * (solid.size[0] + reach)
    up = wp.transpose(rotation)[2]
    limit = wp.dot(up, position) + reach
    # The bounding box of the solid in the frame of the body, enlarged by the reach.
    center = position + rotation * solid.center
    half = wp.vec3d(reach, reach, reach)
    for i in range(3):
        for k in range(3):
            half[i] += wp.abs(rotation[i, k]) * solid.half[k]
    n = int(layer.roots[pair.patch])
    while n < layer.roots[pair.patch + 1]:
        node = layer.nodes[n]
        beyond = bool(False)
        if is_plane:
            extent = real(0.0)
            for i in range(3):
                extent += wp.abs(up[i]) * node.half[i]
            beyond = wp.dot(up, node.center) - extent > limit
        else:
            for i in range(3):
                beyond = beyond or wp.abs(node.center[i] - center[i]) > node.half[i] + half[i]
        if beyond:
            n = node.skip
            continue
        for t in range(node.first, node.last):
            cell = layer.cells[t]
            inside = bool(True)
            if is_plane:
                inside = wp.dot(up, cell.position) <= limit
            elif is_ball:
                away = cell.position - position
                inside = wp.dot(away, away) <= farthest
            facing = cosine_of(cell.normal, pair) > real(wp.static(FACING))
            facing = facing or wp.dot(cell.normal, cell.normal) == real(0.0)
            if inside and facing and layer.gap[t - pair.base, lane] == real(wp.inf):
                take(layer, lane, pair, t, cell, count)
                layer.gap[t - pair.base, lane] = real(0.0)
                count += 1
        n += 1
    return count


@wp.func
def search(layer: Layer, lane: int, pair: Pair, near: Nearby, within: real):
    """Append the taxels within a distance [m] of the touching geoms to ``Layer.near``.

    Returns:
        The updated `Nearby`.
    """
    near.within = within
    for g in range(near.geoms):
        near.found = taxels_around(layer, lane, pair, g, within, near.found)
    return near


@wp.func
def bound_triangles(layer: Layer, lane: int, near: Nearby, reach: real):
    """Set the boxes in ``Layer.poses`` that select which triangles of meshes are tested.

    Each box is aligned with its geom. It encloses the nearby taxels with a margin of ``reach`` [m], and
    extends to the top of the highest touching geom.
    """
    low = wp.vec3d(real(wp.inf), real(wp.inf), real(wp.inf))
    high = -low
    for e in range(near.found):
        at = wp.vec3d(layer.near[0, e, lane], layer.near[1, e, lane], layer.near[2, e, lane])
        low, high = wp.min(low, at), wp.max(high, at)
    for g in range(near.geoms):
        pose = layer.poses[g, lane]
        solid = layer.solids[pose.geom]
        top = pose.position[2] + (pose.rotation * solid.center)[2] + real(wp.static(SAME))
        for i in range(3):
            top += wp.abs(pose.rotation[2, i]) * solid.half[i]
        high[2] = wp.max(high[2], top)
    for g in range(near.geoms):
        pose = layer.poses[g, lane]
        pose.center = wp.transpose(pose.rotation) * (real(0.5) * (low + high) - pose.position)
        size = wp.vec3d()
        for i in range(3):
            for k in range(3):
                size[i] += wp.abs(pose.rotation[k, i]) * (real(0.5) * (high[k] - low[k]) + reach)
        pose.half = size
        layer.poses[g, lane] = pose


@wp.func
def find_taxels(layer: Layer, lane: int, pair: Pair, taxels: Taxels, reach: real, volume: real):
    """Find the taxels that the other body may press, write them to ``Layer.near``, and return their `Nearby`.

    ``reach`` is the maximum distance of a pressed taxel from the geoms [m], and ``volume`` is the sum of area
    times depth that balances the normal force [m3].
    """
    near = touching(layer, lane, pair, taxels)
    within = real(wp.inf)
    if near.has_mesh:
        near = search(layer, lane, pair, near, reach)
        bound_triangles(layer, lane, near, reach)
        return near
    write_gaps(layer, lane, near.geoms, 0, near.found)
    for e in range(near.found):
        guess = real(wp.static(GUESS)) * volume / layer.near[5, e, lane]
        within = wp.min(within, layer.near[3, e, lane] + guess)
    return search(layer, lane, pair, near, wp.min(wp.max(within, real(0.0)), reach))


@wp.func
def depth_of(layer: Layer, lane: int, count: int, least: real, pressing: real):
    """Estimate the indentation for zero tilt, using only the centers of the nearby taxels [m].

    ``count`` is the number of taxels, ``least`` is their smallest gap [m], and ``pressing`` is the sum of
    area times depth that balances the normal force [m3].
    """
    depth = real(wp.inf)
    for _cut in range(wp.static(MOST_CUTS)):
        area, volume = real(0.0), real(0.0)
        for e in range(count):
            above = layer.near[3, e, lane] - least
            if above < depth:
                area += layer.near[5, e, lane]
                volume += layer.near[5, e, lane] * above
        if area == real(0.0):
            return real(wp.inf)
        if (volume + pressing) / area >= depth:
            break
        depth = (volume + pressing) / area
    return depth


@wp.func
def measure(layer: Layer, lane: int, pair: Pair, near: Nearby, reach: real, volume: real, depths: real):
    """Measure the gaps of the nearby taxels, and search farther if more taxels may be pressed.

    ``reach`` and ``volume`` are as in `find_taxels`. ``depths`` is the depth up to which taxels may be
    pressed, as a multiple of ``Nearby.depth``.

    Returns:
        The updated `Nearby`.
    """
    done = bool(False)
    while not done:
        write_gaps(layer, lane, near.geoms, near.measured, near.found)
        for e in range(near.measured, near.found):
            gap = layer.near[3, e, lane]
            layer.gap[layer.taxel[e, lane] - pair.base, lane] = wp.min(gap, real(wp.static(MISSED)))
            near.least = wp.min(near.least, gap)
        near.depth = depth_of(layer, lane, near.found, near.least, volume)
        near.measured = near.found
        done = near.within >= reach or near.least + depths * near.depth <= near.within
        if not done:
            near = search(layer, lane, pair, near, reach)
    return near


@wp.func
def add_neighbors(layer: Layer, lane: int, pair: Pair, near: Nearby, some: int, limit: real):
    """Append neighbors of taxels to ``Layer.near``, and measure their gaps; return the updated `Nearby`.

    Neighbors are added for the taxels in ``Layer.several[:some]`` whose gap is at most ``limit`` [m].
    """
    before = near.found
    for k in range(some):
        e = layer.several[k, lane]
        if layer.near[3, e, lane] > limit:
            continue
        t = layer.taxel[e, lane]
        for n in range(layer.beside.shape[1]):
            q = layer.beside[t, n]
            if layer.gap[q - pair.base, lane] == real(wp.inf):
                cell = layer.cells[q]
                if cosine_of(cell.normal, pair) > real(wp.static(FACING)):
                    take(layer, lane, pair, q, cell, near.found)
                    layer.gap[q - pair.base, lane] = real(wp.static(MISSED))
                    near.found += 1
    write_gaps(layer, lane, near.geoms, before, near.found)
    for e in range(before, near.found):
        gap = wp.min(layer.near[3, e, lane], real(wp.static(MISSED)))
        layer.gap[layer.taxel[e, lane] - pair.base, lane] = gap
    near.measured = near.found
    return near

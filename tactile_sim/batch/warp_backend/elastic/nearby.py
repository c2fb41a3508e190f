"""Find the taxels of a patch that are near another body, using a tree, and measure the gap at each taxel."""

import warp as wp
from warp import float64 as real

from tactile_sim.batch.warp_backend.elastic import constants
from tactile_sim.batch.warp_backend.elastic.arrays import Cell, Layer, Pose
from tactile_sim.batch.warp_backend.elastic.gaps import write_gaps
from tactile_sim.batch.warp_backend.elastic.pairs import Pair
from tactile_sim.batch.warp_backend.loads import Load as Point
from tactile_sim.batch.warp_backend.taxel_kernels import Taxels, find_nearest
from tactile_sim.geometry import solids


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
            facing = cosine_of(cell.normal, pair) > real(wp.static(constants.FACING))
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
        top = pose.position[2] + (pose.rotation * solid.center)[2] + real(wp.static(constants.SAME))
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
        guess = real(wp.static(constants.GUESS)) * volume / layer.near[5, e, lane]
        within = wp.min(within, layer.near[3, e, lane] + guess)
    return search(layer, lane, pair, near, wp.min(wp.max(within, real(0.0)), reach))


@wp.func
def depth_of(layer: Layer, lane: int, count: int, least: real, pressing: real):
    """Estimate the indentation for zero tilt, using only the centers of the nearby taxels [m].

    ``count`` is the number of taxels, ``least`` is their smallest gap [m], and ``pressing`` is the sum of
    area times depth that balances the normal force [m3].
    """
    depth = real(wp.inf)
    for _cut in range(wp.static(constants.MOST_CUTS)):
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
            layer.gap[layer.taxel[e, lane] - pair.base, lane] = wp.min(gap, real(wp.static(constants.MISSED)))
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
                if cosine_of(cell.normal, pair) > real(wp.static(constants.FACING)):
                    take(layer, lane, pair, q, cell, near.found)
                    layer.gap[q - pair.base, lane] = real(wp.static(constants.MISSED))
                    near.found += 1
    write_gaps(layer, lane, near.geoms, before, near.found)
    for e in range(before, near.found):
        gap = wp.min(layer.near[3, e, lane], real(wp.static(constants.MISSED)))
        layer.gap[layer.taxel[e, lane] - pair.base, lane] = gap
    near.measured = near.found
    return near

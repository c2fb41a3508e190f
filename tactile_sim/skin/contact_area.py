"""Possible area of contact between a skin and another body: nearby taxels and gaps between the surfaces.

Kernels that take the tuples of arrays are inlined: a call would count references to each of the arrays.
"""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.solids import BOX, CYLINDER, MESH, PARALLEL, PLANE, SPHERE, enter_box, entry
from tactile_sim.geometry.triangle_bins import bin_triangles, highest_below
from tactile_sim.geometry.vectors import along, dot, plus
from tactile_sim.skin.patches import find_nearest
from tactile_sim.skin.quadrature import NX, POINT_AREA

MISSED = 1e300
"""Gap at a taxel whose line along the normal misses the other body [m]."""
FACING = 0.2
"""Least cosine of the outward normal of a point with the direction to the other surface."""
DEPTHS = 3.0, 1e30
"""Points deeper below the surface than this, over the depth without a tilt, are not pressed: first by all
loads, then by those whose moment only pressing on deeper points reaches."""
MOST_CUTS = 20
"""Steps in which the estimate of that depth leaves out points that it does not reach."""
UNEVEN = 0.25
"""A gap that changes by more than this, over the spacing, between neighbors has an edge there."""
UPRIGHT = 0.999
"""Cosine to the normal of a pair above which a face is called level."""
LEVEL_SLOPE = 0.12
"""Between neighbors in a level plane, the gap to a level face changes by less than this, over their distance:
sin(2 acos(UPRIGHT)) + FLAT."""


@kernel(inline="always")
def contact_points(loads, group, number, pair, index, quad, solids, layer, stiffness, depths):
    """Write the points of a patch that a pair may press into the layer.

    One point stands for a taxel on whose cell the gap is even, several for one at an edge of either surface.
    The arguments are those of `elastic.press`, the stiffness of the layer [Pa/m], and one of `DEPTHS`.

    Returns:
        How many points there are, an indentation to start from [m], and whether they are all in reach.
    """
    spacing = index.patches[loads[pair.first].patch].spacing
    reach, volume = layer.thickness + spacing, pair.force[2] / stiffness
    gap, taxel, near, several = layer.gap, layer.taxel, layer.near, layer.several
    points, owner, cells, beside, own = layer.points, layer.owner, quad.taxels, quad.beside, quad.points
    found, geoms, round_other, meshes = _touching(loads, group, number, pair, index, quad, solids, layer)
    _gaps(near, 0, found, solids, layer, geoms, layer.triangles, reach)
    # A first guess of how far the taxels that may be pressed are from the other surface.
    within, least, depth, done = np.inf, np.inf, np.inf, 0
    for e in range(found):
        within = min(within, near[3, e] + depths * volume / near[5, e])
    within = min(max(within, 0.0), reach) if not meshes else reach
    triangles = layer.triangles
    while True:
        for g in range(geoms):
            load = loads[layer.geoms[1, g]]
            found = _taxels_around(load, solids.table[load.other], pair, quad, within, layer, found)
        if meshes and done == 0:
            triangles = bin_triangles(solids, layer.geoms[0, :geoms], layer.poses, near[:3, :found], reach)
        _gaps(near, done, found, solids, layer, geoms, triangles, reach)
        for e in range(done, found):
            gap[taxel[e]] = min(near[3, e], MISSED)
            least = min(least, near[3, e])
        depth, done = _depth(near, found, least, volume), found
        if within >= reach or least + depths * depth <= within:
            break
        within = reach
    limit, uneven = least + min(reach, depths * depth), UNEVEN * spacing
    level, a, b, half_a, half_b = _level_face(solids, layer, geoms)
    nx, ny, nz = pair.axes[2]
    count, unsure = 0, 0
    for e in range(done):
        here, margin = near[3, e], near[6, e]
        if round_other and margin >= 0.0 and 2.0 * (limit - least) < here - least < np.inf:
            continue
        if level and here <= limit and margin >= 0.0 and near[4, e] > UPRIGHT:
            x, y, z = near[0, e], near[1, e], near[2, e] - here
            inside = abs(a[0] + a[1] * x + a[2] * y + a[3] * z) + 1.1 * margin <= half_a
            inside &= abs(b[0] + b[1] * x + b[2] * y + b[3] * z) + 1.1 * margin <= half_b
            if inside and LEVEL_SLOPE * margin <= uneven:
                _add_point(near, e, cells[taxel[e]].id, points, owner, count)
                count += 1
                continue
        several[unsure] = e
        unsure += 1
        if here <= limit:  # the gaps beside it are needed
            for k in range(cells[taxel[e]].beside, cells[taxel[e] + 1].beside):
                t = beside[k]
                if gap[t] == np.inf:
                    cell, gap[t] = cells[t], MISSED
                    cosine = -(cell.nx * nx + cell.ny * ny + cell.nz * nz)
                    if cosine > FACING:
                        _take(cell, t, cosine, pair, taxel, near, found)
                        found += 1
                    else:
                        gap[t] = np.inf
    _gaps(near, done, found, solids, layer, geoms, triangles, reach)
    for e in range(done, found):
        gap[taxel[e]] = min(near[3, e], MISSED)
        if not (round_other and near[6, e] >= 0.0 and 2.0 * (limit - least) < near[3, e] - least < np.inf):
            several[unsure] = e
            unsure += 1
    kept = 0
    for k in range(unsure):
        e = several[k]
        cell, here, smooth = cells[taxel[e]], near[3, e], near[6, e] >= 0.0
        low, high = here, here
        for n in range(cell.beside, cells[taxel[e] + 1].beside):
            there = gap[beside[n]]
            low, high = (there if there < low else low), (there if there > high else high)
        # Between two smooth surfaces, the gap beside a taxel is about the mean of its own and its neighbor's.
        beside_it = 0.5 * (here + low) if round_other and smooth and here < np.inf else low
        even = high - here <= uneven and here - low <= uneven
        if smooth and here <= limit and even and near[4, e] > FACING:
            _add_point(near, e, cell.id, points, owner, count)
            count += 1
        elif beside_it <= limit or least == np.inf:
            several[kept] = taxel[e]
            kept += 1
    for e in range(found):
        gap[taxel[e]] = np.inf
    some = count
    for e in range(kept):
        t = several[e]
        for q in range(cells[t].begin, cells[t + 1].begin):
            x, y, z = own[q, NX], own[q, NX + 1], own[q, NX + 2]
            cosine = -(x * nx + y * ny + z * nz) if x != 0.0 or y != 0.0 or z != 0.0 else 1.0
            if cosine > FACING:
                _place(own[q, 0], own[q, 1], own[q, 2], pair, points, some)
                points[4, some], owner[some] = cosine * own[q, POINT_AREA], cells[t].id
                some += 1
    _gaps(points, count, some, solids, layer, geoms, triangles, reach)
    for k in range(count, some):
        if points[3, k] < np.inf:
            least = min(least, points[3, k])
            if count < k:
                for i in range(5):
                    points[i, count] = points[i, k]
                owner[count] = owner[k]
            count += 1
    # All points are pressed at first: then Newton's method does not get stuck at a border.
    start = (depth if depth < np.inf else 0.0) if depths == DEPTHS[0] else reach
    return count, least + start, depths * depth >= reach


@kernel
def _add_point(near, e, taxel, points, owner, count):
    """Let one point stand for a taxel near a pair."""
    points[0, count], points[1, count], points[2, count] = near[0, e], near[1, e], near[2, e]
    points[3, count], points[4, count], owner[count] = near[3, e], near[4, e] * near[5, e], taxel


@kernel
def _take(cell, k, cosine, pair, taxel, near, count):
    """Append a taxel, number k in the order of the quadrature, to those near a pair."""
    _place(cell.x, cell.y, cell.z, pair, near, count)
    near[4, count], near[5, count], near[6, count], taxel[count] = cosine, cell.area, cell.margin, k


@kernel(inline="always")
def _level_face(solids, layer, geoms):
    """Return the level face of the only geom of a pair, if it has one.

    Returns:
        Whether there is one, the two coordinates along the face as coefficients of 1, x, y and z, and its
        half-sizes [m]. Between neighbors above the face, the gap changes linearly.
    """
    solid, pose = solids.table[layer.geoms[0, 0]], layer.poses[0]
    none, face = (0.0, 0.0, 0.0, 0.0), -1
    if geoms == 1 and solid.kind == PLANE and pose[11] > UPRIGHT:
        return True, none, none, np.inf, np.inf
    if geoms == 1 and solid.kind == BOX:
        for i in range(3):
            face = i if abs(pose[9 + i]) > UPRIGHT else face
    if face < 0:
        return False, none, none, 0.0, 0.0
    i, j = (face + 1) % 3, (face + 2) % 3
    a, b = (pose[3 + i], pose[6 + i], pose[9 + i]), (pose[3 + j], pose[6 + j], pose[9 + j])
    start_a = -(a[0] * pose[0] + a[1] * pose[1] + a[2] * pose[2])
    start_b = -(b[0] * pose[0] + b[1] * pose[1] + b[2] * pose[2])
    return (
        True, (start_a, a[0], a[1], a[2]), (start_b, b[0], b[1], b[2]), solid.size[i], solid.size[j]
    )  # fmt: skip


@kernel
def _place(x, y, z, pair, out, e):
    """Write a point of the body in the frame of a pair into column e of out."""
    (ux, uy, uz), (vx, vy, vz), (nx, ny, nz) = pair.axes
    x, y, z = x - pair.origin[0], y - pair.origin[1], z - pair.origin[2]
    out[0, e], out[1, e], out[2, e] = (
        ux * x + uy * y + uz * z,
        vx * x + vy * y + vz * z,
        nx * x + ny * y + nz * z,
    )


@kernel(inline="always")
def _touching(loads, group, number, pair, index, quad, solids, layer):
    """Write the geoms that touch, their poses, and the taxels nearest to the contacts to the layer.

    A thin object may touch between taxels; then these are all there is.

    Returns:
        How many taxels and how many geoms there are, whether all geoms are round, and whether any is a mesh.
    """
    found, count, round_other, meshes = 0, 0, True, False
    gap, taxel, near, cells, (nx, ny, nz) = layer.gap, layer.taxel, layer.near, quad.taxels, pair.axes[2]
    geoms, poses, table, order = layer.geoms, layer.poses, solids.table, quad.place
    for m in range(pair.first, len(loads)):
        if group[m] != number:
            continue
        load, known = loads[m], False
        for g in range(count):
            known |= geoms[0, g] == load.other
        if not known:
            rotation, kind = load.other_rotation, table[load.other].kind
            place = along(pair.axes, plus(load.other_position, -1.0, pair.origin))
            for i in range(3):
                axis = pair.axes[i]
                poses[count, i] = place[i]
                for j in range(3):
                    column = (rotation[0, j], rotation[1, j], rotation[2, j])
                    poses[count, 3 + 3 * i + j] = dot(axis, column)
            geoms[0, count], geoms[1, count] = load.other, m
            count += 1
            meshes |= kind == MESH
            round_other &= kind != BOX and kind != CYLINDER and kind != MESH
        nearest = order[find_nearest(load, index)]
        if gap[nearest] == np.inf:
            cell = cells[nearest]
            cosine = -(cell.nx * nx + cell.ny * ny + cell.nz * nz)
            _take(cell, nearest, cosine, pair, taxel, near, found)
            gap[nearest] = 0.0
            found += 1
    return found, count, round_other, meshes


@kernel(inline="always")
def _taxels_around(load, solid, pair, quad, reach, layer, count):
    """Append the taxels of a patch near a solid that face it to the layer; return how many it has then.

    count: how many it has before.
    """
    nodes, cells, gap, taxel, near = quad.nodes, quad.taxels, layer.gap, layer.taxel, layer.near
    rotation, position, kind = load.other_rotation, load.other_position, solid.kind
    plane, px, py, pz = kind == PLANE, position[0], position[1], position[2]
    farthest = (solid.size[0] + reach) ** 2 if kind == SPHERE else np.inf
    (ux, uy, uz), (vx, vy, vz), (nx, ny, nz) = pair.axes
    ox, oy, oz = pair.origin
    cx, cy, cz, hx, hy, hz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    up_x, up_y, up_z = rotation[0, 2], rotation[1, 2], rotation[2, 2]
    limit = up_x * position[0] + up_y * position[1] + up_z * position[2] + reach
    if not plane:
        cx, hx = _extent(0, rotation, position, solid, reach)
        cy, hy = _extent(1, rotation, position, solid, reach)
        cz, hz = _extent(2, rotation, position, solid, reach)
    k, end = quad.roots[load.patch], quad.roots[load.patch + 1]
    while k < end:
        node = nodes[k]
        if plane:
            height = up_x * node.x + up_y * node.y + up_z * node.z
            beyond = height - abs(up_x) * node.hx - abs(up_y) * node.hy - abs(up_z) * node.hz > limit
        else:
            beyond = abs(node.x - cx) > node.hx + hx or abs(node.y - cy) > node.hy + hy
            beyond = beyond or abs(node.z - cz) > node.hz + hz
        if beyond:
            k = node.skip
            continue
        for c in range(node.first, node.last):
            cell = cells[c]
            cosine = -(cell.nx * nx + cell.ny * ny + cell.nz * nz)
            faces = cosine > FACING or (cell.nx == 0.0 and cell.ny == 0.0 and cell.nz == 0.0)
            if plane:
                inside = up_x * cell.x + up_y * cell.y + up_z * cell.z <= limit
            else:
                inside = (cell.x - px) ** 2 + (cell.y - py) ** 2 + (cell.z - pz) ** 2 <= farthest
            if inside and faces and gap[c] == np.inf:
                x, y, z = cell.x - ox, cell.y - oy, cell.z - oz
                near[0, count] = ux * x + uy * y + uz * z
                near[1, count] = vx * x + vy * y + vz * z
                near[2, count] = nx * x + ny * y + nz * z
                near[4, count], near[5, count], near[6, count] = cosine, cell.area, cell.margin
                taxel[count], gap[c] = c, 0.0
                count += 1
        k += 1
    return count


@kernel
def _extent(axis, rotation, position, solid, reach):
    """Return the center and the half-size of the box around a solid along an axis of the body [m]."""
    center, half = position[axis], reach
    for k in range(3):
        center += rotation[axis, k] * solid.center[k]
        half += abs(rotation[axis, k]) * solid.half[k]
    return center, half


@kernel(fastmath={"reassoc", "contract", "nsz"})
def _depth(near, count, least, pressing):
    """Return how deep taxels would lie in the layer without a tilt, by their centers alone [m].

    pressing: area times depth that balances the force [m3].
    """
    depth = np.inf
    for _ in range(MOST_CUTS):
        area, volume = 0.0, 0.0
        for e in range(count):
            above = near[3, e] - least
            own = near[5, e] if above < depth else 0.0
            area += own
            volume += own * above if above < depth else 0.0
        if area == 0.0:
            return np.inf
        if (volume + pressing) / area >= depth:
            break
        depth = (volume + pressing) / area
    return depth


@kernel(inline="always")
def _gaps(points, first, last, solids, layer, geoms, triangles, reach):
    """Write the gap from some points (x, y, z, gap, ...) of the skin down to the other body [m]."""
    # Rows of their own, from index 0: then the loops compile to vector instructions.
    xs, ys, zs = points[0][first:last], points[1][first:last], points[2][first:last]
    gaps = points[3][first:last]
    gaps[:] = np.inf
    for g in range(geoms):
        solid = solids.table[layer.geoms[0, g]]
        if solid.kind == BOX:
            _gaps_to_box(solid.size, layer.poses[g], xs, ys, zs, gaps)
        elif solid.kind != MESH:
            _gaps_to(solid.kind, solid.size, layer.poses[g], xs, ys, zs, gaps)
    if len(triangles[0]):
        for e in range(len(xs)):
            gaps[e] = min(gaps[e], zs[e] - highest_below(triangles, xs[e], ys[e], zs[e] + reach))


@kernel(error_model="numpy")
def _gaps_to(kind, size, pose, xs, ys, zs, gaps):
    """Reduce the gap at some points to that to a solid other than a mesh or box, where that is less."""
    a, b, c = size[0], size[1], size[2]
    t0, t1, t2 = pose[0], pose[1], pose[2]
    r00, r01, r02, r10, r11, r12 = pose[3], pose[4], pose[5], pose[6], pose[7], pose[8]
    r20, r21, r22 = pose[9], pose[10], pose[11]
    if kind == PLANE and r22 > PARALLEL:
        slope_x, slope_y = r02 / r22, r12 / r22
        for e in range(len(xs)):
            here = zs[e] - t2 + slope_x * (xs[e] - t0) + slope_y * (ys[e] - t1)
            gaps[e] = here if here < gaps[e] else gaps[e]
    elif kind == SPHERE:
        for e in range(len(xs)):
            x, y, z = xs[e] - t0, ys[e] - t1, zs[e] - t2
            root = a * a - x * x - y * y
            half = np.sqrt(root if root > 0.0 else 0.0)
            here = z - half if root >= 0.0 and z + half >= 0.0 else np.inf
            gaps[e] = here if here < gaps[e] else gaps[e]
    else:
        for e in range(len(xs)):
            x, y, z = xs[e] - t0, ys[e] - t1, zs[e] - t2
            px, py = r00 * x + r10 * y + r20 * z, r01 * x + r11 * y + r21 * z
            pz = r02 * x + r12 * y + r22 * z
            here = entry(kind, a, b, c, px, py, pz, -r20, -r21, -r22)
            gaps[e] = here if here < gaps[e] else gaps[e]


@kernel(error_model="numpy")
def _gaps_to_box(size, pose, xs, ys, zs, gaps):
    """Do what `_gaps_to` does for a box."""
    a, b, c = size[0], size[1], size[2]
    t0, t1, t2 = pose[0], pose[1], pose[2]
    r00, r01, r02, r10, r11, r12 = pose[3], pose[4], pose[5], pose[6], pose[7], pose[8]
    r20, r21, r22 = pose[9], pose[10], pose[11]
    ix = 1.0 / r20 if abs(r20) > PARALLEL else 0.0
    iy = 1.0 / r21 if abs(r21) > PARALLEL else 0.0
    iz = 1.0 / r22 if abs(r22) > PARALLEL else 0.0
    for e in range(len(xs)):
        x, y, z = xs[e] - t0, ys[e] - t1, zs[e] - t2
        px, py = r00 * x + r10 * y + r20 * z, r01 * x + r11 * y + r21 * z
        pz = r02 * x + r12 * y + r22 * z
        here = enter_box(px, py, pz, -ix, -iy, -iz, a, b, c)
        gaps[e] = here if here < gaps[e] else gaps[e]

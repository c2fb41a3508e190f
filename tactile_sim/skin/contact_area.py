"""Possible area of contact between a skin and another body: nearby taxels and gaps between the surfaces.

Kernels that take the tuples of arrays are inlined: a call would count references to each of the arrays.
"""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.solids import BOX, CYLINDER, MESH, PARALLEL, PLANE, enter_box, entry
from tactile_sim.geometry.triangle_bins import bin_triangles, highest_below
from tactile_sim.geometry.vectors import along, plus
from tactile_sim.skin.patches import find_nearest

FACING = 0.2
"""Least cosine of the outward normal of a point with the direction to the other surface."""
DEPTHS = 3.0
"""Points deeper below the surface than this, over the depth without a tilt, are not pressed."""
UNEVEN = 0.25
"""A gap that changes by more than this, over the spacing, between neighbors has an edge there."""


@kernel(inline="always")
def contact_points(loads, group, number, pair, index, quad, solids, layer, stiffness):
    """Write the points of a patch that a pair may press into the layer.

    One point stands for a taxel on whose cell the gap is even, several for one at an edge of either surface.
    The arguments are those of `elastic.press`, and the stiffness of the layer [Pa/m].

    Returns:
        How many points there are, and the indentation of a flat surface by the same force [m].
    """
    patch = index.patches[loads[pair.first].patch]
    reach = layer.thickness + patch.spacing
    found, geoms = _taxels_near(loads, group, number, pair, index, solids, layer, reach)
    gap, taxel, centers, points, owner = layer.gap, layer.taxel, layer.centers, layer.points, layer.owner
    for e in range(found):
        _place(index.positions, taxel[e], pair, centers, e)
    triangles, round_other = layer.triangles, True
    for g in range(geoms):
        kind = solids.table[layer.geoms[g]].kind
        round_other &= kind != BOX and kind != CYLINDER and kind != MESH
        if kind == MESH and len(triangles[0]) == 0:
            triangles = bin_triangles(solids, layer.geoms[:geoms], layer.poses, centers[:3, :found], reach)
    _gaps(centers, 0, found, solids, layer, geoms, triangles, reach)
    least = np.inf
    for e in range(found):
        gap[taxel[e]] = centers[3, e]
        least = min(least, centers[3, e])
    depth = _depth(centers, found, taxel, quad.taxel_areas, least, pair.force[2] / stiffness)
    limit, uneven = least + min(reach, DEPTHS * depth), UNEVEN * patch.spacing
    begin, beside, normals, smooth = index.begin, index.neighbour_ids, index.normals, quad.smooth
    nx, ny, nz = pair.axes[2]
    count, kept = 0, 0
    for e in range(found):
        t, here = taxel[e], centers[3, e]
        between = round_other and smooth[t] and here < np.inf
        if between and here - least > 2.0 * (limit - least):
            continue
        low, high = here, here
        for b in range(begin[t], begin[t + 1]):
            there = gap[beside[b]]
            low, high = (there if there < low else low), (there if there > high else high)
        # Between two smooth surfaces, the gap beside a taxel is about the mean of its own and its neighbor's.
        beside_it = 0.5 * (here + low) if between else low
        cosine = -(normals[t, 0] * nx + normals[t, 1] * ny + normals[t, 2] * nz)
        even = high - here <= uneven and here - low <= uneven
        if smooth[t] and here <= limit and even and cosine > FACING:
            for i in range(4):
                points[i, count] = centers[i, e]
            points[4, count] = cosine * quad.taxel_areas[t]
            owner[count] = t
            count += 1
        elif beside_it <= limit or least == np.inf:  # kept for the next loop
            centers[0, kept] = t
            kept += 1
    for e in range(found):
        gap[taxel[e]] = np.inf
    several = count
    for e in range(kept):
        t = int(centers[0, e])
        for q in range(quad.begin[t], quad.begin[t + 1]):
            x, y, z = quad.normals[q, 0], quad.normals[q, 1], quad.normals[q, 2]
            cosine = -(x * nx + y * ny + z * nz) if x != 0.0 or y != 0.0 or z != 0.0 else 1.0
            if cosine > FACING:
                _place(quad.positions, q, pair, points, several)
                points[4, several], owner[several] = cosine * quad.areas[q], t
                several += 1
    _gaps(points, count, several, solids, layer, geoms, triangles, reach)
    for k in range(count, several):
        if points[3, k] < np.inf:
            least = min(least, points[3, k])
            for i in range(5):
                points[i, count] = points[i, k]
            owner[count] = owner[k]
            count += 1
    return count, least + (depth if depth < np.inf else 0.0)


@kernel
def _place(positions, t, pair, out, e):
    """Write a point of the body in the frame of a pair into column e of out."""
    (ux, uy, uz), (vx, vy, vz), (nx, ny, nz) = pair.axes
    x, y, z = (
        positions[t, 0] - pair.origin[0],
        positions[t, 1] - pair.origin[1],
        positions[t, 2] - pair.origin[2],
    )
    out[0, e], out[1, e], out[2, e] = (
        ux * x + uy * y + uz * z,
        vx * x + vy * y + vz * z,
        nx * x + ny * y + nz * z,
    )


@kernel(inline="always")
def _taxels_near(loads, group, number, pair, index, solids, layer, reach):
    """Write the taxels near a pair, and the geoms that touch with their poses, to the layer.

    Returns:
        How many taxels and how many geoms there are.
    """
    found, geoms = 0, 0
    for m in range(pair.first, len(loads)):
        if group[m] != number:
            continue
        load, known = loads[m], False
        for g in range(geoms):
            known |= layer.geoms[g] == load.other
        if not known:
            rotation, pose = load.other_rotation, layer.poses[geoms]
            pose[0], pose[1], pose[2] = along(pair.axes, plus(load.other_position, -1.0, pair.origin))
            for j in range(3):
                column = (rotation[0, j], rotation[1, j], rotation[2, j])
                pose[3 + j], pose[6 + j], pose[9 + j] = along(pair.axes, column)
            layer.geoms[geoms] = load.other
            geoms += 1
            found = _taxels_around(load, solids.table[load.other], pair.axes[2], index, reach, layer, found)
        nearest = find_nearest(load, index)
        if layer.gap[nearest] == np.inf:  # a thin object may touch between taxels
            layer.gap[nearest] = 0.0
            layer.taxel[found] = nearest
            found += 1
    return found, geoms


@kernel(inline="always")
def _taxels_around(load, solid, normal, index, reach, layer, count):
    """Append the taxels of a patch near a solid that face it to the layer; return how many it has then.

    count: how many it has before; normal: of the pair, into the body.
    """
    patch, (nx, ny, nz) = index.patches[load.patch], normal
    rotation, position, shape, first = load.other_rotation, load.other_position, patch.shape, index.cell_start
    normals, order, gap, taxel = index.normals, index.order, layer.gap, layer.taxel
    if solid.kind == PLANE:
        positions, up_x, up_y, up_z = index.positions, rotation[0, 2], rotation[1, 2], rotation[2, 2]
        limit = up_x * position[0] + up_y * position[1] + up_z * position[2] + reach
        for t in range(patch.start, patch.stop):
            if up_x * positions[t, 0] + up_y * positions[t, 1] + up_z * positions[t, 2] < limit:
                x, y, z = normals[t, 0], normals[t, 1], normals[t, 2]
                faces = x * nx + y * ny + z * nz < -FACING or (x == 0.0 and y == 0.0 and z == 0.0)
                if faces and gap[t] == np.inf:
                    taxel[count], gap[t] = t, 0.0
                    count += 1
        return count
    i0, i1 = _cells(0, rotation, position, solid, patch, reach)
    j0, j1 = _cells(1, rotation, position, solid, patch, reach)
    k0, k1 = _cells(2, rotation, position, solid, patch, reach)
    for i in range(i0, i1):
        for j in range(j0, j1):
            row = patch.base + (i * shape[1] + j) * shape[2]
            for e in range(first[row + k0], first[row + k1]):
                t = order[e]
                x, y, z = normals[t, 0], normals[t, 1], normals[t, 2]
                faces = x * nx + y * ny + z * nz < -FACING or (x == 0.0 and y == 0.0 and z == 0.0)
                if faces and gap[t] == np.inf:
                    taxel[count], gap[t] = t, 0.0
                    count += 1
    return count


@kernel
def _cells(axis, rotation, position, solid, patch, reach):
    """Return the range of cells of a patch along an axis that the box around a solid meets."""
    center, half, corner = position[axis], reach, patch.corner[axis]
    for k in range(3):
        center += rotation[axis, k] * solid.center[k]
        half += abs(rotation[axis, k]) * solid.half[k]
    last = patch.shape[axis] - 1.0
    low = min(max(np.floor((center - half - corner) / patch.cell), 0.0), last)
    high = min(max(np.floor((center + half - corner) / patch.cell), 0.0), last)
    return int(low), int(high) + 1


@kernel
def _depth(centers, count, taxel, areas, least, pressing):
    """Return how deep taxels would lie in the layer without a tilt, by their centers alone [m].

    pressing: area times depth that balances the force [m3].
    """
    depth = np.inf
    for _ in range(5):
        area, volume = 0.0, pressing
        for e in range(count):
            if centers[3, e] < np.inf and centers[3, e] - least < depth:
                area += areas[taxel[e]]
                volume += areas[taxel[e]] * (centers[3, e] - least)
        if area == 0.0:
            return np.inf
        if volume / area >= depth:
            break
        depth = volume / area
    return depth


@kernel(inline="always")
def _gaps(points, first, last, solids, layer, geoms, triangles, reach):
    """Write the gap from some points (x, y, z, gap, ...) of the skin down to the other body [m]."""
    for e in range(first, last):
        points[3, e] = np.inf
    for g in range(geoms):
        solid, pose = solids.table[layer.geoms[g]], layer.poses[g]
        kind, a, b, c = solid.kind, solid.size[0], solid.size[1], solid.size[2]
        if kind == MESH:
            continue
        t0, t1, t2 = pose[0], pose[1], pose[2]
        r00, r01, r02, r10, r11, r12 = pose[3], pose[4], pose[5], pose[6], pose[7], pose[8]
        r20, r21, r22 = pose[9], pose[10], pose[11]
        ix = 1.0 / r20 if abs(r20) > PARALLEL else 0.0
        iy = 1.0 / r21 if abs(r21) > PARALLEL else 0.0
        iz = 1.0 / r22 if abs(r22) > PARALLEL else 0.0
        for e in range(first, last):
            x, y, z = points[0, e] - t0, points[1, e] - t1, points[2, e] - t2
            px, py = r00 * x + r10 * y + r20 * z, r01 * x + r11 * y + r21 * z
            pz = r02 * x + r12 * y + r22 * z
            if kind == BOX:
                here = enter_box(px, py, pz, -ix, -iy, -iz, a, b, c)
            else:
                here = entry(kind, a, b, c, px, py, pz, -r20, -r21, -r22)
            points[3, e] = here if here < points[3, e] else points[3, e]
    if len(triangles[0]):
        for e in range(first, last):
            below = highest_below(triangles, points[0, e], points[1, e], points[2, e] + reach)
            points[3, e] = min(points[3, e], points[2, e] - below)

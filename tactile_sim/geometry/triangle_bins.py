"""Sort a body's triangles near a contact into a grid to find the first one along the contact normal."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel

_MOST_CELLS, _CELLS = 4096, 2
"""Maximum number of cells in a grid, and number of cells per triangle."""
EDGE = 1e-12
"""Tolerance of barycentric coordinates, so that a line through a shared edge hits at least one triangle."""
SAME = 1e-7
"""Crossings of a line with triangles count as one if their heights differ by at most this [m]."""


@kernel
def bin_triangles(solids, ids, poses, points, reach):
    """Sort the triangles near some points into a grid along x and y.

    Args:
        solids: The `Solids` of the scene.
        ids: (g,) indices of the solids whose triangles are sorted.
        poses: (g, 12) pose of each solid in the frame of the points: position [m], then the rotation matrix
            row by row.
        points: (3, e) x, y and z of the points [m].
        reach: Margin of the box around the points [m]; triangles beside or below the box are left out.

    Returns:
        A tuple of four arrays for `surface_below`:

        shapes: (t, 10) triangles projected along z, see `_shapes`.
        begin: (c + 1,) start of each of the c cells in ``order``; the last entry is the length of ``order``.
        order: Indices of the triangles that overlap each cell, cell by cell.
        grid: (5,) cells per meter, number of cells along x and along y, x and y of the grid's corner [m].
    """
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for i in range(3):
        for e in range(points.shape[1]):
            low[i], high[i] = min(low[i], points[i, e] - reach), max(high[i], points[i, e] + reach)
    # Above the points, triangles count at any height, because points can be deep in a solid.
    for g in range(len(ids)):
        solid, top = solids.table[ids[g]], poses[g, 2] + SAME
        for k in range(3):
            top += poses[g, 9 + k] * solid.center[k] + abs(poses[g, 9 + k]) * solid.half[k]
        high[2] = max(high[2], top)
    corners, count = np.empty((64, 3, 3)), 0
    least, most = np.empty(3), np.empty(3)
    own, nodes = solids.corners, solids.nodes
    for g in range(len(ids)):
        solid, pose = solids.table[ids[g]], poses[g]
        for i in range(3):  # the box around the box, in the frame of the solid
            center, half = 0.0, 0.0
            for k in range(3):
                center += pose[3 + 3 * k + i] * (0.5 * (low[k] + high[k]) - pose[k])
                half += abs(pose[3 + 3 * k + i]) * 0.5 * (high[k] - low[k])
            least[i], most[i] = center - half, center + half
        n, end = solid.nodes
        while n < end:
            node = nodes[n]
            if (
                node.x - node.hx > most[0] or node.x + node.hx < least[0]
                or node.y - node.hy > most[1] or node.y + node.hy < least[1]
                or node.z - node.hz > most[2] or node.z + node.hz < least[2]
            ):  # fmt: skip
                n = node.skip
                continue
            n += 1
            for f in range(node.first, node.last):
                inside = True
                for i in range(3):
                    a, b, c = own[f, 0, i], own[f, 1, i], own[f, 2, i]
                    inside &= min(a, b, c) <= most[i] and max(a, b, c) >= least[i]
                if not inside:
                    continue
                if count == len(corners):
                    more = np.empty((4 * count, 3, 3))
                    more[:count] = corners
                    corners = more
                for k in range(3):
                    x, y, z = own[f, k, 0], own[f, k, 1], own[f, k, 2]
                    for i in range(3):
                        row = 3 + 3 * i
                        corners[count, k, i] = pose[i] + pose[row] * x + pose[row + 1] * y + pose[row + 2] * z
                for i in range(2):
                    a, b, c = corners[count, 0, i], corners[count, 1, i], corners[count, 2, i]
                    inside &= min(a, b, c) <= high[i] and max(a, b, c) >= low[i]
                count += inside
    corners = corners[:count]
    shapes = _shapes(corners)

    width, depth = max(high[0] - low[0], 1e-9), max(high[1] - low[1], 1e-9)
    scale = np.sqrt(min(max(_CELLS * count, 1), _MOST_CELLS) / (width * depth))
    nx, ny = max(1, min(int(width * scale), _MOST_CELLS)), max(1, min(int(depth * scale), _MOST_CELLS))
    begin = np.zeros(nx * ny + 1, np.int64)
    order = np.empty(0, np.int64)
    for filling in range(2):
        for t in range(len(shapes)):
            i0, i1 = _range(corners, t, 0, low[0], scale, nx)
            j0, j1 = _range(corners, t, 1, low[1], scale, ny)
            x0, y0, ax, ay, bx, by = (
                shapes[t, 0],
                shapes[t, 1],
                shapes[t, 2],
                shapes[t, 3],
                shapes[t, 4],
                shapes[t, 5],
            )
            # Maximum change of the barycentric coordinates between the middle of a cell and its corners.
            half = 0.501 / scale
            da, db, dc = (
                (abs(ax) + abs(ay)) * half,
                (abs(bx) + abs(by)) * half,
                (abs(ax + bx) + abs(ay + by)) * half,
            )
            for i in range(i0, i1 + 1):
                inner_x = 0 < i < nx - 1
                x = low[0] + (i + 0.5) / scale - x0
                for j in range(j0, j1 + 1):
                    y = low[1] + (j + 0.5) / scale - y0
                    a, b = x * ax + y * ay, x * bx + y * by
                    beside = a < -da or b < -db or a + b > 1.0 + dc
                    if beside and inner_x and 0 < j < ny - 1:
                        continue
                    cell = i * ny + j
                    if filling:
                        begin[cell] -= 1
                        order[begin[cell]] = t
                    else:
                        begin[cell] += 1
        if not filling:
            for cell in range(1, len(begin)):
                begin[cell] += begin[cell - 1]
            order = np.empty(begin[-1], np.int64)
    return shapes, begin, order, np.array([scale, float(nx), float(ny), low[0], low[1]])


@kernel
def _shapes(corners):
    """Project triangles along z, except those parallel to z, which are removed.

    Args:
        corners: (t, 3, 3) corners [m]. The remaining triangles are moved to the front, in place.

    Returns:
        (u, 10) one row for each of the u remaining triangles, with the columns

        - 0, 1: x and y of the first corner [m];
        - 2, 3: factors of dx and dy in the barycentric coordinate a of the second corner, for a point at
          (dx, dy) from the first corner;
        - 4, 5: factors of dx and dy in the barycentric coordinate b of the third corner;
        - 6: z of the first corner [m];
        - 7, 8: z of the second and of the third corner, minus z of the first corner [m];
        - 9: 1 if the triangle faces up, and -1 if it faces down.
    """
    out, count = np.empty((len(corners), 10)), 0
    for t in range(len(corners)):
        x0, y0, z0 = corners[t, 0, 0], corners[t, 0, 1], corners[t, 0, 2]
        ux, uy, vx, vy = (
            corners[t, 1, 0] - x0,
            corners[t, 1, 1] - y0,
            corners[t, 2, 0] - x0,
            corners[t, 2, 1] - y0,
        )
        area = ux * vy - uy * vx
        if area == 0.0:
            continue
        row = out[count]
        row[0], row[1], row[2], row[3] = x0, y0, vy / area, -vx / area
        row[4], row[5], row[6] = -uy / area, ux / area, z0
        row[7], row[8], row[9] = corners[t, 1, 2] - z0, corners[t, 2, 2] - z0, np.sign(area)
        corners[count] = corners[t]
        count += 1
    return out[:count]


@kernel
def _range(corners, t, axis, low, scale, cells):
    a, b, c = corners[t, 0, axis], corners[t, 1, axis], corners[t, 2, axis]
    first, last = int(np.floor((min(a, b, c) - low) * scale)), int(np.floor((max(a, b, c) - low) * scale))
    return max(0, min(first, cells - 1)), max(0, min(last, cells - 1))


@kernel(counted=False)
def surface_below(triangles, x, y, z):
    """Return the height of the surface on which a point presses [m], or -inf if there is no such surface.

    Consider a ray that comes from above through the point. It enters the solid at triangles that face up and
    leaves it at triangles that face down. If the point is outside, it presses on the first surface below it.
    If the point is inside, it presses on the surface above it at which the ray last entered from outside.

    If some triangles face the wrong way, the ray can cross the mesh an odd number of times above a point that
    seems to be outside. The point then presses on the last surface that the ray met from outside.

    Args:
        triangles: Result of `bin_triangles`.
        x: x coordinate of the point in the frame of the triangles [m].
        y: y coordinate [m].
        z: z coordinate [m].
    """
    shapes, begin, order, grid = triangles
    i, j = int(np.floor((x - grid[3]) * grid[0])), int(np.floor((y - grid[4]) * grid[0]))
    # As in `_range`, points outside the grid belong to the nearest cell at its border.
    i, j = max(0, min(i, int(grid[1]) - 1)), max(0, min(j, int(grid[2]) - 1))
    cell = i * int(grid[2]) + j
    near = order[begin[cell] : begin[cell + 1]]
    below, above, count = -np.inf, np.inf, 0
    for t in near:
        here = _height(shapes[t], x, y)
        if here >= z:
            above = here
            count += 1
        elif here > below:
            below = here
    if count == 0:
        return below
    if count == 1:
        return above

    inside, odd, surface, height = 0, False, np.inf, np.inf
    while True:
        height, up = _crossing(shapes, near, x, y, height - SAME)
        if height < z or height == -np.inf:
            return surface if inside > 0 or odd else height
        if up != 0.0:
            odd = not odd
            surface = height if inside == 0 else surface
            inside = max(inside + (1 if up > 0.0 else -1), 0)


@kernel(counted=False)
def _crossing(shapes, near, x, y, top):
    """Return the highest crossing of triangles with a line along z, at or below a specified height.

    Args:
        shapes: (t, 10) triangles, see `_shapes`.
        near: Indices of the triangles to test.
        x: x coordinate of the line [m].
        y: y coordinate [m].
        top: Maximum height [m].

    Returns:
        The height [m], or -inf without a crossing, and the number of crossed triangles at this height that
        face up minus the number that face down.
    """
    best, up = -np.inf, 0.0
    for t in near:
        here = _height(shapes[t], x, y)
        if best - SAME <= here <= top:
            up = shapes[t, 9] if here > best + SAME else up + shapes[t, 9]
            best = max(best, here)
    return best, up


@kernel(inline="always")
def _height(shape, x, y):
    """Return the height at which the vertical line at (x, y) crosses a triangle [m]; NaN if it misses."""
    dx, dy = x - shape[0], y - shape[1]
    a, b = dx * shape[2] + dy * shape[3], dx * shape[4] + dy * shape[5]
    inside = a >= -EDGE and b >= -EDGE and a + b <= 1.0 + EDGE
    return shape[6] + a * shape[7] + b * shape[8] if inside else np.nan

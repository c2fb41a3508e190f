"""The triangles of a body near a contact, sorted into a grid, to find the first one along the normal."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel

_MOST_CELLS = 4096


@kernel
def bin_triangles(solids, ids, poses, points, reach):
    """Return the triangles of some solids that cross the box around points, and a grid over them.

    Args:
        solids: A `Solids`.
        ids: (g,) indices of the solids.
        poses: (g, 12) position [m] and rotation of each solid in the frame of the points.
        points: (3, e) x, y and z [m].
        reach: Margin of the box around the points on each side [m].

    Returns:
        corners (t, 3, 3) of the triangles in the frame of the points, where each cell of the grid begins in
        the order (c + 1,), that order, and the grid (5,): cells per meter, cells along x and y, its corner.
    """
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for i in range(3):
        for e in range(points.shape[1]):
            low[i], high[i] = min(low[i], points[i, e] - reach), max(high[i], points[i, e] + reach)
    room = 0
    for g in ids:
        room += solids.table[g].faces[1] - solids.table[g].faces[0]
    corners, count = np.empty((room, 3, 3)), 0
    least, most = np.empty(3), np.empty(3)
    vertices, faces = solids.vertices, solids.faces
    for g in range(len(ids)):
        solid, pose = solids.table[ids[g]], poses[g]
        for i in range(3):  # the box around the box, in the frame of the solid
            center, half = 0.0, 0.0
            for k in range(3):
                center += pose[3 + 3 * k + i] * (0.5 * (low[k] + high[k]) - pose[k])
                half += abs(pose[3 + 3 * k + i]) * 0.5 * (high[k] - low[k])
            least[i], most[i] = center - half, center + half
        for f in range(solid.faces[0], solid.faces[1]):
            inside = True
            for i in range(3):
                a, b, c = vertices[faces[f, 0], i], vertices[faces[f, 1], i], vertices[faces[f, 2], i]
                inside &= min(a, b, c) <= most[i] and max(a, b, c) >= least[i]
            if inside:
                for k in range(3):
                    x, y, z = vertices[faces[f, k], 0], vertices[faces[f, k], 1], vertices[faces[f, k], 2]
                    for i in range(3):
                        row = 3 + 3 * i
                        corners[count, k, i] = pose[i] + pose[row] * x + pose[row + 1] * y + pose[row + 2] * z
                count += 1
    corners = corners[:count]

    width, depth = max(high[0] - low[0], 1e-9), max(high[1] - low[1], 1e-9)
    scale = np.sqrt(min(max(count, 1), _MOST_CELLS) / (width * depth))
    nx, ny = max(1, min(int(width * scale), _MOST_CELLS)), max(1, min(int(depth * scale), _MOST_CELLS))
    begin = np.zeros(nx * ny + 1, np.int64)
    order = np.empty(0, np.int64)
    for filling in range(2):
        for t in range(count):
            i0, i1 = _range(corners, t, 0, low[0], scale, nx)
            j0, j1 = _range(corners, t, 1, low[1], scale, ny)
            for i in range(i0, i1 + 1):
                for j in range(j0, j1 + 1):
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
    return corners, begin, order, np.array([scale, float(nx), float(ny), low[0], low[1]])


@kernel
def _range(corners, t, axis, low, scale, cells):
    a, b, c = corners[t, 0, axis], corners[t, 1, axis], corners[t, 2, axis]
    first, last = int(np.floor((min(a, b, c) - low) * scale)), int(np.floor((max(a, b, c) - low) * scale))
    return max(0, min(first, cells - 1)), max(0, min(last, cells - 1))


@kernel
def highest_below(triangles, x, y, top):
    """Return the height z of the highest triangle at (x, y) that is not above ``top``; -inf where none is.

    triangles: what `bin_triangles` returns.
    """
    corners, begin, order, grid = triangles
    i, j = int(np.floor((x - grid[3]) * grid[0])), int(np.floor((y - grid[4]) * grid[0]))
    # As `_range`: the cells at the border reach beyond it.
    i, j = max(0, min(i, int(grid[1]) - 1)), max(0, min(j, int(grid[2]) - 1))
    cell = i * int(grid[2]) + j
    best = -np.inf
    for e in range(begin[cell], begin[cell + 1]):
        t = order[e]
        x0, y0, z0 = corners[t, 0, 0], corners[t, 0, 1], corners[t, 0, 2]
        ux, uy = corners[t, 1, 0] - x0, corners[t, 1, 1] - y0
        vx, vy = corners[t, 2, 0] - x0, corners[t, 2, 1] - y0
        area = ux * vy - uy * vx
        if area == 0.0:
            continue
        a, b = ((x - x0) * vy - (y - y0) * vx) / area, (ux * (y - y0) - uy * (x - x0)) / area
        if a < 0.0 or b < 0.0 or a + b > 1.0:
            continue
        z = z0 + a * (corners[t, 1, 2] - z0) + b * (corners[t, 2, 2] - z0)
        if best < z <= top:
            best = z
    return best

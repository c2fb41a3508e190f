"""The triangles of a body near a contact, sorted into a grid, to find the first one along the normal."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel

_MOST_CELLS = 4096


@kernel
def bin_triangles(solids, ids, positions, rotations, low, high):
    """Return the triangles of some solids that cross a box, and a grid over them.

    Args:
        solids: a `Solids`.
        ids, positions, rotations: (g,), (g, 3) and (g, 3, 3): the solids, and from the frame of each to that
            of the box [m].
        low, high: (3,) corners of the box [m].

    Returns:
        corners (t, 3, 3) of the triangles in the frame of the box, where each cell of the grid begins in the
        order (c + 1,), that order, and the grid (5,): cells per meter, cells along x and y, its corner.
    """
    room = 0
    for g in ids:
        room += solids.table[g].faces[1] - solids.table[g].faces[0]
    corners, count = np.empty((room, 3, 3)), 0
    for g in range(len(ids)):
        solid, faces, rotation = solids.table[ids[g]], solids.faces, rotations[g]
        first, last = solid.vertices
        here = np.empty((last - first, 3))
        for v in range(last - first):
            x, y, z = solids.vertices[first + v]
            for i in range(3):
                here[v, i] = positions[g, i] + rotation[i, 0] * x + rotation[i, 1] * y + rotation[i, 2] * z
        for f in range(solid.faces[0], solid.faces[1]):
            inside = True
            for i in range(3):
                a, b = here[faces[f, 0] - first, i], here[faces[f, 1] - first, i]
                c = here[faces[f, 2] - first, i]
                inside &= min(a, b, c) <= high[i] and max(a, b, c) >= low[i]
            if inside:
                for k in range(3):
                    corners[count, k] = here[faces[f, k] - first]
                count += 1
    corners = corners[:count]

    width, depth = max(high[0] - low[0], 1e-9), max(high[1] - low[1], 1e-9)
    scale = np.sqrt(min(max(count, 1), _MOST_CELLS) / (width * depth))
    nx, ny = max(1, min(int(width * scale), _MOST_CELLS)), max(1, min(int(depth * scale), _MOST_CELLS))
    begin = np.zeros(nx * ny + 1, np.int64)
    order = np.empty(0, np.int64)
    for filling in range(2):
        for t in range(count):
            i0, i1 = _range(corners[t, :, 0], low[0], scale, nx)
            j0, j1 = _range(corners[t, :, 1], low[1], scale, ny)
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
def _range(values, low, scale, cells):
    first = int(np.floor((min(values[0], values[1], values[2]) - low) * scale))
    last = int(np.floor((max(values[0], values[1], values[2]) - low) * scale))
    return max(0, min(first, cells - 1)), max(0, min(last, cells - 1))


@kernel
def highest_below(corners, begin, order, grid, x, y, top):
    """Return the height z of the highest triangle at (x, y) that is not above ``top``; -inf where none is.

    The arguments before are those of `bin_triangles`.
    """
    i, j = int(np.floor((x - grid[3]) * grid[0])), int(np.floor((y - grid[4]) * grid[0]))
    if i < 0 or j < 0 or i >= grid[1] or j >= grid[2]:
        return -np.inf
    cell = i * int(grid[2]) + j
    best = -np.inf
    for e in range(begin[cell], begin[cell + 1]):
        a, b, c = corners[order[e]]
        ux, uy, vx, vy = b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]
        area = ux * vy - uy * vx
        if area == 0.0:
            continue
        px, py = x - a[0], y - a[1]
        s, t = (px * vy - py * vx) / area, (ux * py - uy * px) / area
        if s < 0.0 or t < 0.0 or s + t > 1.0:
            continue
        z = a[2] + s * (b[2] - a[2]) + t * (c[2] - a[2])
        if best < z <= top:
            best = z
    return best

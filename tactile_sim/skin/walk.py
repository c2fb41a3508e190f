"""Find the taxels around a load by walking over the skin from the nearest taxel.

Distances are either straight or along the surface. For distances along the surface, summing up edge lengths
is not accurate enough: on a triangle mesh, it overestimates distances in some directions by up to 40 %.
Therefore each step updates the vector from the load to the taxel in the tangent plane (the discrete
exponential map of R. Schmidt, C. Grimm, B. Wyvill, Interactive Decal Compositing with Discrete Exponential
Maps, SIGGRAPH 2006): the vector is rotated with the plane from one taxel to the next, and the flattened edge
is added. The length of the vector is the distance. This is exact on flat parts. Up to five spacings away,
it is within 2 % of the true distance on spheres and cylinders with radii of at least four spacings (4 % for
at least two), and within 0.2 spacings across the edges of a box.
"""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.skin.patches import SPACING, faces, find_nearest


@kernel(counted=False)
def walk(load, reach, spacings, extents, index, out):
    """Find the taxels around a load by walking over the skin.

    The first taxel is the one that receives the load, at any distance. The others face the load, are
    connected to the first by a path over such taxels, and are within ``reach`` plus ``spacings`` times the
    spacing of the first taxel's pad, or its distance if it is farther away, at most the patch's spacing.

    Args:
        load: The load, an entry of `loads.LOAD`.
        reach: Maximum distance [m], see above.
        spacings: Additional distance in spacings, see above.
        extents: (n, 3) array with the columns AREA, SPACING and LIMIT of `patches`.
        index: The skin's `TaxelIndex`. Distances [m] are written to its ``scratch_distance``, which the
            caller must reset to infinity.
        out: Output: indices of the taxels in the skin.

    Returns:
        The number of taxels, or -1 if ``out`` is too small.
    """
    start, square = find_nearest(load, index), 0.0
    for i in range(3):
        square += (index.positions[start, i] - load.point[i]) ** 2
    reach += spacings * min(max(extents[start, SPACING], np.sqrt(square)), index.patches[load.patch].spacing)
    if len(index.scratch_heap):
        return _walk_along(load, start, reach, index, out)
    return _walk_straight(load, start, reach, index, out)


@kernel(counted=False)
def _walk_straight(load, start, reach, index, queue):
    """Find the taxels for `walk` by a breadth-first search, with straight distances.

    Returns:
        The number of taxels, or -1 if ``queue`` is too small.
    """
    positions, normals, far = index.positions, index.normals, index.scratch_distance
    x, y, z = load.point[0], load.point[1], load.point[2]
    dx, dy, dz = positions[start, 0] - x, positions[start, 1] - y, positions[start, 2] - z
    if len(queue) == 0:
        return -1
    queue[0], far[start] = start, np.sqrt(dx * dx + dy * dy + dz * dz)
    head, tail = 0, 1
    while head < tail:
        taxel = queue[head]
        head += 1
        for e in range(index.begin[taxel], index.begin[taxel + 1]):
            q = index.neighbour_ids[e]
            if far[q] < np.inf:
                continue
            dx, dy, dz = positions[q, 0] - x, positions[q, 1] - y, positions[q, 2] - z
            d = dx * dx + dy * dy + dz * dz
            if d <= reach * reach and d < np.inf and faces(normals, q, load.normal):
                if tail == len(queue):
                    return -1
                far[q] = np.sqrt(d)
                queue[tail] = q
                tail += 1
    return tail


@kernel
def _walk_along(load, start, reach, index, queue):
    """Find the taxels for `walk` by Dijkstra's algorithm, with distances along the surface.

    Returns:
        The number of taxels, or -1 if ``queue`` is too small.
    """
    positions, normals, far, heap, vector = (
        index.positions, index.normals, index.scratch_distance, index.scratch_heap, index.scratch_vector,
    )  # fmt: skip
    n = normals[start].copy()
    if load.normal[0] != 0.0 or load.normal[1] != 0.0 or load.normal[2] != 0.0:
        for i in range(3):
            n[i] = -load.normal[i]
    # The load is assumed to be on the surface, so the first step's component along the normal is removed.
    dx = positions[start, 0] - load.point[0]
    dy = positions[start, 1] - load.point[1]
    dz = positions[start, 2] - load.point[2]
    height = dx * n[0] + dy * n[1] + dz * n[2]
    vx, vy, vz = _turned(dx - height * n[0], dy - height * n[1], dz - height * n[2], n, normals[start])
    if not abs(vx) + abs(vy) + abs(vz) < 1e100:
        vx, vy, vz = 0.0, 0.0, 0.0
    vector[start, 0], vector[start, 1], vector[start, 2] = vx, vy, vz
    far[start] = np.sqrt(vx * vx + vy * vy + vz * vz)
    size = _push(heap, 0, far[start], start)
    tail = 0
    middle = np.empty(3)
    while size > 0:
        distance, taxel = heap[0, 0], int(heap[0, 1])
        size = _pop(heap, size)
        if distance > far[taxel]:
            continue
        if tail == len(queue):
            return -1
        queue[tail] = taxel
        tail += 1
        v = vector[taxel]
        for e in range(index.begin[taxel], index.begin[taxel + 1]):
            q = index.neighbour_ids[e]
            if far[q] <= distance or not faces(normals, q, load.normal):
                continue
            # Rotate the vector into the plane midway between the two tangent planes, and project the edge
            # onto it without changing its length.
            length = 0.0
            for i in range(3):
                middle[i] = normals[taxel, i] + normals[q, i]
                length += middle[i] * middle[i]
            scale = 1.0 / np.sqrt(length) if length > 1e-12 else 0.0
            ex = positions[q, 0] - positions[taxel, 0]
            ey = positions[q, 1] - positions[taxel, 1]
            ez = positions[q, 2] - positions[taxel, 2]
            edge = ex * ex + ey * ey + ez * ez
            for i in range(3):
                middle[i] *= scale
            height = ex * middle[0] + ey * middle[1] + ez * middle[2]
            flat = edge - height * height
            stretch = np.sqrt(edge / flat) if flat > 1e-6 * edge else 1.0
            vx, vy, vz = _turned(v[0], v[1], v[2], normals[taxel], middle)
            vx += stretch * (ex - height * middle[0])
            vy += stretch * (ey - height * middle[1])
            vz += stretch * (ez - height * middle[2])
            d = max(np.sqrt(vx * vx + vy * vy + vz * vz), distance)
            if d <= reach and d < far[q]:
                far[q] = d
                vector[q, 0], vector[q, 1], vector[q, 2] = _turned(vx, vy, vz, middle, normals[q])
                size = _push(heap, size, d, q)
    return tail


@kernel(counted=False)
def _turned(x, y, z, a, b):
    """Rotate a vector (x, y, z), normal to the unit vector a, by the shortest rotation from a to b."""
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    if cosine < -0.99:
        return x, y, z
    k = (b[0] * x + b[1] * y + b[2] * z) / (1.0 + cosine)
    return x - k * (a[0] + b[0]), y - k * (a[1] + b[1]), z - k * (a[2] + b[2])


@kernel(counted=False)
def _push(heap, size, key, value):
    """Push an entry onto a binary heap, smallest key first; return the new size.

    Args:
        heap: Rows (key, value), modified in place.
        size: Number of entries so far.
        key: Key of the new entry.
        value: Value of the new entry.
    """
    at = size
    while at > 0 and heap[(at - 1) // 2, 0] > key:
        parent = (at - 1) // 2
        heap[at, 0], heap[at, 1] = heap[parent, 0], heap[parent, 1]
        at = parent
    heap[at, 0], heap[at, 1] = key, value
    return size + 1


@kernel(counted=False)
def _pop(heap, size):
    """Remove the entry with the smallest key from a heap as in `_push`, in place; return the new size."""
    last = size - 1
    key, value = heap[last, 0], heap[last, 1]
    at = 0
    while 2 * at + 1 < last:
        child = 2 * at + 1
        if child + 1 < last and heap[child + 1, 0] < heap[child, 0]:
            child += 1
        if heap[child, 0] >= key:
            break
        heap[at, 0], heap[at, 1] = heap[child, 0], heap[child, 1]
        at = child
    heap[at, 0], heap[at, 1] = key, value
    return last

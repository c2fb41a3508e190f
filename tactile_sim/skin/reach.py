"""Find the taxels in reach of a solid, using a tree, and transform them to the frame of a `Pair`."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.solids import PLANE, SPHERE

FACING = 0.2
"""Minimum cosine between a point's outward normal and the direction to the other surface."""


@kernel(inline="always")
def taxels_around(load, solid, pair, quad, reach, layer, count):
    """Append to the layer the taxels of a patch that are near a solid and face it.

    Args:
        load: A load from the solid on the patch, an entry of `loads.LOAD`.
        solid: The solid, an entry of `SOLID`.
        pair: The `Pair`.
        quad: The skin's `Quadrature`.
        reach: Distance from the solid within which all taxels are found [m]. Some that are farther away are
            also found.
        layer: A `Layer`; ``near``, ``taxel`` and ``gap`` are modified in place.
        count: Number of taxels in the layer before the call.

    Returns:
        The number of taxels in the layer after the call.
    """
    nodes, node_normals, cells = quad.nodes, quad.node_normals, quad.taxels
    gap, taxel, near = layer.gap, layer.taxel, layer.near
    rotation, position, kind = load.other_rotation, load.other_position, solid.kind
    plane, ball, px, py, pz = kind == PLANE, kind == SPHERE, position[0], position[1], position[2]
    farthest = (solid.size[0] + reach) ** 2 if ball else np.inf
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
        facing = -(node_normals[k, 0] * nx + node_normals[k, 1] * ny + node_normals[k, 2] * nz)
        facing += abs(node_normals[k, 3] * nx) + abs(node_normals[k, 4] * ny) + abs(node_normals[k, 5] * nz)
        dx, dy, dz = abs(node.x - cx) - node.hx, abs(node.y - cy) - node.hy, abs(node.z - cz) - node.hz
        if plane:
            height = up_x * node.x + up_y * node.y + up_z * node.z
            beyond = height - abs(up_x) * node.hx - abs(up_y) * node.hy - abs(up_z) * node.hz > limit
        elif ball:
            dx, dy, dz = max(dx, 0.0), max(dy, 0.0), max(dz, 0.0)
            beyond = dx * dx + dy * dy + dz * dz > farthest
        else:
            beyond = dx > hx or dy > hy or dz > hz
        if beyond or facing <= FACING:
            k = node.skip
            continue
        for c in range(node.first, node.last):
            cell = cells[c]
            if plane:
                beyond = up_x * cell.x + up_y * cell.y + up_z * cell.z > limit
            else:
                beyond = (cell.x - px) ** 2 + (cell.y - py) ** 2 + (cell.z - pz) ** 2 > farthest
            if beyond or gap[c] != np.inf:
                continue
            cosine = -(cell.nx * nx + cell.ny * ny + cell.nz * nz)
            if cosine > FACING or (cell.nx == 0.0 and cell.ny == 0.0 and cell.nz == 0.0):
                x, y, z = cell.x - ox, cell.y - oy, cell.z - oz
                near[0, count] = ux * x + uy * y + uz * z
                near[1, count] = vx * x + vy * y + vz * z
                near[2, count] = nx * x + ny * y + nz * z
                near[4, count], near[5, count], near[6, count] = cosine, cell.area, cell.margin
                taxel[count], gap[c] = c, 0.0
                count += 1
        k += 1
    return count


@kernel(counted=False)
def _extent(axis, rotation, position, solid, reach):
    """Return the centre and half-size of a solid's bounding box along an axis of the body [m].

    Args:
        axis: 0, 1 or 2.
        rotation: (3, 3) rotation from the frame of the solid to that of the body.
        position: (3,) position of the solid in the frame of the body [m].
        solid: An entry of `SOLID`.
        reach: Margin that is added to the half-size [m].
    """
    center, half = position[axis], reach
    for k in range(3):
        center += rotation[axis, k] * solid.center[k]
        half += abs(rotation[axis, k]) * solid.half[k]
    return center, half


@kernel(counted=False)
def take(cell, k, cosine, pair, taxel, near, count):
    """Append a taxel to the taxels that are near the other body. Its gap is not written.

    Args:
        cell: The taxel, an entry of `quadrature.TAXEL`.
        k: Index of the taxel in `Quadrature.taxels`.
        cosine: Cosine between the taxel's inward normal and the pair's normal.
        pair: The `Pair`.
        taxel: `Layer.taxel`, modified in place.
        near: `Layer.near`, modified in place.
        count: Number of taxels that were already appended.
    """
    place(cell.x, cell.y, cell.z, pair, near, count)
    near[4, count], near[5, count], near[6, count], taxel[count] = cosine, cell.area, cell.margin, k


@kernel(counted=False)
def place(x, y, z, pair, out, e):
    """Transform a point from the body's frame to the frame of a `Pair`.

    Args:
        x: x component of the point in the body's frame [m].
        y: y component [m].
        z: z component [m].
        pair: The `Pair`.
        out: Output; the three coordinates [m] are written to its first three rows.
        e: Column of ``out`` to write.
    """
    (ux, uy, uz), (vx, vy, vz), (nx, ny, nz) = pair.axes
    x, y, z = x - pair.origin[0], y - pair.origin[1], z - pair.origin[2]
    out[0, e], out[1, e], out[2, e] = (
        ux * x + uy * y + uz * z,
        vx * x + vy * y + vz * z,
        nx * x + ny * y + nz * z,
    )

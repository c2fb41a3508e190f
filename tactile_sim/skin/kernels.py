"""Plain loops over contacts and taxels, compiled.

Taxels are found over one grid a body (see `Grids`); all indices of taxels run over the whole skin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tactile_sim.skin.grid import cell_size, sort_into_cells

FACING = 0.3
"""A taxel whose outward normal has this cosine or more with the load's direction is on the other side."""


class Grids(NamedTuple):
    """A grid of cells over each body's taxels."""

    corner: np.ndarray
    """(b, 3) of each grid, body frame [m]."""
    cell: np.ndarray
    """(b,) edge of the cells [m]."""
    shape: np.ndarray
    """(b, 3) cells along each axis."""
    base: np.ndarray
    """(b,) where the cells of each body begin in `first`."""
    first: np.ndarray
    """Where the taxels of each cell begin in `order`; one more entry after the cells of each body."""
    order: np.ndarray
    """(n,) taxels, cell after cell."""


def make_grids(positions: np.ndarray, offsets: np.ndarray, spacings: np.ndarray) -> Grids:
    """Grids over taxels (n, 3); those of body b are [offsets[b], offsets[b + 1])."""
    number = len(spacings)
    corner, cell = np.empty((number, 3)), np.empty(number)
    shape, base = np.empty((number, 3), np.int64), np.empty(number, np.int64)
    firsts, orders = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for b in range(number):
        taxels = positions[offsets[b] : offsets[b + 1]]
        cell[b] = cell_size(taxels, spacings[b])
        corner[b], shape[b], first, order = sort_into_cells(taxels, cell[b])
        base[b] = sum(map(len, firsts))
        firsts.append(first + offsets[b])
        orders.append(order + offsets[b])
    return Grids(corner, cell, shape, base, np.concatenate(firsts), np.concatenate(orders))


@njit(cache=True)
def resolve_loads(
    position, frame, distance, bodies, wrench_world, slot, body_positions, body_rotations,
    out_contact, out_body, out_point, out_force, out_force_world, out_normal,
):  # fmt: skip
    """Writes what contacts put on the bodies with skin (see `loads.Loads`); returns how many loads there are.

    slot (nbody,): index of each body in the skin, or -1.
    """
    m = 0
    for c in range(len(distance)):
        for side in range(2):
            body = bodies[c, side]
            if body < 0 or slot[body] < 0:
                continue
            # The normal points from object 1 to 2, so it leads out of 1 and into 2. The position is midway,
            # half of the distance from each surface: that of 2 ahead, that of 1 behind; in penetration
            # (negative) the other way round.
            sign = 1.0 if side == 1 else -1.0
            half = 0.5 * distance[c] * sign
            out_contact[m] = c
            out_body[m] = slot[body]
            for i in range(3):
                point, force, normal = 0.0, 0.0, 0.0
                for k in range(3):
                    to_body = body_rotations[body, k, i]
                    world = position[c, k] + half * frame[c, 0, k]
                    point += to_body * (world - body_positions[body, k])
                    force += to_body * wrench_world[c, k]
                    normal += to_body * frame[c, 0, k]
                out_point[m, i] = point
                out_force[m, i] = sign * force
                out_force_world[m, i] = sign * wrench_world[c, i]
                out_normal[m, i] = sign * normal
            m += 1
    return m


@njit(cache=True)
def net_wrenches(position, bodies, wrench_world, slot, body_positions, body_rotations, out):
    """Adds to out (b, 6) the force and the torque about each body's origin, in its frame, of all contacts."""
    for c in range(len(position)):
        for side in range(2):
            body = bodies[c, side]
            if body < 0 or slot[body] < 0:
                continue
            sign = 1.0 if side == 1 else -1.0
            fx, fy, fz = sign * wrench_world[c, 0], sign * wrench_world[c, 1], sign * wrench_world[c, 2]
            rx = position[c, 0] - body_positions[body, 0]
            ry = position[c, 1] - body_positions[body, 1]
            rz = position[c, 2] - body_positions[body, 2]
            tx = sign * wrench_world[c, 3] + ry * fz - rz * fy
            ty = sign * wrench_world[c, 4] + rz * fx - rx * fz
            tz = sign * wrench_world[c, 5] + rx * fy - ry * fx
            rotation = body_rotations[body]
            for i in range(3):
                out[slot[body], i] += rotation[0, i] * fx + rotation[1, i] * fy + rotation[2, i] * fz
                out[slot[body], 3 + i] += rotation[0, i] * tx + rotation[1, i] * ty + rotation[2, i] * tz


@njit(cache=True)
def nearest_taxels(body, point, normal, positions, normals, spacings, grids):
    """(m,) the taxel that takes each load; see `responses` for the rule."""
    out = np.empty(len(body), np.int64)
    for m in range(len(body)):
        b = body[m]
        x, y, z = point[m]
        if not abs(x) + abs(y) + abs(z) < 1e100:
            # Where physics blew up, no taxel is nearer than another.
            out[m] = grids.order[grids.first[grids.base[b]]]
            continue
        reach = 2.0 * spacings[b]
        radius = spacings[b]
        while True:
            best, best_d, facing, facing_d = -1, np.inf, -1, np.inf
            i0, i1 = _cells(x, radius, grids.corner[b, 0], grids.cell[b], grids.shape[b, 0])
            j0, j1 = _cells(y, radius, grids.corner[b, 1], grids.cell[b], grids.shape[b, 1])
            k0, k1 = _cells(z, radius, grids.corner[b, 2], grids.cell[b], grids.shape[b, 2])
            for i in range(i0, i1):
                for j in range(j0, j1):
                    row = grids.base[b] + (i * grids.shape[b, 1] + j) * grids.shape[b, 2]
                    for e in range(grids.first[row + k0], grids.first[row + k1]):
                        q = grids.order[e]
                        dx, dy, dz = positions[q, 0] - x, positions[q, 1] - y, positions[q, 2] - z
                        d = dx * dx + dy * dy + dz * dz
                        if d < best_d or (d == best_d and q < best):
                            best, best_d = q, d
                        if (d < facing_d or (d == facing_d and q < facing)) and _faces(normals, q, normal, m):
                            facing, facing_d = q, d
            if facing >= 0 and facing_d <= min(radius, reach) ** 2:
                out[m] = facing
                break
            all_seen = (i1 - i0) * (j1 - j0) * (k1 - k0) == grids.shape[b].prod()
            if radius >= reach and (all_seen or (best >= 0 and best_d <= radius * radius)):
                out[m] = best
                break
            radius *= 2.0
    return out


@njit(cache=True)
def add_linear(taxel, body, point, normal, values, positions, normals, spacings, begin, lists, out):
    """Adds values (m, c) to the taxels (n, c) around those that take them; see `responses.spread_linear`."""
    weights = np.empty(64)
    for m in range(len(taxel)):
        t = taxel[m]
        reach = 2.0 * spacings[body[m]]
        length = begin[t + 1] - begin[t]
        if length > len(weights):
            weights = np.empty(2 * length)
        total = 0.0
        for e in range(length):
            q = lists[begin[t] + e]
            dx = positions[q, 0] - point[m, 0]
            dy = positions[q, 1] - point[m, 1]
            dz = positions[q, 2] - point[m, 2]
            weight = 1.0 - np.sqrt(dx * dx + dy * dy + dz * dz) / reach
            weights[e] = weight if weight > 0.0 and (q == t or _faces(normals, q, normal, m)) else 0.0
            total += weights[e]
        if total == 0.0:
            weights[0] = total = 1.0
        for e in range(length):
            if weights[e] > 0.0:
                for c in range(values.shape[1]):
                    out[lists[begin[t] + e], c] += weights[e] / total * values[m, c]


@njit(cache=True)
def add_at(taxel, values, out):
    """Adds values (m, c) to the rows of out (n, c) that taxel (m,) names."""
    for m in range(len(taxel)):
        for c in range(values.shape[1]):
            out[taxel[m], c] += values[m, c]


@njit(cache=True)
def place_in_world(vectors, offsets, body_ids, translations, rotations, out):
    """Rotates and moves vectors (n, 3) of body frames by the pose of their bodies, into out (n, 3)."""
    for b in range(len(body_ids)):
        r, t = rotations[body_ids[b]], translations[body_ids[b]]
        for q in range(offsets[b], offsets[b + 1]):
            x, y, z = vectors[q, 0], vectors[q, 1], vectors[q, 2]
            out[q, 0] = r[0, 0] * x + r[0, 1] * y + r[0, 2] * z + t[0]
            out[q, 1] = r[1, 0] * x + r[1, 1] * y + r[1, 2] * z + t[1]
            out[q, 2] = r[2, 0] * x + r[2, 1] * y + r[2, 2] * z + t[2]


@njit(cache=True)
def _faces(normals, taxel, load_normal, m):
    n, f = normals[taxel], load_normal[m]
    return n[0] * f[0] + n[1] * f[1] + n[2] * f[2] < FACING


@njit(cache=True)
def _cells(x, radius, corner, cell, number):
    """The range of cells along one axis that [x - radius, x + radius] meets; at least the one at its end."""
    low = int(min(max(np.floor((x - radius - corner) / cell), 0.0), number - 1.0))
    high = int(min(max(np.floor((x + radius - corner) / cell), 0.0), number - 1.0))
    return low, high + 1

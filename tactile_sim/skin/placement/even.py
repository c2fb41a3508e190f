"""Placement `even`: about one taxel per spacing² of a geom's surface, each exactly on the surface.

For random sizes with all half-sizes at least twice the spacing, the distance from a taxel to its nearest
neighbor, relative to the spacing, is 0.87 to 1.0 on spheres and capsules, 0.84 to 1.08 on ellipsoids, 0.8 to
1.15 on boxes and 0.68 to 1.25 on cylinders. On the hulls of meshes, it is 0.7 to 1.09 for 99.8 % of the
taxels, and down to 0.2 at acute corners.
Parts thinner than the spacing have taxels on both sides, separated by only the thickness of the part. Geoms
smaller than the spacing have six to eight taxels. The number of taxels equals area / spacing² within 3 % if
it is above 500 and no part is thinner than the spacing. Placement is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from tactile_sim import _core
from tactile_sim.skin.placement.relax import relax
from tactile_sim.skin.placement.shapes import Shape, ellipsoid_element, sphere_grid
from tactile_sim.skin.placement.surface import Surface
from tactile_sim.skin.placement.triangulate import triangulate

GOLDEN = (np.sqrt(5) - 1) / 2
"""Angle between consecutive points of a spiral [turns]. The golden ratio keeps all points apart."""
FEWEST = 6
"""Minimum number of taxels on a geom smaller than the spacing, to cover all directions."""


def cover(shape: Shape, spacing: float) -> Surface:
    """Place taxels on a geom; return them in its body's frame.

    Args:
        shape: The geom.
        spacing: Distance between taxels [m].
    """
    return PLACE[shape.kind](shape, spacing).moved(shape.rotation, shape.position)


def _box(shape: Shape, spacing: float) -> Surface:
    """Place a grid on each face; adjacent faces share the taxels on edges and corners."""
    n = _box_intervals(2 * shape.size / spacing)
    stride = np.array([(n[1] + 1) * (n[2] + 1), n[2] + 1, 1])
    keys, normals, areas, quads = [], [], [], []
    for axis, side in product(range(3), (0, 1)):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        ijk = np.empty((n[u] + 1, n[v] + 1, 3), np.int64)
        ijk[..., axis] = side * n[axis]
        ijk[..., u], ijk[..., v] = np.indices(ijk.shape[:2])
        key = ijk @ stride
        keys.append(key.ravel())
        normals.append(np.tile((2 * side - 1) * np.eye(3)[axis], (key.size, 1)))
        # A quad's area is divided equally between its four corners.
        share_u, share_v = (np.r_[1, np.full(n[w] - 1, 2), 1] / (2 * n[w]) for w in (u, v))
        areas.append(4 * shape.size[u] * shape.size[v] * np.outer(share_u, share_v).ravel())
        a, b, c, d = key[:-1, :-1].ravel(), key[1:, :-1].ravel(), key[1:, 1:].ravel(), key[:-1, 1:].ravel()
        quads.append(np.stack([a, b, c, d] if side else [a, d, c, b], axis=1))
    taxels, index = np.unique(np.concatenate(keys), return_inverse=True)
    summed = np.zeros((len(taxels), 3))
    np.add.at(summed, index, np.concatenate(normals))
    corners = np.searchsorted(taxels, np.concatenate(quads))
    ijk = np.stack(np.unravel_index(taxels, n + 1), axis=1)
    return Surface(
        shape.size * (2 * ijk / n - 1),
        summed / np.linalg.norm(summed, axis=1, keepdims=True),
        np.bincount(index, np.concatenate(areas)),
        np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]]),
    )


def _box_intervals(lengths: np.ndarray) -> np.ndarray:
    """Return the number of intervals along each axis of a box.

    Lengths are rounded up or down such that the number of taxels is close to one per spacing². The number of
    taxels takes priority over equal spacing along the axes.

    Args:
        lengths: Lengths (3,) of the edges in spacings.
    """
    choices = [
        np.unique(np.maximum(1, np.round(np.r_[length + [-1, 0, 1], length * np.linspace(0.8, 1.25, 19)])))
        for length in lengths
    ]
    n = np.stack(np.meshgrid(*choices, indexing="ij"), axis=-1).reshape(-1, 3)
    a, b, c = lengths
    number = 2 * (n[:, 0] * n[:, 1] + n[:, 1] * n[:, 2] + n[:, 2] * n[:, 0]) + 2
    wanted = max(2 * (a * b + b * c + c * a), 8.0)
    misfit = 10 * np.log(number / wanted) ** 2 + (np.log(n / np.maximum(lengths, 1)) ** 2).sum(axis=1)
    return n[np.argmin(misfit)].astype(np.int64)


def _cylinder(shape: Shape, spacing: float) -> Surface:
    """Place concentric rings on the caps and staggered rings on the side; caps and side share the rims."""
    radius, half = shape.size[:2]
    discs = max(1, round(radius / spacing))
    rim = max(3, round(2 * np.pi * radius / spacing))
    bands = max(1, round(4 * np.pi * radius * half / (rim * spacing**2)), round(half / spacing))
    cap = radius * np.arange(discs) / discs
    width = radius / discs
    per_ring = 2 * np.pi * width / spacing**2
    # Fewer taxels inside the faces compensate for the surplus on the shared rims.
    wanted = (shape.area / spacing**2 - rim * (bands + 1)) / 2 - 1
    share = np.clip(wanted / max(cap.sum(), 1e-9), 0.85 * per_ring, 1.15 * per_ring)
    in_ring = np.maximum(np.round(cap * share), 3).astype(np.int64)
    in_ring[0] = 1
    on_cap = 2 * np.pi * cap * width
    on_cap[0] = np.pi * (width / 2) ** 2
    side = 4 * np.pi * radius * half / bands
    rim_area = np.pi * (radius**2 - (radius - width / 2) ** 2) + side / 2

    # Rings along the outline, from the center of the lower cap to that of the upper cap.
    count = np.r_[in_ring, np.full(bands + 1, rim), in_ring[::-1]]
    r = np.r_[cap, np.full(bands + 1, radius), cap[::-1]]
    z = np.r_[np.full(discs, -half), np.linspace(-half, half, bands + 1), np.full(discs, half)]
    area = np.r_[on_cap, rim_area, np.full(bands - 1, side), rim_area, on_cap[::-1]]
    out = np.r_[np.zeros(discs), np.sqrt(0.5), np.ones(bands - 1), np.sqrt(0.5), np.zeros(discs)]
    up = np.r_[np.full(discs, -1), -np.sqrt(0.5), np.zeros(bands - 1), np.sqrt(0.5), np.ones(discs)]
    phase = (np.arange(len(count)) % 2) / (2 * count)

    first = np.r_[0, np.cumsum(count)]
    ring = np.repeat(np.arange(len(count)), count)
    azimuth = 2 * np.pi * ((np.arange(first[-1]) - first[ring]) / count[ring] + phase[ring])
    cos, sin = np.cos(azimuth), np.sin(azimuth)
    return Surface(
        np.stack([r[ring] * cos, r[ring] * sin, z[ring]], axis=1),
        np.stack([out[ring] * cos, out[ring] * sin, up[ring]], axis=1),
        (area / count)[ring],
        np.concatenate(
            [
                _core.zip_rings(first[i], count[i], phase[i], first[i + 1], count[i + 1], phase[i + 1])
                for i in range(len(count) - 1)
            ]
        ),
    )


def _capsule(shape: Shape, spacing: float) -> Surface:
    """Place a golden spiral from tip to tip; a sphere is a capsule without a cylinder.

    On a sphere and on a cylinder, the area between two heights is 2π · radius times their difference
    (Archimedes), so equal steps along the axis have equal areas. The golden angle keeps neighbors apart by
    at least 0.87 times the square root of the area of a step, because the golden ratio is badly approximable
    by fractions.
    """
    radius = shape.size[0]
    half = shape.size[1] if shape.kind == "capsule" else 0.0
    n = max(FEWEST, round(shape.area / spacing**2), round(2 * (half + radius) / spacing))
    # Move the first and last taxel toward the tips, to avoid a hole there.
    height = np.linspace(1, -1, n) * (1 - 0.74 / n)
    z = height * (half + radius)
    azimuth = 2 * np.pi * ((GOLDEN * np.arange(n)) % 1.0)
    axial = np.clip(z, -half, half)
    up = (z - axial) / radius
    out = np.sqrt(1 - up**2)
    normals = np.stack([out * np.cos(azimuth), out * np.sin(azimuth), up], axis=1)
    positions = radius * normals
    positions[:, 2] += axial
    return Surface(positions, normals, np.full(n, shape.area / n), triangulate(positions, normals))


def _ellipsoid(shape: Shape, spacing: float) -> Surface:
    """Place evenly sampled points and relax them."""
    n = max(FEWEST, round(shape.area / spacing**2))
    along = (np.argmax(shape.size) + np.arange(1, 4)) % 3
    radii = shape.size[along]
    # Heights divide the area equally; golden steps through the cumulative area determine the azimuths about
    # the longest axis.
    height, azimuth = sphere_grid()
    element = ellipsoid_element(radii, height, azimuth)
    up_to = np.r_[0, np.cumsum(element.sum(axis=1))]
    level = np.interp((np.arange(n) + 0.5) / n * up_to[-1], up_to, np.linspace(-1, 1, len(up_to)))
    row = np.minimum(((level + 1) / 2 * len(element)).astype(int), len(element) - 1)
    around = np.concatenate([np.zeros((len(element), 1)), np.cumsum(element, axis=1)], axis=1)
    share = (GOLDEN * np.arange(n)) % 1.0
    turn = 2 * np.pi * _interp_rows(share * around[row, -1], around, row) / element.shape[1]
    ring = np.sqrt(1 - level**2)
    start = radii * np.stack([ring * np.cos(turn), ring * np.sin(turn), level], axis=1)

    def project(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # Project onto the surface to first order, then exactly along the ray from the center.
        unit = points / radii
        stretch = np.linalg.norm(unit, axis=1, keepdims=True)
        slope = unit / radii
        unit -= slope / radii * (stretch * (stretch - 1) / (slope**2).sum(axis=1, keepdims=True))
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        normals = unit / radii
        return unit * radii, normals / np.linalg.norm(normals, axis=1, keepdims=True)

    return _relaxed(start, shape.area, project).moved(np.eye(3)[:, along], np.zeros(3))


def _mesh(shape: Shape, spacing: float) -> Surface:
    """Place evenly sampled points on the hull and relax them."""
    hull = shape.hull
    assert hull is not None, "meshes have a hull"
    n = max(FEWEST, round(shape.area / spacing**2))
    # Sort the faces by height and divide their cumulative area equally; take golden steps within a face
    # (the two-dimensional golden ratio is the root of x³ = x + 1).
    order = np.argsort(hull.vertices[hull.faces, np.argmax(shape.size)].mean(axis=1), kind="stable")
    up_to = np.cumsum(hull.face_areas[order])
    face = hull.faces[order[np.searchsorted(up_to, (np.arange(n) + 0.5) / n * up_to[-1])]]
    plastic = 1.324717957244746
    s, t = (np.arange(n) / plastic) % 1.0, (np.arange(n) / plastic**2) % 1.0
    s = np.sqrt(s)
    weights = np.stack([1 - s, s * (1 - t), s * t], axis=1)
    start = np.einsum("nk,nki->ni", weights, hull.vertices[face])
    center = start.mean(axis=0)
    offsets = hull.offsets - hull.normals @ center
    at = np.zeros(n, np.int64)

    def project(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _core.project_to_hull(points, at, hull.normals, offsets, hull.first, hull.beside)

    return _relaxed(start - center, shape.area, project).moved(np.eye(3), center)


PLACE: dict[str, Callable[[Shape, float], Surface]] = {
    "sphere": _capsule,
    "capsule": _capsule,
    "cylinder": _cylinder,
    "ellipsoid": _ellipsoid,
    "box": _box,
    "mesh": _mesh,
}


def _relaxed(start: np.ndarray, area: float, project: Callable) -> Surface:
    positions, normals = relax(start, float(np.sqrt(area / len(start))), project)
    triangles = triangulate(positions, normals)
    if len(triangles) == 0:
        return Surface(positions, normals, np.full(len(positions), area / len(positions)), triangles)
    a, b, c = np.moveaxis(positions[triangles], 1, 0)
    third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6
    areas = np.bincount(triangles.ravel(), np.repeat(third, 3), minlength=len(positions))
    # Flat triangles cut off part of the curved surface; the missing area is distributed over all taxels.
    return Surface(positions, normals, areas * (area / areas.sum()), triangles)


def _interp_rows(x: np.ndarray, tables: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Return the fractional index (n,) at which each value occurs in an increasing table.

    Args:
        x: Values (n,).
        tables: Tables (rows, m), one in each row.
        row: Row (n,) of the table for each value.
    """
    out = np.empty(len(x))
    for r in np.unique(row):
        out[row == r] = np.interp(x[row == r], tables[r], np.arange(tables.shape[1]))
    return out

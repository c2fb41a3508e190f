"""Unwrap a mesh without UV coordinates.

Each face is assigned to the axis direction (one of six) that is nearest to its normal. Connected faces with
the same direction form a chart, which is projected along that axis; faces that would hide others go into
another chart. Charts are packed in rows at one scale. Therefore, nothing overlaps, and a length on the map
is at least 0.58 times the corresponding length on the surface.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tactile_sim import _core
from tactile_sim.uv.primitive_uv import SIDES

ROW = 1.15
"""Width of the map relative to the side of a square with the area of all charts."""


def unwrap(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return UV coordinates for a mesh.

    Args:
        corners: (t, 3, 3) corners of the triangles, counter-clockwise seen from outside [m].

    Returns:
        u and v (t, 3, 2) of the corners, and the size (2,) of the map [m].
    """
    a, b, c = np.moveaxis(corners, 1, 0)
    across = np.cross(b - a, c - a)
    label = np.argmax(across @ SIDES[:, 0].T, axis=1)
    flat = np.einsum("tik,tjk->tji", SIDES[label, 1:], corners)
    adjacent = _adjacent(corners)
    extent = np.ptp(corners.reshape(-1, 3), axis=0).max()
    chart = _charts(adjacent, label)
    layer, number = np.zeros(len(corners), np.int64), 0
    left = np.asarray(across.any(axis=1))
    while left.any():
        faces = np.flatnonzero(left)
        faces = faces[np.lexsort((flat[faces, :, 0].min(axis=1), chart[faces]))]
        covers = _core.covering_triangles(flat[faces], chart[faces], 1e-9 * extent)
        layer[faces] = number
        left[faces[covers == 0]] = False
        number += 1
    chart = _charts(adjacent, label * number + layer)
    return _pack(flat, chart)


def _adjacent(corners: np.ndarray) -> np.ndarray:
    """Return the indices of the two triangles at each shared edge (e, 2).

    Args:
        corners: (t, 3, 3) corners of all triangles [m].
    """
    _, vertex = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    triangles = vertex.reshape(-1, 3)
    edges = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2), axis=2).reshape(-1, 2)
    face = np.repeat(np.arange(len(triangles)), 3)
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    same = (edges[order[1:]] == edges[order[:-1]]).all(axis=1)
    return np.stack([face[order[:-1]][same], face[order[1:]][same]], axis=1)


def _charts(adjacent: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return the index (t,) of the chart that contains each triangle.

    Args:
        adjacent: (e, 2) pairs of triangles that share an edge.
        label: (t,) label of each triangle. Connected triangles with equal labels form a chart.
    """
    joined = adjacent[label[adjacent[:, 0]] == label[adjacent[:, 1]]]
    graph = coo_array((np.ones(len(joined), bool), joined.T), shape=(len(label), len(label)))
    return np.asarray(connected_components(graph, directed=False)[1])


def _pack(flat: np.ndarray, chart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pack charts in rows, highest first.

    Args:
        flat: (t, 3, 2) corners of the triangles, projected along the axis of their chart [m].
        chart: (t,) index of the chart that contains each triangle.

    Returns:
        u and v (t, 3, 2) of the triangles, and the size (2,) of the map [m].
    """
    count = chart.max() + 1
    low, high = np.full((count, 2), np.inf), np.full((count, 2), -np.inf)
    for corner in range(3):
        np.minimum.at(low, chart, flat[:, corner])
        np.maximum.at(high, chart, flat[:, corner])
    extent = high - low
    gap = 0.01 * np.sqrt(extent.prod(axis=1).sum() / count)
    width = max(extent[:, 0].max(), ROW * np.sqrt((extent + gap).prod(axis=1).sum()))
    place = np.empty((count, 2))
    x = top = row = 0.0
    for k in np.argsort(-extent[:, 1], kind="stable"):
        if x + extent[k, 0] > width * (1 + 1e-9):
            x, top, row = 0.0, top + row + gap, 0.0
        place[k] = x, -top - extent[k, 1]
        x, row = x + extent[k, 0] + gap, max(row, extent[k, 1])
    placed = flat + (place - low)[chart][:, None]
    first, last = placed.min(axis=(0, 1)), placed.max(axis=(0, 1))
    return (placed - first) / (last - first), last - first

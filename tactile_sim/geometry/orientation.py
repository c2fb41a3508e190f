"""Orient the triangles of a mesh outward, even if the file contains some the wrong way round."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components


def faces_outward(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the triangles of a mesh with corners in counterclockwise order as seen from outside.

    Triangles connected by shared edges form a shell. All of them get the orientation that most of the shell's
    area has. A closed shell that then faces inward is reversed, unless it lies within another closed shell,
    where it bounds a cavity. Open shells are only reversed together with the whole mesh. The triangles of a
    one-sided shell keep their relative orientation.

    Args:
        vertices: (v, 3) vertices [m]. Vertices at the same place count as one.
        faces: (f, 3) indices of the vertices of each triangle.

    Returns:
        (f, 3) indices of the vertices of each triangle; some triangles are reversed.
    """
    _, same = np.unique(vertices + 0.0, axis=0, return_inverse=True)
    shell, turned, is_closed = _shells(same.reshape(-1)[faces], _areas(vertices[faces]))
    corners = vertices[faces]
    volumes = np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    volumes[turned] *= -1.0
    if volumes.sum() < 0.0:
        turned, volumes = ~turned, -volumes
    inward = np.flatnonzero(is_closed & (np.bincount(shell, volumes, len(is_closed)) < 0.0))
    if len(inward):
        low, high = np.full((2, len(is_closed), 3), [[[np.inf]], [[-np.inf]]])
        np.minimum.at(low, shell, corners.min(axis=1))
        np.maximum.at(high, shell, corners.max(axis=1))
        low[~is_closed], high[~is_closed] = np.inf, -np.inf
        is_cavity = [np.any((low < low[n]).all(axis=1) & (high > high[n]).all(axis=1)) for n in inward]
        turned ^= np.isin(shell, inward[~np.array(is_cavity)])
    return np.where(turned[:, None], faces[:, ::-1], faces)


def _areas(corners: np.ndarray) -> np.ndarray:
    """Return twice the area [m2] of each triangle (f,), given the corners (f, 3, 3) [m]."""
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return np.linalg.norm(np.cross(u, v), axis=1)


def _shells(faces: np.ndarray, areas: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the shells of a mesh, and the triangles to reverse so that each shell is consistent.

    Args:
        faces: (f, 3) indices of the vertices of each triangle.
        areas: (f,) areas of the triangles, times any common factor.

    Returns:
        shell: (f,) index of the shell that contains each triangle.
        turned: (f,) whether to reverse each triangle.
        is_closed: (s,) whether each shell is closed: each of its edges is shared by an even number of
            triangles.
    """
    count, start, stop = len(faces), faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    ends = np.minimum(start, stop) * (int(faces.max(initial=0)) + 1) + np.maximum(start, stop)
    order = np.argsort(ends, kind="stable")
    first = np.flatnonzero(np.diff(ends[order], prepend=-1))
    uses = np.diff(first, append=len(order))
    a, b = order[first[uses == 2]], order[first[uses == 2] + 1]
    opposite = (start < stop)[a] != (start < stop)[b]  # as in a consistent mesh
    # Each triangle has two nodes, one as given and one turned. An edge joins nodes that are consistent.
    a, b = a // 3, b // 3
    rows = np.concatenate([a, a + count])
    columns = np.concatenate([b + count * ~opposite, b + count * opposite])
    links = coo_matrix((np.ones(len(rows), np.int8), (rows, columns)), (2 * count, 2 * count))
    nodes, label = connected_components(links, directed=False)
    given, other = label[:count], label[count:]
    weight = np.bincount(given, areas, nodes)
    turned = (weight[other] > weight[given]) | ((weight[other] == weight[given]) & (other > given))
    _, shell = np.unique(np.minimum(given, other), return_inverse=True)
    shell = shell.reshape(-1)
    is_closed = np.ones(shell.max(initial=-1) + 1, bool)
    odd = np.repeat(uses % 2 == 1, uses)
    is_closed[shell[order[odd] // 3]] = False
    return shell, turned, is_closed


def hole_area(corners: np.ndarray) -> float:
    """Return the total area of a mesh's holes [m2].

    The area of a hole is that of the flattest surface that closes it, projected along its mean normal. Cracks
    between triangles that do not share vertices therefore count as 0.

    Args:
        corners: (f, 3, 3) corners of the triangles, in counterclockwise order as seen from outside [m].
    """
    points, same = np.unique(corners.reshape(-1, 3) + 0.0, axis=0, return_inverse=True)
    faces = same.reshape(-1, 3)
    start, stop = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    ends = np.stack([np.minimum(start, stop), np.maximum(start, stop)], axis=1)
    edges, edge = np.unique(ends, axis=0, return_inverse=True)
    surplus = np.bincount(edge.reshape(-1), np.where(start < stop, 1.0, -1.0), len(edges))
    first, second = edges[surplus != 0.0].T
    graph = coo_matrix((np.ones(len(first), np.int8), (first, second)), (len(points), len(points)))
    count, hole = connected_components(graph, directed=False)
    area = np.zeros((count, 3))
    crosses = np.cross(points[first], points[second]) * surplus[surplus != 0.0, None]
    np.add.at(area, hole[first], 0.5 * crosses)
    return float(np.linalg.norm(area, axis=1).sum())

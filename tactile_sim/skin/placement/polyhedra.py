"""Convert geoms to polyhedra, and compute the union of polyhedra.

The union is computed by manifold3d. It is closed and oriented for any input, because manifold3d decides
consistently which surfaces touch or coincide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import manifold3d
import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.skin.placement.even import cover
from tactile_sim.skin.placement.outward import outward
from tactile_sim.skin.placement.shapes import Shape
from tactile_sim.skin.placement.surface import Surface
from tactile_sim.skin.placement.triangulate import triangulate

FLATNESS = 0.03
"""Maximum distance of a polyhedron below the geom's surface, in spacings."""
OUTLINE = 0.35
"""Distance between vertices along the edges of a cylinder or mesh, in spacings."""
MOST_ADDED = 4000
"""Approximate maximum number of additional vertices, apart from vertices on edges."""


@dataclass(frozen=True)
class Polyhedron:
    """A closed mesh of a geom's taxels, with additional vertices where the taxels are too far apart."""

    positions: np.ndarray
    """Positions (n, 3) of the vertices [m], taxels first."""
    normals: np.ndarray
    """Outward unit normals (n, 3) of the geom at the vertices."""
    triangles: np.ndarray
    """Vertex indices (t, 3) of the triangles, wound outward."""
    is_taxel: np.ndarray
    """Whether each vertex (n,) is a taxel."""

    @staticmethod
    def plain(surface: Surface) -> Polyhedron:
        """Return the mesh of the taxels alone."""
        is_taxel = np.ones(len(surface), bool)
        return Polyhedron(surface.positions, surface.normals, surface.triangles, is_taxel)

    @staticmethod
    def fine(shape: Shape, surface: Surface, spacing: float) -> Polyhedron:
        """Return a mesh whose distance from the geom's surface is at most `FLATNESS` spacings."""
        step = _step(shape, spacing)
        if step > 0.85 * spacing:
            return Polyhedron.plain(surface)
        positions, edges = surface.positions, _outline(shape, min(OUTLINE * spacing, step))
        if len(edges):
            positions = _with(positions, edges, 0.05 * spacing)
        if shape.kind != "mesh":
            positions = _with(positions, cover(shape, step).positions, 0.3 * step)
        more = positions[len(surface) :]
        normals = np.concatenate([surface.normals, outward(shape, more, 0.05 * spacing)])
        is_taxel = np.arange(len(positions)) < len(surface)
        return Polyhedron(positions, normals, triangulate(positions, normals), is_taxel)


def unite(
    positions: Sequence[np.ndarray], triangles: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute the union of polyhedra.

    Vertices and triangles of the input are numbered consecutively over all polyhedra.

    Args:
        positions: Vertices (n, 3) of each polyhedron [m].
        triangles: Triangles (t, 3) of each polyhedron, wound outward.

    Returns:
        vertices: Vertices (n, 3) of the union [m].
        triangles: Vertex indices (t, 3) of the triangles of the union, wound outward.
        source: Input vertex (n,) at the same position as each vertex, or -1 for new vertices where surfaces
            meet.
        face: Input triangle (t,) that contains each triangle.
    """
    first = np.cumsum([0, *map(len, triangles)])
    solids = [
        manifold3d.Manifold(
            manifold3d.Mesh64(
                np.ascontiguousarray(corners),
                np.ascontiguousarray(faces, np.uint64),
                face_id=np.arange(base, base + len(faces), dtype=np.uint64),
            )
        )
        for corners, faces, base in zip(positions, triangles, first, strict=False)
    ]
    mesh = manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add).to_mesh64()
    vertices = np.asarray(mesh.vert_properties)[:, :3]
    distance, source = cKDTree(np.concatenate(positions)).query(vertices)
    source[distance > 0] = -1
    return vertices, np.asarray(mesh.tri_verts, np.int64), source, np.asarray(mesh.face_id, np.int64)


def _step(shape: Shape, spacing: float) -> float:
    """Return the distance between vertices [m] at which a polyhedron is accurate enough, see `FLATNESS`."""
    a, b, c = shape.size
    match shape.kind:
        case "box":
            return spacing
        case "mesh":
            return OUTLINE * spacing
        case "ellipsoid":
            radius = min(a, b, c) ** 2 / max(a, b, c)
        case _:
            radius = a
    # The center of a triangle with sides s is s² / 6r below a sphere of radius r.
    step = min(np.sqrt(6 * FLATNESS * spacing * radius), 0.8 * shape.thickness)
    return max(step, np.sqrt(shape.area / MOST_ADDED))


def _with(positions: np.ndarray, more: np.ndarray, least: float) -> np.ndarray:
    """Append the points of ``more`` (m, 3) that are farther than ``least`` [m] from all positions (n, 3)."""
    return np.concatenate([positions, more[cKDTree(positions).query(more)[0] > least]])


def _outline(shape: Shape, step: float) -> np.ndarray:
    """Return points (n, 3) along a geom's edges, including its corners, at most ``step`` [m] apart."""
    if shape.kind == "cylinder":
        radius, half = shape.size[:2]
        count = int(np.ceil(2 * np.pi * radius / step))
        azimuth = 2 * np.pi * np.arange(count) / count
        rim = np.stack([radius * np.cos(azimuth), radius * np.sin(azimuth), np.full(count, half)], axis=1)
        points = np.concatenate([rim, rim * [1, 1, -1]])
    elif shape.kind == "mesh":
        assert shape.hull is not None, "meshes have a hull"
        hull = shape.hull
        a, b, c = hull.faces.T
        edges = np.unique(np.sort(np.stack([np.r_[a, b, c], np.r_[b, c, a]], axis=1)), axis=0)
        start, stop = np.moveaxis(hull.vertices[edges], 1, 0)
        parts = np.ceil(np.linalg.norm(stop - start, axis=1) / step).astype(int)
        share = (np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)) / np.repeat(
            parts, parts
        )
        along = np.repeat(start, parts, axis=0) + share[:, None] * np.repeat(stop - start, parts, axis=0)
        points = np.concatenate([hull.vertices[np.unique(hull.faces)], along[share > 0]])
    else:
        return np.empty((0, 3))
    return points @ shape.rotation.T + shape.position

"""Collision shapes of geoms, with their surface area and the depth of points below the surface."""

from __future__ import annotations

from dataclasses import dataclass, field

import mujoco
import numpy as np
from scipy.spatial import ConvexHull, QhullError

from tactile_sim import _core
from tactile_sim.common.errors import SceneError
from tactile_sim.common.names import Names
from tactile_sim.geometry.shapes import GEOM, KINDS, UNFIT


@dataclass(frozen=True)
class Hull:
    """A convex polytope, the collision shape of a mesh."""

    vertices: np.ndarray
    """Positions (v, 3) of the vertices [m]."""
    faces: np.ndarray
    """Vertex indices (f, 3) of the triangular faces, wound outward."""
    normals: np.ndarray
    """Outward unit normals (h, 3) of the planes that contain the faces, each plane once."""
    offsets: np.ndarray
    """Offsets (h,) of the planes [m]; points x with ``normals @ x <= offsets`` are inside."""
    first: np.ndarray
    """Start (h + 1,) of each plane's list in ``beside``."""
    beside: np.ndarray
    """For each plane, the list of planes that share an edge with it, concatenated."""

    @staticmethod
    def of(points: np.ndarray) -> Hull:
        """Return the convex hull of points (n, 3) [m]; raise QhullError if they are coplanar.

        Args:
            points: Points (n, 3) [m].
        """
        # Normalize position and size, since Qhull's tolerances are absolute.
        center = (points.min(axis=0) + points.max(axis=0)) / 2
        scale = np.abs(points - center).max() or 1.0
        hull = ConvexHull((points - center) / scale)
        corners = hull.points[hull.simplices]
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        inward = np.einsum("ij,ij->i", across, hull.equations[:, :3]) < 0
        faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
        # All triangles of a facet have exactly the same equation.
        planes, plane = np.unique(hull.equations, axis=0, return_inverse=True)
        normals = np.ascontiguousarray(planes[:, :3])
        offsets = -planes[:, 3] * scale + normals @ center
        plane = plane.ravel()
        pairs = np.unique(np.stack([np.repeat(plane, 3), plane[hull.neighbors].ravel()], axis=1), axis=0)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        first = np.searchsorted(pairs[:, 0], np.arange(len(planes) + 1))
        return Hull(points, faces, normals, offsets, first, np.ascontiguousarray(pairs[:, 1]))

    @property
    def face_areas(self) -> np.ndarray:
        """Areas (f,) of the faces [m2]."""
        a, b, c = np.moveaxis(self.vertices[self.faces], 1, 0)
        return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2

    def depth(self, points: np.ndarray) -> np.ndarray:
        """Return the depth (n,) of points (n, 3) below the nearest plane [m]; negative outside."""
        return _core.depth_in_hull(points, self.normals, self.offsets)


@dataclass(frozen=True)
class Shape:
    """A colliding geom in its body's frame."""

    kind: str
    """Kind: sphere, capsule, cylinder, ellipsoid, box or mesh."""
    size: np.ndarray
    """MuJoCo's half sizes and radii (3,) [m]; for a mesh, half of its extents."""
    position: np.ndarray
    """Position (3,) of the geom's frame in the body's frame [m]."""
    rotation: np.ndarray
    """Rotation (3, 3) from the geom's frame to the body's frame."""
    hull: Hull | None = field(default=None, repr=False)
    """Convex hull with which a mesh collides, in the geom's frame; None for other kinds."""

    @staticmethod
    def of_geom(model: mujoco.MjModel, geom: int) -> Shape:
        """Return the shape of a geom; raise SceneError if the geom cannot have a skin.

        Args:
            model: The model.
            geom: Id of the geom.
        """
        kind = int(model.geom_type[geom])
        if kind not in KINDS:
            names = Names(model)
            raise SceneError(
                f"body {names.bodies[model.geom_bodyid[geom]]!r}: cannot have a skin, since its geom "
                f"{names.geoms[geom]!r} is {UNFIT.get(GEOM(kind), 'of an unknown type')}; move this geom to "
                f"another body, or use a body with supported geoms ({', '.join(KINDS.values())})"
            )
        hull = None
        size = model.geom_size[geom].copy()
        if KINDS[GEOM(kind)] == "mesh":
            try:
                hull = Hull.of(_colliding_vertices(model, int(model.geom_dataid[geom])))
            except QhullError:
                names = Names(model)
                raise SceneError(
                    f"body {names.bodies[model.geom_bodyid[geom]]!r}: cannot have a skin, since the mesh of "
                    f"its geom {names.geoms[geom]!r} is flat; give the mesh a thickness, or use a thin box"
                ) from None
            size = np.ptp(hull.vertices, axis=0) / 2
        rotation = np.empty(9)
        mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
        return Shape(KINDS[GEOM(kind)], size, model.geom_pos[geom].copy(), rotation.reshape(3, 3), hull)

    @property
    def area(self) -> float:
        """Area of the whole surface [m2]."""
        a, b, c = self.size
        match self.kind:
            case "sphere":
                return 4 * np.pi * a**2
            case "capsule":
                return 4 * np.pi * a * (a + b)
            case "cylinder":
                return 2 * np.pi * a * (a + 2 * b)
            case "box":
                return 8 * (a * b + b * c + c * a)
            case "ellipsoid":
                return float(ellipsoid_element(self.size, *sphere_grid()).mean() * 4 * np.pi)
            case _:
                assert self.hull is not None, "meshes have a hull"
                return float(self.hull.face_areas.sum())

    @property
    def bounds(self) -> np.ndarray:
        """Minimum and maximum coordinates (2, 3) in the body's frame [m]."""
        a, b, _ = self.size
        along = np.abs(self.rotation[:, 2])
        match self.kind:
            case "sphere":
                reach = np.full(3, a)
            case "capsule":
                reach = a + b * along
            case "cylinder":
                reach = b * along + a * np.sqrt(np.maximum(1 - along**2, 0))
            case "box":
                reach = np.abs(self.rotation) @ self.size
            case "ellipsoid":
                reach = np.sqrt(self.rotation**2 @ self.size**2)
            case _:
                assert self.hull is not None, "meshes have a hull"
                corners = self.hull.vertices @ self.rotation.T + self.position
                return np.stack([corners.min(axis=0), corners.max(axis=0)])
        return self.position + np.outer([-1, 1], reach)

    @property
    def thickness(self) -> float:
        """Depth of the center below the surface [m]."""
        a, b, c = self.size
        match self.kind:
            case "sphere" | "capsule":
                return a
            case "cylinder":
                return min(a, b)
            case "box" | "ellipsoid":
                return min(a, b, c)
            case _:
                assert self.hull is not None, "meshes have a hull"
                return float(self.hull.depth(self.hull.vertices.mean(axis=0)[None])[0])

    def depth(self, points: np.ndarray) -> np.ndarray:
        """Return the depth of points below the surface.

        It is exact inside. Outside, its absolute value is at most the distance from the surface. For
        ellipsoids, it is accurate to first order only.

        Args:
            points: Points (n, 3) in the body's frame [m].

        Returns:
            Depths (n,) [m]; negative outside.
        """
        p = (points - self.position) @ self.rotation
        a, b, _ = self.size
        match self.kind:
            case "sphere":
                return a - np.linalg.norm(p, axis=1)
            case "capsule":
                p[:, 2] -= np.clip(p[:, 2], -b, b)
                return a - np.linalg.norm(p, axis=1)
            case "cylinder":
                return np.minimum(a - np.hypot(p[:, 0], p[:, 1]), b - np.abs(p[:, 2]))
            case "box":
                return (self.size - np.abs(p)).min(axis=1)
            case "ellipsoid":
                # The gradient vanishes at the center; near it, the depth is about the smallest radius.
                p[np.abs(p).max(axis=1) == 0, np.argmin(self.size)] = 1e-9 * self.size.min()
                scaled = np.linalg.norm(p / self.size, axis=1)
                return (1 - scaled) * scaled / np.linalg.norm(p / self.size**2, axis=1)
            case _:
                assert self.hull is not None, "meshes have a hull"
                return self.hull.depth(p)


def sphere_grid(rings: int = 256, around: int = 512) -> tuple[np.ndarray, np.ndarray]:
    """Return heights (rings, 1) and azimuths (1, around) of cells of equal area on the unit sphere."""
    height = (2 * np.arange(rings) + 1) / rings - 1
    azimuth = 2 * np.pi * (np.arange(around) + 0.5) / around
    return height[:, None], azimuth[None, :]


def ellipsoid_element(radii: np.ndarray, height: np.ndarray, azimuth: np.ndarray) -> np.ndarray:
    """Return the area element of an ellipsoid relative to that of the unit sphere [m2].

    If a surface with the unit normal n is scaled by diag(a, b, c), the ratio is abc |n / (a, b, c)|.

    Args:
        radii: Radii (3,) of the ellipsoid [m].
        height: Heights on the unit sphere.
        azimuth: Azimuths on the unit sphere [rad]; broadcast with the heights.
    """
    ring = np.sqrt(1 - height**2)
    a, b, c = radii
    x, y, z = ring * np.cos(azimuth) / a, ring * np.sin(azimuth) / b, height / c
    return a * b * c * np.sqrt(x**2 + y**2 + z**2)


def _colliding_vertices(model: mujoco.MjModel, mesh: int) -> np.ndarray:
    """Return the vertices (n, 3) of a mesh that are used for collisions, in the geom's frame [m]."""
    start = model.mesh_vertadr[mesh]
    vertices = model.mesh_vert[start : start + model.mesh_vertnum[mesh]].astype(float)
    graph = model.mesh_graphadr[mesh]
    if graph < 0:
        return vertices
    # MuJoCo's hull can have fewer vertices than the mesh's (maxhullvert). It is stored as the numbers of
    # vertices and faces, the edge address of each vertex, and the index of each vertex in the mesh.
    count = model.mesh_graph[graph]
    return vertices[model.mesh_graph[graph + 2 + count : graph + 2 + 2 * count]]

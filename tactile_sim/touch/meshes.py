"""The meshes of a TrimeshTouch in MIMo's data structures."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from tactile_sim.skin import PLACEMENTS, Pad, Skin
from tactile_sim.skin.placement.shapes import Shape

if TYPE_CHECKING:
    import trimesh

    Mesh = trimesh.Trimesh | trimesh.PointCloud


class SensorMeshes:
    """Meshes of the bodies with skin, in body frames, built on first access.

    All attributes are dictionaries keyed by body id, in the order of ``bodies``. Meshes also contain the
    vertices inside other geoms of the body; these vertices are not sensors. If the placement merges the geoms
    of a body into one surface with sensors along the seams, this surface is the body's only mesh.
    """

    def __init__(self, model: mujoco.MjModel, skin: Skin, placement: str, bodies: list[int]) -> None:
        self._model, self._skin, self._placement = model, skin, PLACEMENTS[placement]
        by_id = {body.body_id: body for body in skin.pads}
        self._bodies = [by_id[body] for body in bodies]

    @cached_property
    def submeshes(self) -> dict[int, list[Mesh]]:
        """List of the meshes of each body's geoms. A mesh with a single vertex is a point cloud instead."""
        return {body: [_mesh(*part[:2]) for part in parts] for body, parts in self._parts.items()}

    @cached_property
    def meshes(self) -> dict[int, Mesh]:
        """Mesh of each body: the meshes of its geoms, concatenated."""
        meshes = {}
        for body, parts in self._parts.items():
            start = np.cumsum([0, *(len(vertices) for vertices, _, _ in parts)])
            triangles = [faces + first for (_, faces, _), first in zip(parts, start[:-1], strict=True)]
            meshes[body] = _mesh(np.concatenate([part[0] for part in parts]), np.concatenate(triangles))
        return meshes

    @cached_property
    def active_subvertices(self) -> dict[int, list[np.ndarray]]:
        """Masks over the vertices of each mesh in ``submeshes``; True for vertices that are sensors."""
        return {body: [active for _, _, active in parts] for body, parts in self._parts.items()}

    @cached_property
    def active_vertices(self) -> dict[int, np.ndarray]:
        """Mask over the vertices of each body's mesh; True for vertices that are sensors."""
        return {body: np.concatenate(active) for body, active in self.active_subvertices.items()}

    @cached_property
    def vertex_to_sensor_idx(self) -> dict[int, list[np.ndarray]]:
        """Sensor index on the body for each vertex of each geom's mesh; valid only for active vertices."""
        indices = {}
        for body, masks in self.active_subvertices.items():
            ends = np.cumsum([len(mask) for mask in masks])
            indices[body] = np.split(np.cumsum(np.concatenate(masks)) - 1, ends[:-1])
        return indices

    @cached_property
    def _parts(self) -> dict[int, list[tuple[np.ndarray, np.ndarray, np.ndarray]]]:
        """Vertices (n, 3), triangles (t, 3) and sensor mask (n,) of each mesh of each body."""
        return {body.body_id: self._parts_of(body) for body in self._bodies}

    def _parts_of(self, body: Pad) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        sensors = self._skin.positions[body.start : body.stop]
        known = {sensor.tobytes() for sensor in sensors}
        shapes = [Shape.of_geom(self._model, geom) for geom in body.geom_ids]
        covers = [self._placement.cover(shape, body.spacing) for shape in shapes]
        active = [np.array([vertex.tobytes() in known for vertex in cover.positions]) for cover in covers]
        if sum(map(np.count_nonzero, active)) != len(sensors):
            return [(sensors, body.triangles, np.ones(len(sensors), bool))]
        return [(c.positions, c.triangles, mask) for c, mask in zip(covers, active, strict=True)]


class NeighbourCache:
    """Replacement for MIMo's neighbour cache that only reports statistics.

    All neighbour lists are computed in advance, so nothing is cached.
    """

    def __init__(self, sensors: int) -> None:
        self.currsize = self.maxsize = sensors
        """Number of sensors that have a neighbour list."""

    @property
    def _cache(self) -> NeighbourCache:
        return self

    def hits(self) -> float:
        """Return the hit rate, which is always 1."""
        return 1.0


def _mesh(vertices: np.ndarray, triangles: np.ndarray) -> Mesh:
    import trimesh

    if len(vertices) == 1:
        return trimesh.PointCloud(vertices)
    return trimesh.Trimesh(vertices, triangles, process=False)

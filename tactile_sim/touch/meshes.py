"""The meshes behind a TrimeshTouch, as MIMo's library keeps them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from tactile_sim.skin import PLACEMENTS, Skin, SkinBody
from tactile_sim.skin.placement.shapes import Shape

if TYPE_CHECKING:
    import trimesh

    Mesh = trimesh.Trimesh | trimesh.PointCloud


class SensorMeshes:
    """Meshes of the bodies with skin, in their frames; made when they are first asked for.

    All are dictionaries by body id, in the order of `bodies`. A geom's mesh has all its vertices, also those
    hidden in a sibling geom, which are no sensors. Where the placement makes one surface of several geoms,
    with sensors where they meet, that one is the body's only mesh.
    """

    def __init__(self, model: mujoco.MjModel, skin: Skin, placement: str, bodies: list[int]) -> None:
        self._model, self._skin, self._placement = model, skin, PLACEMENTS[placement]
        by_id = {body.body_id: body for body in skin.bodies}
        self._bodies = [by_id[body] for body in bodies]

    @cached_property
    def submeshes(self) -> dict[int, list[Mesh]]:
        """The mesh of each geom; a point cloud where it is a single vertex."""
        return {body: [_mesh(*part[:2]) for part in parts] for body, parts in self._parts.items()}

    @cached_property
    def meshes(self) -> dict[int, Mesh]:
        """The meshes of a body's geoms as one, vertex after vertex."""
        meshes = {}
        for body, parts in self._parts.items():
            start = np.cumsum([0, *(len(vertices) for vertices, _, _ in parts)])
            triangles = [faces + first for (_, faces, _), first in zip(parts, start[:-1], strict=True)]
            meshes[body] = _mesh(np.concatenate([part[0] for part in parts]), np.concatenate(triangles))
        return meshes

    @cached_property
    def active_subvertices(self) -> dict[int, list[np.ndarray]]:
        """Which vertices of each geom's mesh are sensors."""
        return {body: [active for _, _, active in parts] for body, parts in self._parts.items()}

    @cached_property
    def active_vertices(self) -> dict[int, np.ndarray]:
        """The same for the mesh of the body."""
        return {body: np.concatenate(active) for body, active in self.active_subvertices.items()}

    @cached_property
    def vertex_to_sensor_idx(self) -> dict[int, list[np.ndarray]]:
        """Which of the body's sensors each active vertex of each geom's mesh is."""
        indices = {}
        for body, masks in self.active_subvertices.items():
            ends = np.cumsum([len(mask) for mask in masks])
            indices[body] = np.split(np.cumsum(np.concatenate(masks)) - 1, ends[:-1])
        return indices

    @cached_property
    def _parts(self) -> dict[int, list[tuple[np.ndarray, np.ndarray, np.ndarray]]]:
        """Vertices (n, 3), triangles (t, 3), and which vertices are sensors (n,), of each body's meshes."""
        return {body.body_id: self._parts_of(body) for body in self._bodies}

    def _parts_of(self, body: SkinBody) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        sensors = self._skin.positions[body.start : body.stop]
        known = {sensor.tobytes() for sensor in sensors}
        shapes = [Shape.of_geom(self._model, geom) for geom in body.geom_ids]
        covers = [self._placement.cover(shape, body.spacing) for shape in shapes]
        active = [np.array([vertex.tobytes() in known for vertex in cover.positions]) for cover in covers]
        if sum(map(np.count_nonzero, active)) != len(sensors):
            return [(sensors, body.triangles, np.ones(len(sensors), bool))]
        return [(c.positions, c.triangles, mask) for c, mask in zip(covers, active, strict=True)]


class NeighbourCache:
    """The figures of MIMo's cache of neighbours. No cache is needed: all lists are there from the start."""

    def __init__(self, sensors: int) -> None:
        self.currsize = self.maxsize = sensors
        """How many sensors have their list of neighbours."""

    @property
    def _cache(self) -> NeighbourCache:
        return self

    def hits(self) -> float:
        """The part of all searches that found a list."""
        return 1.0


def _mesh(vertices: np.ndarray, triangles: np.ndarray) -> Mesh:
    import trimesh

    if len(vertices) == 1:
        return trimesh.PointCloud(vertices)
    return trimesh.Trimesh(vertices, triangles, process=False)

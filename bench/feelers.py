"""Compare the time to read all feelers with our native core, with MuJoCo's batched rays and with Embree.

Run as ``python bench/feelers.py``. The three take turns reading the same feelers in the same states on one
thread. Compare the ratios, since absolute times depend on the machine. Embree is measured if ``embreex`` is
installed.

Both libraries are called from the same NumPy code: a broad phase over clusters of feelers and bounding
spheres of geoms, and a correction for feelers that start inside an obstacle. Such feelers read 0, but a ray
cast returns the distance to the exit. The columns "call" contain only the time inside the library, which any
code around it can only increase. Embree has no curved shapes, so curved primitives are tessellated.

The scenes are defined in `bench/_feeler_cases.py`.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import mujoco
import numpy as np
import trimesh
from _feeler_cases import cases
from mujoco.batch import Batch
from rich.console import Console
from rich.table import Table

from tactile_sim.feelers import Feelers
from tactile_sim.geometry.shapes import geom_mesh

try:
    from embreex import mesh_construction, rtcore_scene
except ImportError:
    rtcore_scene = None

TOLERANCE = 0.2
CLUSTER = 32
"""Maximum number of feelers in a cluster of the broad phase."""
ROUNDS, SHORTEST = 60, 2e-3
"""Number of rounds, and minimum duration of a measurement [s]."""


class Rays(NamedTuple):
    """Rays to cast at one geom, in its frame, or at all geoms (``geom`` is -1), in the world frame."""

    geom: int
    feelers: np.ndarray
    origins: np.ndarray
    directions: np.ndarray


def main() -> None:
    """Measure all cases and print the table."""
    table = Table(title="reading all feelers; ×: how many times slower a library is")
    table.add_column("scene")
    for column in ("feelers", "covered", "µs", "Batch.ray ×", "call ×", "embree ×", "call ×"):
        table.add_column(column, justify="right")
    for case in cases():
        feelers, data = Feelers(case.model, case.placed), case.data
        free = feelers.read(data)
        libraries = [BatchRays(feelers), *([EmbreeRays(feelers)] if rtcore_scene else [])]
        readers = [feelers.read] + [read for library in libraries for read in (library.read, library.cast)]
        ours, *others = least_times([lambda read=read, data=data: read(data) for read in readers])
        ratios = [f"{other / ours:.1f}" for other in others] + ["-", "-"] * (2 - len(libraries))
        covered = np.mean(free < feelers.lengths)
        counts = str(len(free)), f"{covered:.0%}", f"{1e6 * ours:.1f}"
        table.add_row(case.name, *counts, *ratios)
    Console(width=110).print(table)


def least_times(readers: list[Callable[[], object]]) -> list[float]:
    """Return the shortest time of each reader [s]; they take turns, so other load affects all equally."""
    best = [np.inf] * len(readers)
    for _ in range(ROUNDS):
        for k, reader in enumerate(readers):
            reader()
            began, repeats = time.perf_counter(), 0
            while not repeats or time.perf_counter() - began < SHORTEST:
                reader()
                repeats += 1
            best[k] = min(best[k], (time.perf_counter() - began) / repeats)
    return best


class Library:
    """Base class that reads feelers with a broad phase, followed by the ray casts of another library."""

    def __init__(self, feelers: Feelers) -> None:
        self.feelers, self.model = feelers, feelers.model
        self.rays: list[Rays] | None = None
        self.body = np.array([body.body_id for body in feelers.bodies])[feelers.body_index]
        self.inside = TOLERANCE * feelers.lengths
        self.starts = feelers.positions - self.inside[:, None] * feelers.normals
        tips = feelers.positions + feelers.lengths[:, None] * feelers.normals
        groups = [group for body in np.unique(self.body) for group in self._clusters(self.body == body)]
        self.order, self.counts = np.concatenate(groups), np.array([len(group) for group in groups])
        ends = [np.concatenate([self.starts[group], tips[group]]) for group in groups]
        self.centers = np.array([(e.min(axis=0) + e.max(axis=0)) / 2 for e in ends])
        away = [
            np.linalg.norm(e - center, axis=1).max() for e, center in zip(ends, self.centers, strict=True)
        ]
        self.radii = np.array(away)[:, None]
        self.owner = self.body[[group[0] for group in groups]]
        collides = (self.model.geom_contype != 0) | (self.model.geom_conaffinity != 0)
        covers = {
            body: np.flatnonzero(collides & (self.model.geom_bodyid != body)) for body in np.unique(self.body)
        }
        self.geoms = np.unique(np.concatenate(list(covers.values())))
        self.allowed = np.array([np.isin(self.geoms, covers[body]) for body in self.owner])
        self.planes = self.model.geom_type[self.geoms] == mujoco.mjtGeom.mjGEOM_PLANE

    def _clusters(self, chosen: np.ndarray) -> Iterator[np.ndarray]:
        """Split a body's feelers along their longest axis until no part has more than `CLUSTER` feelers."""
        todo = [np.flatnonzero(chosen)]
        while todo:
            part = todo.pop()
            if len(part) <= CLUSTER:
                yield part
            else:
                part = part[np.argsort(self.starts[part][:, np.ptp(self.starts[part], axis=0).argmax()])]
                todo += [part[: len(part) // 2], part[len(part) // 2 :]]

    def near(self, data: mujoco.MjData) -> np.ndarray:
        """Return whether each cluster may touch each obstacle (clusters, geoms)."""
        turns = data.xmat.reshape(-1, 3, 3)[self.owner]
        centers = np.einsum("nij,nj->ni", turns, self.centers) + data.xpos[self.owner]
        away = centers[:, None] - data.geom_xpos[self.geoms]
        near = (away**2).sum(axis=2) < (self.radii + self.model.geom_rbound[self.geoms]) ** 2
        up = data.geom_xmat[self.geoms[self.planes]][:, [2, 5, 8]]
        near[:, self.planes] = (away[:, self.planes] * up).sum(axis=2) < self.radii
        return near & self.allowed

    def in_world(self, data: mujoco.MjData, clusters: np.ndarray) -> Rays:
        """Return the rays of the selected clusters (c,) bool, in the world frame."""
        chosen = self.order[np.repeat(clusters, self.counts)]
        turns = data.xmat.reshape(-1, 3, 3)[self.body[chosen]]
        origins = np.einsum("nij,nj->ni", turns, self.starts[chosen]) + data.xpos[self.body[chosen]]
        return Rays(-1, chosen, origins, np.einsum("nij,nj->ni", turns, self.feelers.normals[chosen]))

    def read(self, data: mujoco.MjData) -> np.ndarray:
        """Return the free lengths (n,) [m] like `Feelers.read`."""
        free = self.feelers.lengths.copy()
        self.rays = self.prepare(data)
        for rays in self.rays:
            distance, normal = self.intersect(rays)
            distance[(normal * rays.directions).sum(axis=1) > 0] = 0
            self.below_planes(data, rays, distance)
            left = np.maximum(distance - self.inside[rays.feelers], 0)
            free[rays.feelers] = np.minimum(free[rays.feelers], left)
        return free

    def cast(self, data: mujoco.MjData) -> None:
        """Repeat the ray casts of the last reading to measure the time inside the library."""
        for rays in self.rays or ():
            self.intersect(rays)

    def below_planes(self, data: mujoco.MjData, rays: Rays, distance: np.ndarray) -> None:
        """If the rays are in the world frame, set the distances of those that start below a plane to 0."""
        for plane in self.geoms[self.planes] if rays.geom < 0 else ():
            up = data.geom_xmat[plane, [2, 5, 8]]
            distance[(rays.origins - data.geom_xpos[plane]) @ up <= 0] = 0

    def prepare(self, data: mujoco.MjData) -> list[Rays]:
        """Return the rays to cast in this state."""
        raise NotImplementedError

    def intersect(self, rays: Rays) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances (r,) [m], infinite where nothing is hit, and the normals (r, 3)."""
        raise NotImplementedError


class BatchRays(Library):
    """Casts rays with `mujoco.batch.Batch.ray`; in its model, obstacles are opaque and in their own group."""

    def __init__(self, feelers: Feelers) -> None:
        super().__init__(feelers)
        model = copy.copy(self.model)
        model.geom_rgba[:, 3], model.geom_matid[:] = 1, -1  # rays skip transparent geoms
        model.geom_group[:] = 1
        model.geom_group[self.geoms] = 0
        self.batch, self.group = Batch(model, 1, 1), np.eye(6, dtype=np.uint8)[0]
        self.qpos = self.batch.bind("qpos")

    def prepare(self, data: mujoco.MjData) -> list[Rays]:
        self.qpos[0] = data.qpos
        rays = self.in_world(data, self.near(data).any(axis=1))
        return [rays] if len(rays.feelers) else []

    def intersect(self, rays: Rays) -> tuple[np.ndarray, np.ndarray]:
        own = self.body[rays.feelers].astype(np.int32)[None]
        found = self.batch.ray(
            rays.origins, rays.directions, geomgroup=self.group, bodyexclude=own, normal=True
        )
        distance, geom, normal = (values[0] for values in found)
        return np.where(geom >= 0, distance, np.inf), normal


class EmbreeRays(Library):
    """Casts rays with one Embree scene per shape, in the geom's frame; intersects planes itself."""

    def __init__(self, feelers: Feelers) -> None:
        super().__init__(feelers)
        shapes: dict[tuple, Any] = {}
        self.scenes = {}
        for geom in self.geoms[~self.planes].tolist():
            kind, mesh = self.model.geom_type[geom], self.model.geom_dataid[geom]
            shape = kind, mesh, *self.model.geom_size[geom]
            if shape not in shapes:
                shapes[shape] = rtcore_scene.EmbreeScene()
                vertices, faces = _tessellated(self.model, geom)
                mesh_construction.TriangleMesh(shapes[shape], np.asarray(vertices[faces], np.float32))
            self.scenes[geom] = shapes[shape]

    def prepare(self, data: mujoco.MjData) -> list[Rays]:
        near, out = self.near(data), []
        for k in np.flatnonzero(near.any(axis=0)):
            geom, rays = int(self.geoms[k]), self.in_world(data, near[:, k])
            turn = data.geom_xmat[geom].reshape(3, 3)
            origins = (rays.origins - data.geom_xpos[geom]) @ turn
            out.append(Rays(geom, rays.feelers, origins, rays.directions @ turn))
        return out

    def intersect(self, rays: Rays) -> tuple[np.ndarray, np.ndarray]:
        if rays.geom not in self.scenes:
            with np.errstate(divide="ignore", invalid="ignore"):
                distance = np.where(
                    rays.directions[:, 2] < 0, -rays.origins[:, 2] / rays.directions[:, 2], np.inf
                )
            return np.where(rays.origins[:, 2] <= 0, 0, distance), np.zeros((len(distance), 3))
        reach = (self.inside + self.feelers.lengths)[rays.feelers].astype(np.float32)
        origins, directions = rays.origins.astype(np.float32), rays.directions.astype(np.float32)
        found = self.scenes[rays.geom].run(origins, directions, dists=reach, output=1)
        hit = found["primID"] >= 0
        return np.where(hit, found["tfar"], np.inf), np.where(hit[:, None], found["Ng"], 0)


def _tessellated(model: mujoco.MjModel, geom: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices (v, 3) [m] and triangles (t, 3) of a geom in its frame."""
    size, kind = model.geom_size[geom], mujoco.mjtGeom(model.geom_type[geom])
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        return geom_mesh(model, geom)
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        shape = trimesh.creation.box(2 * size)
    elif kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        shape = trimesh.creation.cylinder(size[0], 2 * size[1], sections=64)
    elif kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        shape = trimesh.creation.capsule(2 * size[1], size[0], [64, 64])
        shape.vertices -= shape.bounds.mean(axis=0)
    else:
        shape = trimesh.creation.icosphere(4, 1.0)
        shape.vertices *= size if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID else size[0]
    return np.asarray(shape.vertices), np.asarray(shape.faces)


if __name__ == "__main__":
    main()

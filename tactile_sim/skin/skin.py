"""The skin: taxels on bodies, and what they feel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import mujoco
import numpy as np

from tactile_sim.engines.contacts import Contacts
from tactile_sim.errors import ConfigError, SceneError, suggest
from tactile_sim.names import Names
from tactile_sim.skin import even, kernels, mimo
from tactile_sim.skin.curvature import geom_table
from tactile_sim.skin.hertz import STIFFNESS
from tactile_sim.skin.loads import LOAD, TOUCH_FUNCTIONS, Loads, TouchFunction
from tactile_sim.skin.merge import Placement, merge, separate
from tactile_sim.skin.neighbours import neighbours
from tactile_sim.skin.patches import k_nearest_taxels, nearest_taxels, sort_patches
from tactile_sim.skin.responses import RESPONSE_FUNCTIONS, Response
from tactile_sim.skin.shares import Near, Shares, gather
from tactile_sim.skin.surface import BodySurface
from tactile_sim.skin.walk import walk

T = TypeVar("T")

PLACEMENTS = {"even": Placement(even.cover), "mimo": mimo.PLACEMENT}
KINDS = {"mesh": merge, "geom": separate}
"""What covers a body: one patch over all its geoms, or one on each of them."""
DISTANCES = {"euclidean": False, "surface": True}
"""Whether distances are along the surface."""


@dataclass(frozen=True)
class SkinBody:
    """One body's part of a skin; its taxels are [start, stop)."""

    name: str
    body_id: int
    start: int
    stop: int
    spacing: float
    """Between taxels [m]."""
    geom_ids: np.ndarray
    """(k,) int32 of its colliding geoms."""
    triangles: np.ndarray
    """(t, 3) uint32 indices of its own taxels, from 0, wound outward."""


class Skin:
    """All taxels of a model in one block, body after body in the order of ids.

    A load falls on one patch of a body and is shared out within it: with ``kind="mesh"`` a body is one patch,
    with ``kind="geom"`` each colliding geom of a body is one, whole and unconnected with the others.

    Attributes: ``bodies``; over the n taxels, in their bodies' frames, ``positions`` (n, 3) [m], outward unit
    ``normals`` (n, 3), ``areas`` (n,) [m2], ``geom_index`` (n,) into the body's geom_ids and ``body_index``
    (n,) into bodies; ``offsets`` (b + 1,) of the bodies in that block and ``spacings`` (b,) [m];
    ``patch_offsets`` (p + 1,) of the patches in that block, ``patch_bodies`` (p,) index into bodies,
    ``patch_spacings`` (p,) [m], and ``patch_ids`` (p,): body ids, or with ``kind="geom"`` geom ids;
    ``neighbours``: where the list of each taxel begins (n + 1,), and the lists of the taxels beside it;
    ``stiffness`` [Pa] of `hertz`.

    One thread at a time: it works in memory of its own.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        scales: Mapping[int, float],
        placement: str = "even",
        kind: str | Callable[..., BodySurface] = "mesh",
        distance: str = "euclidean",
        stiffness: float = STIFFNESS,
    ) -> None:
        """scales: spacing [m] by body id; placement, kind and distance: names in the tables above.

        kind may also be a function like `separate`, which covers a body geom by geom, or some of its geoms.

        Raises SceneError for a body that cannot bear a skin, naming it.
        """
        names = Names(model)
        where = _choose("skin.placement", placement, PLACEMENTS)
        cover = _choose("skin.kind", kind, KINDS)
        self.kind, self.stiffness = kind, stiffness
        self._along = _choose("skin.distance", distance, DISTANCES)
        self._geoms = geom_table(model)
        bodies: list[SkinBody] = []
        surfaces: list[BodySurface] = []
        patch_sizes: list[int] = []
        patch_bodies: list[int] = []
        patch_spacings: list[np.ndarray] = [np.empty(0)]
        start = 0
        for body, spacing in sorted(scales.items()):
            if not (np.isfinite(spacing) and spacing > 0):
                raise SceneError(f"skin.scales.{names.bodies[body]}: {spacing} is no spacing; give metres")
            surface = cover(model, body, spacing, where, names)
            stop = start + len(surface.positions)
            if kind == "mesh":
                # Of the geoms that do not collide some may be made to in the middle of a run.
                self._geoms["patch"][self._geoms["body"] == body] = len(patch_sizes)
                patch_sizes.append(stop - start)
            else:
                self._geoms["patch"][surface.geom_ids] = len(patch_sizes) + np.arange(len(surface.geom_ids))
                patch_sizes += np.bincount(surface.geom_index, minlength=len(surface.geom_ids)).tolist()
            added = len(patch_sizes) - len(patch_bodies)
            patch_bodies += [len(bodies)] * added
            patch_spacings.append(np.full(added, spacing) if surface.spacings is None else surface.spacings)
            bodies.append(
                SkinBody(names.bodies[body], body, start, stop, spacing, surface.geom_ids, surface.triangles)
            )
            surfaces.append(surface)
            start = stop
        self.bodies: tuple[SkinBody, ...] = tuple(bodies)
        self.spacings = np.array([body.spacing for body in bodies], float)
        self.offsets = np.array([0, *(body.stop for body in bodies)], np.int64)
        self.positions = np.concatenate([np.empty((0, 3)), *(surface.positions for surface in surfaces)])
        self.normals = np.concatenate([np.empty((0, 3)), *(surface.normals for surface in surfaces)])
        self.areas = np.concatenate([np.empty(0), *(surface.areas for surface in surfaces)])
        self.geom_index = np.concatenate([np.empty(0, np.uint16), *(s.geom_index for s in surfaces)])
        self.body_index = np.repeat(np.arange(len(bodies)), np.diff(self.offsets))
        self.patch_offsets = np.cumsum([0, *patch_sizes])
        self.patch_bodies = np.array(patch_bodies, np.int64)
        self.patch_spacings = np.concatenate(patch_spacings)
        self._body_ids = np.array([body.body_id for body in bodies], np.int64)
        self._slot = np.full(model.nbody, -1, np.int64)
        self._slot[self._body_ids] = np.arange(len(bodies))
        geom_ids = [np.empty(0, np.int64), *(body.geom_ids for body in bodies)]
        self.patch_ids = self._body_ids if kind == "mesh" else np.concatenate(geom_ids).astype(np.int64)
        edges = [np.empty((0, 2), np.int64)]
        edges += [surface.edges + body.start for surface, body in zip(surfaces, bodies, strict=True)]
        self.neighbours = neighbours(start, np.concatenate(edges))
        self._sort()
        self._queue = np.empty(start, np.int64)
        self._far = np.full(start, np.inf)
        self._heap = np.empty((len(self.neighbours[1]) + 1 if self._along else 0, 2))
        self._vector = np.empty((start if self._along else 0, 3))
        self._sums: dict[int, np.ndarray] = {}
        """By number of channels."""
        self._compile(model.nbody)

    def loads(self, contacts: Contacts, body_positions: np.ndarray, body_rotations: np.ndarray) -> Loads:
        """What contacts put on the bodies with skin.

        body_positions (nbody, 3) [m] and body_rotations (nbody, 3, 3): the pose of each body in the world.
        """
        table = np.empty(2 * len(contacts), LOAD)
        m = kernels.resolve_loads(
            contacts.values, contacts.ids, self._geoms, self.patch_bodies, body_positions, body_rotations,
            table,
        )  # fmt: skip
        return Loads(table[:m])

    def sense(
        self,
        loads: Loads,
        touch: str | TouchFunction = "force_vector",
        response: str | Response | Shares = "spread_linear",
        out: np.ndarray | None = None,
        dtype: type = np.float64,
    ) -> np.ndarray:
        """What the taxels feel, (n, channels); the taxels of a body sum to its loads, but for a mean.

        touch and response: names in TOUCH_FUNCTIONS and RESPONSE_FUNCTIONS, or functions of one's own, or
        what `shares` gave. Values are added up in float64; they come in an array of dtype, or in out.
        """
        touch = _choose("skin.touch_function", touch, TOUCH_FUNCTIONS)
        shares = response if isinstance(response, Shares) else self.shares(loads, response)
        values = np.ascontiguousarray(touch.evaluate(loads), float)
        if values.shape != (len(loads), touch.channels):
            raise ConfigError(
                f"skin.touch_function: {touch.evaluate.__name__} gave an array {values.shape} for"
                f" {len(loads)} loads; of {touch.channels} channels it must be {(len(loads), touch.channels)}"
            )
        if out is None:
            out = np.zeros((len(self.positions), touch.channels), dtype)
        else:
            out[:] = 0.0
        sums = self._sums.get(touch.channels)
        if sums is None:
            sums = self._sums[touch.channels] = np.zeros((len(self.positions), 1 + touch.channels))
        gather(
            loads.table, shares.begin, shares.taxel, shares.weight, values, touch.mean, sums, self._queue, out
        )
        return out

    def shares(self, loads: Loads, response: str | Response = "spread_linear") -> Shares:
        """How loads are shared out; good for several touch functions."""
        return _choose("skin.response_function", response, RESPONSE_FUNCTIONS)(self, loads)

    def nearest(self, loads: Loads) -> np.ndarray:
        """(m,) the taxel that takes each load, as `tactile_sim.skin.responses` tells."""
        return nearest_taxels(loads.table, self._patches, self.positions, self.normals, *self._cells)

    def near(self, loads: Loads, reach: float | np.ndarray) -> Near:
        """The taxel that takes each load, and those within reach [m] of it (one, or (m,) for each load).

        Only those that face the load and are joined to the first by a path over such taxels.
        """
        reach = np.full(len(loads), reach, float) if np.ndim(reach) == 0 else reach
        begin = np.empty(len(loads) + 1, np.int64)
        room = 32 * len(loads)
        while True:
            taxel, distance = np.empty(room, np.int64), np.empty(room)
            count = walk(
                loads.table, reach, self._along, self.positions, self.normals, self._patches, *self._cells,
                *self.neighbours, self._queue, self._far, self._heap, self._vector, begin, taxel, distance,
            )  # fmt: skip
            if count <= room:
                return Near(begin, taxel[:count], distance[:count])
            room = count

    # -- queries: which taxels of a patch are near points (m, 3) of its body's frame [m]; their indices run
    # -- within the patch, distances are straight or along the surface, as the skin has them.

    def nearest_taxels(self, patch: int, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m,) the taxel nearest to each point, and (m,) how far away it is, always straight [m]."""
        taxels, distances = self.k_nearest_taxels(patch, points, 1)
        return taxels[:, 0], distances[:, 0]

    def k_nearest_taxels(self, patch: int, points: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(m, k) the taxels nearest to each point, nearest first, and (m, k) how far away they are.

        Always straight. Where the patch has fewer than k taxels, all of them.
        """
        points = np.ascontiguousarray(points, float).reshape(-1, 3)
        where = self._patches[patch]
        shape = len(points), min(k, int(where["stop"] - where["start"]))
        taxels, distances = np.empty(shape, np.int64), np.empty(shape)
        k_nearest_taxels(points, self._patches, patch, self.positions, *self._cells, taxels, distances)
        return taxels - where["start"], distances

    def taxels_within(
        self, patch: int, points: np.ndarray, limit: float | np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each point the taxels within the limit [m], nearest first, and how far away they are.

        Only those that a path over such taxels joins to the nearest one.
        """
        points = np.ascontiguousarray(points, float).reshape(-1, 3)
        loads = Loads.empty(len(points))
        loads.patch[:], loads.point[:] = patch, points
        limits = np.broadcast_to(np.asarray(limit, float), len(points))
        near = self.near(loads, np.ascontiguousarray(limits))
        found = []
        for m, limit in enumerate(limits):
            taxels, distances = (a[near.begin[m] : near.begin[m + 1]] for a in (near.taxel, near.distance))
            order = np.lexsort([taxels, distances])
            order = order[distances[order] <= limit]
            found.append((taxels[order] - self.patch_offsets[patch], distances[order]))
        return found

    def body_wrenches(
        self, contacts: Contacts, body_positions: np.ndarray, body_rotations: np.ndarray
    ) -> np.ndarray:
        """(b, 6) net force [N] and torque [N m] of all contacts about each body's origin, in its frame.

        The torques that a contact passes by itself, torsional and rolling, are in it.
        """
        out = np.zeros((len(self.bodies), 6))
        kernels.net_wrenches(
            contacts.values, contacts.ids, self._slot, body_positions, body_rotations, out
        )  # fmt: skip
        return out

    def world(
        self, body_positions: np.ndarray, body_rotations: np.ndarray, out: np.ndarray | None = None
    ) -> np.ndarray:
        """(n, 3) positions of all taxels in the world [m], in out where given."""
        return self._in_world(self.positions, body_positions, body_rotations, out)

    def rotate(
        self, vectors: np.ndarray, body_rotations: np.ndarray, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Vectors (n, 3), one a taxel in its body's frame, in the world frame; in out where given."""
        return self._in_world(vectors, np.zeros((len(body_rotations), 3)), body_rotations, out)

    def _sort(self) -> None:
        """Sorts the taxels by place."""
        self._patches, first, order = sort_patches(self.positions, self.patch_offsets, self.patch_spacings)
        self._cells = first, order

    def _compile(self, nbody: int) -> None:
        """Feels nothing once, so that the kernels are compiled here and not in the middle of a run."""
        poses = np.zeros((nbody, 3)), np.zeros((nbody, 3, 3))
        contacts = Contacts.empty(0)
        loads = self.loads(contacts, *poses)
        for response in RESPONSE_FUNCTIONS:
            for dtype in (np.float32, np.float64):
                self.sense(loads, response=response, dtype=dtype)
        self.body_wrenches(contacts, *poses)
        self.world(*poses)

    def _in_world(
        self, vectors: np.ndarray, translations: np.ndarray, rotations: np.ndarray, out: np.ndarray | None
    ) -> np.ndarray:
        if out is None:
            out = np.empty((len(self.positions), 3))
        kernels.place_in_world(vectors, self.offsets, self._body_ids, translations, rotations, out)
        return out


def _choose(key: str, choice: str | T, table: Mapping[str, T]) -> T:
    if not isinstance(choice, str):
        return choice
    if choice not in table:
        raise ConfigError(f"{key}: there is no {choice!r}{suggest(choice, table)}")
    return table[choice]

"""Feelers: hairs on bodies, and how far each one is free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from tactile_sim.errors import ConfigError
from tactile_sim.feelers import reading
from tactile_sim.feelers.obstacles import covering, tables
from tactile_sim.feelers.placed import Placed
from tactile_sim.feelers.thickness import thickness
from tactile_sim.feelers.tree import Tree, build, join
from tactile_sim.names import Names

LEAF = 12
"""Feelers in a leaf of a body's tree."""


@dataclass(frozen=True)
class FeelerBody:
    """A body with feelers: those from start to stop are its own."""

    name: str
    body_id: int
    start: int
    stop: int
    placed: Placed


class Feelers:
    """The feelers of some bodies of a model.

    A feeler covers what its body's surface is about to touch: the free length is how far one can go from its
    root outwards until something begins. It is cast from some way inside of its body, so that what has sunk
    into the skin a little, or lies right on it, covers it whole. It never starts deeper than in the middle of
    its body, which therefore hides what is on its far side.

    Feelers are covered by all geoms of other bodies that can touch something (by contype and conaffinity, or
    in a pair), whether they move or not; bodies below in the kinematic tree can be left out. Meshes cover
    with their own triangles, although MuJoCo's contacts use their convex hulls; what is inside a closed mesh
    is covered, while an open mesh (one with an edge that borders on no second triangle, or on one that faces
    the other way) is a sheet. A plane has no edges, however large it is drawn, and is solid below. Height
    fields are solid down to their base. Flexes cover nothing. The geoms, what they can touch and their sizes
    are read when this is constructed; heights of height fields may change later.

    Attributes:
        bodies: those with feelers, as given.
        positions, normals: (n, 3) roots [m] and outward unit vectors, in the frames of their bodies.
        lengths: (n,) [m].
        offsets: (b + 1,) where each body's feelers begin.
        body_index: (n,) whose each one is, an index into bodies.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        placed: Sequence[Placed],
        *,
        tolerance: float | Sequence[float] = 0.2,
        children: bool | Sequence[bool] = True,
    ) -> None:
        """Feelers on a model.

        Args:
            model: kept, as heights are read from it.
            placed: the feelers of each body.
            tolerance: how far inside of its body a feeler is cast from, as a part of its length; one for all
                or one a body.
            children: Whether bodies below a body in the kinematic tree cover its feelers; one value for all
                bodies or one for each. Feelers of the world are always covered by all other bodies.

        Raises:
            ConfigError: a tolerance that is below 0 or no number, or not as many as bodies.
        """
        names = Names(model)
        tolerances = _one_each("tolerance", tolerance, len(placed))
        below = _one_each("children", children, len(placed))
        covers = [covering(model, body.body_id, bool(each)) for body, each in zip(placed, below, strict=True)]
        for each, body in zip(tolerances, placed, strict=True):
            if not 0 <= each < np.inf:
                raise ConfigError(
                    f"feelers of {names.bodies[body.body_id]}: tolerance {each} is no part of a length;"
                    " give a number from 0 on"
                )
        self.offsets = np.cumsum([0, *(len(body.positions) for body in placed)])
        self.bodies: tuple[FeelerBody, ...] = tuple(
            FeelerBody(names.bodies[body.body_id], body.body_id, int(start), int(stop), body)
            for body, start, stop in zip(placed, self.offsets[:-1], self.offsets[1:], strict=True)
        )
        self.positions = np.concatenate([np.empty((0, 3)), *(body.positions for body in placed)])
        self.normals = np.concatenate([np.empty((0, 3)), *(body.normals for body in placed)])
        self.lengths = np.concatenate([np.empty(0), *(body.lengths for body in placed)])
        self.body_index = np.repeat(np.arange(len(placed)), np.diff(self.offsets))
        self._body_ids = np.array([body.body_id for body in placed], np.int64)
        self.model = model
        if len(self.lengths):
            self._prepare(tolerances, covers)
            self._compile(model)

    def _prepare(self, tolerances: Sequence[float], covers: list[np.ndarray]) -> None:
        """What `reading.read` takes."""
        model = self.model
        own = np.flatnonzero(np.isin(model.geom_bodyid, self._body_ids))
        self._geoms, self._meshes = tables(model, np.unique(np.concatenate([own, *covers]).astype(np.int64)))
        inside = np.repeat(tolerances, np.diff(self.offsets)) * self.lengths
        trees: list[Tree] = []
        for body in self.bodies:
            these = slice(body.start, body.stop)
            positions, normals = self.positions[these], self.normals[these]
            half = 0.5 * thickness(
                model, body.body_id, positions, normals, self._geoms, self._meshes, 2 * inside[these]
            )  # fmt: skip
            inside[these] = np.minimum(inside[these], half)
            starts = positions - inside[these, None] * normals
            tips = positions + self.lengths[these, None] * normals
            if len(starts):
                trees.append(build(np.minimum(starts, tips), np.maximum(starts, tips), LEAF))
            else:
                trees.append(Tree(np.empty((0, 6)), np.empty((0, 3), np.int64), np.empty(0, np.int64)))
        self._boxes, self._links, first = join(trees)
        starts = self.positions - inside[:, None] * self.normals
        columns = np.column_stack([starts, self.normals, inside])
        order = [tree.order + body.start for tree, body in zip(trees, self.bodies, strict=True)]
        self._order = np.concatenate([np.empty(0, np.int64), *order])
        self._columns = np.ascontiguousarray(columns[self._order])
        ends = np.cumsum([0, *map(len, covers)])
        self._covering = np.concatenate([np.empty(0, np.int64), *covers]).astype(np.int64)
        self._table = np.zeros(len(self.bodies), reading.BODY)
        self._table["body"] = self._body_ids
        self._table["first"], self._table["last"] = first[:-1], first[1:]
        self._table["begin"], self._table["end"] = ends[:-1], ends[1:]
        for row, tree in zip(self._table, trees, strict=True):
            if len(tree.boxes):
                row["centre"], row["radius"] = tree.boxes[0, :3], np.linalg.norm(tree.boxes[0, 3:])

    def read(self, data: mujoco.MjData) -> np.ndarray:
        """(n,) free length of each feeler [m]: from 0, wholly covered, to its length.

        Whatever reaches into the part inside of its own body covers it wholly.

        Args:
            data: of the model, with poses of the instant: geom_xpos, geom_xmat, xpos and xmat. MuJoCo's
                mj_step leaves those of the step before; mj_kinematics brings them up to date.
        """
        out = self.lengths.copy()
        if not len(out):
            return out  # nor are kernels compiled for nobody
        reading.read(
            data.geom_xpos, data.geom_xmat, data.xpos, data.xmat,
            self._table, self._covering, self._boxes, self._links, self._columns, self._order,
            self._geoms, self._meshes, self.model.hfield_data, out,
        )  # fmt: skip
        return out

    def world(self, body_positions: np.ndarray, body_rotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Roots [m] and unit directions of all feelers in the world, (n, 3) each.

        body_positions (nbody, 3) [m] and body_rotations (nbody, 3, 3): the pose of each body in the world.
        """
        starts, directions = np.empty_like(self.positions), np.empty_like(self.normals)
        if not len(starts):
            return starts, directions
        reading.place_in_world(
            self.positions, self.normals, self.offsets, self._body_ids, body_positions, body_rotations,
            starts, directions,
        )  # fmt: skip
        return starts, directions

    def _compile(self, model: mujoco.MjModel) -> None:
        """Reads once, so that the kernels are compiled here and not in the middle of a run."""
        table, self._table = self._table, self._table[:0]  # of nobody: here all bodies are in one place
        self.read(mujoco.MjData(model))
        self._table = table
        self.world(np.zeros((model.nbody, 3)), np.zeros((model.nbody, 3, 3)))


def _one_each(what: str, given: float | Sequence[float], number: int) -> list[float]:
    """A value for each body."""
    if isinstance(given, Sequence | np.ndarray):
        if len(given) != number:
            raise ConfigError(f"feelers: {len(given)} values of {what} for {number} bodies; give one a body")
        return list(given)
    return [given] * number

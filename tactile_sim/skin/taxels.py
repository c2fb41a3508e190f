"""Where the taxels of a skin are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TypeVar

import mujoco
import numpy as np

from tactile_sim.errors import ConfigError, SceneError, suggest
from tactile_sim.geometry.curvature import geom_table
from tactile_sim.names import Names
from tactile_sim.skin import kernels
from tactile_sim.skin.neighbours import neighbours
from tactile_sim.skin.placement import even, mimo
from tactile_sim.skin.placement.merge import Placement, merge, separate
from tactile_sim.skin.placement.surface import BodySurface

T = TypeVar("T")

PLACEMENTS = {"even": Placement(even.cover), "mimo": mimo.PLACEMENT}
KINDS = {"mesh": merge, "geom": separate}
"""What covers a body: one patch over all its geoms, or one on each of them."""


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


class Taxels:
    """All taxels of a model in one block, body after body in the order of ids.

    A load falls on one patch of a body and is shared out within it: with ``kind="mesh"`` a body is one patch,
    with ``kind="geom"`` each colliding geom of a body is one, whole and unconnected with the others.

    Attributes: ``bodies``; over the n taxels, in their bodies' frames, ``positions`` (n, 3) [m], outward unit
    ``normals`` (n, 3) (0 for a taxel at the centre of a geom that is too small for the placement `mimo`: it
    faces every load), ``areas`` (n,) [m2], ``geom_index`` (n,) into the body's geom_ids and ``body_index``
    (n,) into bodies; ``offsets`` (b + 1,) of the bodies in that block and ``spacings`` (b,) [m];
    ``patch_offsets`` (p + 1,) of the patches in that block, ``patch_bodies`` (p,) index into bodies,
    ``patch_spacings`` (p,) [m], and ``patch_ids`` (p,): body ids, or with ``kind="geom"`` geom ids;
    ``neighbours``: where the list of each taxel begins (n + 1,), and the lists of the taxels beside it.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        scales: Mapping[int, float],
        placement: str = "even",
        kind: str | Callable[..., BodySurface] = "mesh",
    ) -> None:
        """scales: spacing [m] by body id; placement and kind: names in the tables above.

        kind may also be a function like `separate`, which covers a body geom by geom, or some of its geoms.

        Raises SceneError for a body that cannot bear a skin, naming it.
        """
        names = Names(model)
        where = choose("skin.placement", placement, PLACEMENTS)
        cover = choose("skin.kind", kind, KINDS)
        self.kind = kind
        self._geoms = geom_table(model)
        bodies: list[SkinBody] = []
        surfaces: list[BodySurface] = []
        patch_sizes: list[int] = []
        patch_bodies: list[int] = []
        patch_spacings: list[np.ndarray] = [np.empty(0)]
        start = 0
        for body in scales:
            if not isinstance(body, int | np.integer) or not 0 <= body < model.nbody:
                raise SceneError(
                    f"skin.scales: {body!r} is no id of a body; give one from 0 to {model.nbody - 1}"
                )
        for body, spacing in sorted(scales.items()):
            if not isinstance(spacing, Real) or not 0 < spacing < np.inf:
                raise SceneError(f"skin.scales.{names.bodies[body]}: {spacing!r} is no spacing; give metres")
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

    def world(
        self, body_positions: np.ndarray, body_rotations: np.ndarray, dtype: type = np.float64
    ) -> np.ndarray:
        """(n, 3) positions of all taxels in the world [m]; poses as in `Skin.loads`."""
        out: np.ndarray = np.empty((len(self.positions), 3), dtype)
        kernels.place_in_world(
            self.positions, self.offsets, self._body_ids, body_positions, body_rotations, out
        )
        return out


def choose(key: str, choice: str | T, table: Mapping[str, T]) -> T:
    """What a name stands for in a table; what is no name stands for itself. Raises ConfigError."""
    if not isinstance(choice, str):
        return choice
    if choice not in table:
        raise ConfigError(f"{key}: there is no {choice!r}{suggest(choice, table)}")
    return table[choice]

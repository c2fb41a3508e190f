"""The skin: taxels on bodies, and what they feel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import mujoco
import numpy as np

from tactile_sim.engines.contacts import Contacts
from tactile_sim.errors import ConfigError, SceneError, suggest
from tactile_sim.names import Names
from tactile_sim.skin import even, kernels
from tactile_sim.skin.loads import TOUCH_FUNCTIONS, Loads, TouchFunction
from tactile_sim.skin.merge import Placement, merge
from tactile_sim.skin.neighbours import neighbourhoods
from tactile_sim.skin.responses import RESPONSE_FUNCTIONS, Response

T = TypeVar("T")

PLACEMENTS = {"even": Placement(even.cover)}


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

    Attributes: ``bodies``; over the n taxels, in their bodies' frames, ``positions`` (n, 3) [m], outward unit
    ``normals`` (n, 3), ``areas`` (n,) [m2], ``geom_index`` (n,) into the body's geom_ids and ``body_index``
    (n,) into bodies; ``offsets`` (b + 1,) of the bodies in that block, ``spacings`` (b,) [m], and
    ``neighbourhoods``: where the list of each taxel begins (n + 1,), and the lists of the taxels within three
    spacings of it that a path on the surface leads to.
    """

    def __init__(self, model: mujoco.MjModel, scales: Mapping[int, float], placement: str = "even") -> None:
        """scales: spacing [m] by body id. Raises SceneError for a body that cannot bear a skin, naming it."""
        names = Names(model)
        where = _choose("skin.placement", placement, PLACEMENTS)
        bodies, surfaces, start = [], [], 0
        for body, spacing in sorted(scales.items()):
            if not (np.isfinite(spacing) and spacing > 0):
                raise SceneError(f"skin.scales.{names.bodies[body]}: {spacing} is no spacing; give metres")
            surface = merge(model, body, spacing, where, names)
            stop = start + len(surface.positions)
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
        edges = [np.empty((0, 2), np.int64)]
        edges += [surface.edges + body.start for surface, body in zip(surfaces, bodies, strict=True)]
        reach = 3 * self.spacings[self.body_index]
        self.neighbourhoods = neighbourhoods(self.positions, np.concatenate(edges), reach)
        self._grids = kernels.make_grids(self.positions, self.offsets, self.spacings)
        self._body_ids = np.array([body.body_id for body in bodies], np.int64)
        self._slot = np.full(model.nbody, -1, np.int64)
        self._slot[self._body_ids] = np.arange(len(bodies))
        self._compile(model.nbody)

    def loads(self, contacts: Contacts, body_positions: np.ndarray, body_rotations: np.ndarray) -> Loads:
        """What contacts put on the bodies with skin.

        body_positions (nbody, 3) [m] and body_rotations (nbody, 3, 3): the pose of each body in the world.
        """
        most = 2 * len(contacts)
        out = (
            np.empty(most, np.int64),
            np.empty(most, np.int64),
            np.empty((most, 3)),
            np.empty((most, 3)),
            np.empty((most, 3)),
            np.empty((most, 3)),
        )
        m = kernels.resolve_loads(
            contacts.position, contacts.frame, contacts.distance, contacts.bodies, contacts.wrench_world,
            self._slot, body_positions, body_rotations, *out,
        )  # fmt: skip
        return Loads(*(array[:m] for array in out))

    def sense(
        self,
        loads: Loads,
        touch: str | TouchFunction = "force_vector",
        response: str | Response = "spread_linear",
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """What the taxels feel, (n, channels) float64, in out where given; a body's sum is that of its loads.

        touch and response: names in TOUCH_FUNCTIONS and RESPONSE_FUNCTIONS, or functions of one's own.
        """
        channels, _, evaluate = _choose("skin.touch_function", touch, TOUCH_FUNCTIONS)
        spread = _choose("skin.response_function", response, RESPONSE_FUNCTIONS)
        if out is None:
            out = np.zeros((len(self.positions), channels))
        else:
            out[:] = 0.0
        spread(self, loads, evaluate(loads), out)
        return out

    def nearest(self, loads: Loads) -> np.ndarray:
        """(m,) the taxel that takes each load, as `tactile_sim.skin.responses` tells."""
        return kernels.nearest_taxels(
            loads.body, loads.point, loads.normal, self.positions, self.normals, self.spacings, self._grids
        )

    def body_wrenches(
        self, contacts: Contacts, body_positions: np.ndarray, body_rotations: np.ndarray
    ) -> np.ndarray:
        """(b, 6) net force [N] and torque [N m] of all contacts about each body's origin, in its frame.

        The torques that a contact passes by itself, torsional and rolling, are in it.
        """
        out = np.zeros((len(self.bodies), 6))
        kernels.net_wrenches(
            contacts.position, contacts.bodies, contacts.wrench_world, self._slot,
            body_positions, body_rotations, out,
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

    def _compile(self, nbody: int) -> None:
        """Feels nothing once, so that the kernels are compiled here and not in the middle of a run."""
        none = np.empty((0, 3))
        pairs = np.empty((0, 2), np.int32)
        wrenches = np.empty((0, 6))
        contacts = Contacts(none, np.empty((0, 3, 3)), np.empty(0), pairs, pairs, wrenches, wrenches, none)
        poses = np.zeros((nbody, 3)), np.zeros((nbody, 3, 3))
        loads = self.loads(contacts, *poses)
        for response in RESPONSE_FUNCTIONS:
            self.sense(loads, response=response)
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

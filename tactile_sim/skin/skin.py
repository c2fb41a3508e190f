"""The skin: what its taxels feel."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence

import mujoco
import numpy as np

from tactile_sim.engines.contacts import Contacts
from tactile_sim.errors import ConfigError, SceneError
from tactile_sim.skin import kernels
from tactile_sim.skin.elastic import group_loads
from tactile_sim.skin.hertz import STIFFNESS
from tactile_sim.skin.layer import elastic_arrays, own_memory
from tactile_sim.skin.loads import BUILT_IN, LOAD, TOUCH_FUNCTIONS, Loads, TouchFunction
from tactile_sim.skin.pads.place import PadPlan
from tactile_sim.skin.patches import TaxelIndex, k_nearest_taxels, sort_patches
from tactile_sim.skin.placement.surface import BodySurface
from tactile_sim.skin.responses import (
    DISTANCES,
    ELASTIC,
    LAWS,
    NEAREST,
    RESPONSE_FUNCTIONS,
    Response,
    elastic_foundation,
    spread,
)
from tactile_sim.skin.shares import Near, Shares, checked, gather
from tactile_sim.skin.taxels import Taxels, choose

THICKNESS = 2e-3
"""Default thickness of the elastic layer [m]."""
STRAIGHT_OR_ALONG = {"euclidean": False, "surface": True}
"""Measures of distance; True: along the surface."""
NOTHING = np.empty(0)


class Skin(Taxels):
    """Taxels with readings.

    `feel` computes readings from contacts. It has three steps, which are also public: `loads` returns the
    loads of contacts on patches, `shares` distributes them over taxels, and `sense` adds up the readings.
    `nearest` and `near` find taxels around loads, for response functions; `nearest_taxels`,
    `k_nearest_taxels` and `taxels_within` find those around any points.

    It has the attributes of `Taxels`, and ``stiffness`` [Pa] of `hertz`. It is not thread-safe, because its
    methods share scratch memory.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        scales: Mapping[int, float],
        placement: str = "even",
        kind: str | Callable[..., BodySurface] = "mesh",
        distance: str = "euclidean",
        stiffness: float = STIFFNESS,
        thickness: float = THICKNESS,
        pads: Sequence[PadPlan] = (),
    ) -> None:
        """Place the taxels and compile the kernels.

        Args:
            model: The model.
            scales: As in `Taxels`.
            placement: As in `Taxels`.
            kind: As in `Taxels`.
            distance: Measure of distances from a load: ``euclidean`` or along the ``surface``.
            stiffness: Plane-strain modulus of the skin [Pa].
            thickness: Thickness of the elastic layer [m].
            pads: As in `Taxels`.

        Raises:
            SceneError: As in `Taxels`.
            ConfigError: As in `Taxels`; the stiffness or thickness is out of range.
        """
        if not 0 < stiffness < np.inf:
            raise ConfigError(f"skin.stiffness: must be > 0 Pa and finite, got {stiffness}")
        if not 0 < thickness < np.inf:
            raise ConfigError(f"skin.thickness: must be > 0 m and finite, got {thickness}")
        super().__init__(model, scales, placement, kind, pads)
        self.stiffness, self.thickness = stiffness, thickness
        self._along = choose("skin.distance", distance, STRAIGHT_OR_ALONG)
        number, steps = len(self.positions), len(self.neighbours[1])
        by_pad = self.kind == "mesh"
        offsets, each = (self.offsets, self.spacings) if by_pad else (self.patch_offsets, self.patch_spacings)
        spacings = np.repeat(each, np.diff(offsets))
        ignoring = np.repeat([pad.ignores_outside for pad in self.pads], np.diff(self.offsets)).astype(bool)
        self._extents = np.stack([self.areas, spacings, np.where(ignoring, spacings, np.inf)], axis=1)
        self._has_limits = bool(ignoring.any())
        self._far = np.full(number, np.inf)
        self._index = tuple(
            TaxelIndex(
                self.surface_positions,
                self.normals,
                *sort_patches(self.surface_positions, self.patch_offsets, self.patch_spacings, self._extents),
                *self.neighbours,
                self._far,
                np.empty((steps + 1 if self._along else 0, 2)),
                np.empty((number if self._along else 0, 3)),
            )
        )
        self.elastic_arrays = (self._index, *elastic_arrays(self, model, stiffness, thickness))
        """Arguments of `elastic.add_readings`."""
        self._room = 32
        """Taxels to expect around a load."""
        self._sums: dict[int, np.ndarray] = {}
        """By number of channels, what `gather` works in."""
        self._factors: dict[Callable[[Skin], np.ndarray], np.ndarray] = {}
        self._compile(model.nbody)

    def feel(
        self,
        contacts: Contacts,
        body_positions: np.ndarray,
        body_rotations: np.ndarray,
        touch: str | TouchFunction = "force_vector",
        response: str | Response = "spread_linear",
        dtype: type = np.float64,
    ) -> np.ndarray:
        """Return the readings of contacts (n, channels): `sense` of their `loads`, with poses as there.

        Built-in functions run in one kernel, which is twice as fast.
        """
        touch = choose("skin.touch_function", touch, TOUCH_FUNCTIONS)
        response = choose("skin.response_function", response, RESPONSE_FUNCTIONS)
        quantity, law = BUILT_IN.get(touch.evaluate), LAWS.get(response)
        if touch.frame == "taxel" and touch.channels != 3:
            raise ConfigError(
                f"{_name(touch.evaluate)}: the frame 'taxel' requires 3 channels, got {touch.channels}"
            )
        if quantity is None or law is None:
            loads = self.loads(contacts, body_positions, body_rotations)
            return self.sense(loads, touch, response, dtype=dtype)
        out: np.ndarray = np.zeros((len(self.positions), touch.channels), dtype)
        sums = self._sums_of(touch.channels)
        state = contacts.values, contacts.ids, self._geoms, self.patch_bodies, body_positions, body_rotations
        what = quantity, touch.mean
        if law == ELASTIC:
            while not kernels.feel_elastic(
                *state, *what, self.stiffness, self._extents, *self.elastic_arrays, self._room, sums, out
            ):
                self._make_room()
        else:
            while not kernels.feel(
                *state, *what, law, self.stiffness, self._extents, self._index, self._room, sums, out
            ):
                self._make_room()
        return self._converted(out, touch)

    def twin(self) -> Skin:
        """Return this skin with working memory of its own, for another thread."""
        twin = copy.copy(self)
        twin._far = self._far.copy()
        index, (_, quad, solids, layer) = TaxelIndex(*self._index), self.elastic_arrays
        own = {name: getattr(index, name).copy() for name in ("scratch_heap", "scratch_vector")}
        twin._index = tuple(index._replace(scratch_distance=twin._far, **own))
        twin.elastic_arrays = (twin._index, quad, solids, own_memory(layer))
        twin._sums = {}
        return twin

    def loads(self, contacts: Contacts, body_positions: np.ndarray, body_rotations: np.ndarray) -> Loads:
        """Return the loads of contacts on the bodies with skin.

        Args:
            contacts: The contacts.
            body_positions: (nbody, 3) of each body in the world [m].
            body_rotations: (nbody, 3, 3) of each body in the world.
        """
        table = np.empty(2 * len(contacts), LOAD)
        m = kernels.resolve_loads(
            contacts.values, contacts.ids, self._geoms, self.patch_bodies, body_positions, body_rotations,
            table,
        )  # fmt: skip
        return Loads(table[:m])

    def inside(self, loads: Loads, response: str | Response = "spread_linear") -> np.ndarray:
        """Return whether taxels take each load, (m,) bool; False only on pads that ignore loads outside.

        A load is outside if its point is farther than one spacing from the nearest taxel, or if that taxel
        faces the other way. With `elastic_foundation`, this is decided for the center of all contacts with
        another body.
        """
        inside = np.ones(len(loads), bool)
        if self._has_limits:
            group, count = np.full(len(loads), -1), 0
            if choose("skin.response_function", response, RESPONSE_FUNCTIONS) is elastic_foundation:
                count = group_loads(loads.table, group)
            kernels.mark_inside(loads.table, group, count, self._extents, self._index, inside)
        return inside

    def outside(
        self,
        contacts: Contacts,
        body_positions: np.ndarray,
        body_rotations: np.ndarray,
        response: str | Response = "spread_linear",
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what falls outside the pads, see `inside`; other arguments as in `loads`.

        Returns:
            For each body with skin, as in ``body_ids``, the number (b,) of loads outside and the sum of their
            forces (b, 3) in the body's frame [N]. With it, the taxels of a body sum to its contact force.
        """
        loads = self.loads(contacts, body_positions, body_rotations)
        out = loads[~self.inside(loads, response)]
        forces = np.zeros((len(self.body_ids), 3))
        np.add.at(forces, out.body, out.force)
        return np.bincount(out.body, minlength=len(self.body_ids)), forces

    def sense(
        self,
        loads: Loads,
        touch: str | TouchFunction = "force_vector",
        response: str | Response | Shares | tuple[Loads, Shares] = "spread_linear",
        dtype: type = np.float64,
    ) -> np.ndarray:
        """Return the readings (n, channels); except for means, those of a body sum to its loads.

        touch and response: names in TOUCH_FUNCTIONS and RESPONSE_FUNCTIONS, user functions, or the result of
        `shares`. Values are added up in float64 and returned in an array of dtype.
        """
        touch = choose("skin.touch_function", touch, TOUCH_FUNCTIONS)
        shares = response if isinstance(response, tuple) else self.shares(loads, response)
        if not isinstance(shares, Shares):
            loads, shares = shares
        if len(shares.begin) != len(loads) + 1:
            raise ConfigError(
                f"these are the shares of {len(shares.begin) - 1} loads, not of these {len(loads)}"
            )
        values = np.ascontiguousarray(touch.evaluate(loads), float)
        if values.shape != (len(loads), touch.channels):
            raise ConfigError(
                f"skin.touch_function: {_name(touch.evaluate)} gave an array {values.shape} for"
                f" {len(loads)} loads; of {touch.channels} channels it must be {(len(loads), touch.channels)}"
            )
        out: np.ndarray = np.zeros((len(self.positions), touch.channels), dtype)
        gather(
            loads.table, shares.begin, shares.taxel, shares.weight, values, touch.mean,
            self._sums_of(touch.channels), out,
        )  # fmt: skip
        return self._converted(out, touch)

    def shares(
        self, loads: Loads, response: str | Response = "spread_linear"
    ) -> Shares | tuple[Loads, Shares]:
        """Return the shares of taxels in loads, for use with several touch functions.

        A response function such as `elastic_foundation` returns other loads in their place, and their shares.
        Loads outside the pads are left out, and then the others are returned with the shares.

        Raises:
            ConfigError: the name is unknown, or a user's function returned something invalid.
        """
        respond = choose("skin.response_function", response, RESPONSE_FUNCTIONS)
        if self._has_limits:
            loads = loads[self.inside(loads, respond)]
        shares = respond(self, loads)
        if respond in LAWS:
            return (loads, shares) if self._has_limits and isinstance(shares, Shares) else shares
        if isinstance(shares, tuple) and len(shares) == 2:
            loads, shares = shares
            return loads, checked(shares, _name(respond), len(loads), len(self.positions))
        shares = checked(shares, _name(respond), len(loads), len(self.positions))
        return (loads, shares) if self._has_limits else shares

    def nearest(self, loads: Loads) -> np.ndarray:
        """Return the taxel (m,) that takes each load, by the rule of `tactile_sim.skin.responses`."""
        return self.spread(loads, NEAREST)[1]

    def near(self, loads: Loads, reach: float | np.ndarray) -> Near:
        """Return the taxel that takes each load and those within reach, one or (m,) [m], of it.

        They face the load, and a path over such taxels connects them to the first.
        """
        return Near(*self.spread(loads, DISTANCES, np.full(len(loads), reach, float)))

    def spread(
        self, loads: Loads, law: int, reach: np.ndarray = NOTHING
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return begin, taxels and weights around loads by a law of `responses.spread`."""
        begin = np.empty(len(loads) + 1, np.int64)
        while True:
            room = self._room * len(loads)
            taxel, weight = np.empty(room, np.int64), np.empty(room)
            count = spread(
                loads.table, law, reach, self.stiffness, self._extents, self._index, begin, taxel, weight
            )
            if count >= 0:
                return begin, taxel[:count], weight[:count]
            self._make_room()

    # -- queries: which taxels of a patch are near points (m, 3), or one (3,), of its body's frame [m].
    # -- Indices of taxels run within the patch; distances are straight or along the surface, as in the skin.
    # -- Raise SceneError for a patch that does not exist.

    def nearest_taxels(self, patch: int, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m,) the taxel nearest to each point, and (m,) how far away it is [m]."""
        taxels, distances = self.k_nearest_taxels(patch, points, 1)
        return taxels[:, 0], distances[:, 0]

    def k_nearest_taxels(self, patch: int, points: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(m, k) the taxels nearest to each point, nearest first, and (m, k) how far away they are [m].

        Where the patch has fewer than k taxels, all of them. Along the surface, those that no path leads to
        come last, infinitely far.
        """
        points = self._points_on(patch, points)
        start, stop = self.patch_offsets[patch : patch + 2].tolist()
        k = min(k, stop - start)
        taxels, distances = np.empty((len(points), k), np.int64), np.empty((len(points), k))
        if not self._along:
            k_nearest_taxels(points, patch, self._index, taxels, distances)
            return taxels - start, distances
        found = self.taxels_within(patch, points, (2 + np.sqrt(k)) * self.patch_spacings[patch])
        if any(len(near) < k for near, _ in found):
            found = self.taxels_within(patch, points, np.inf)
        for m, (near, far) in enumerate(found):
            rest = np.setdiff1d(np.arange(stop - start), near)[: max(k - len(near), 0)]
            taxels[m] = np.concatenate([near[:k], rest])
            distances[m] = np.concatenate([far[:k], np.full(len(rest), np.inf)])
        return taxels, distances

    def taxels_within(
        self, patch: int, points: np.ndarray, limit: float | np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each point the taxels within the limit [m], nearest first, and how far away they are.

        Only those that a path over such taxels joins to the nearest one.
        """
        points = self._points_on(patch, points)
        loads = Loads.empty(len(points))
        loads.patch[:], loads.point[:] = patch, points
        limits = np.ascontiguousarray(np.broadcast_to(np.asarray(limit, float), len(points)))
        near = self.near(loads, limits)
        found = []
        for m in range(len(points)):
            these = slice(near.begin[m], near.begin[m + 1])
            taxels, distances = near.taxel[these], near.distance[these]
            order = np.lexsort([taxels, distances])
            order = order[distances[order] <= limits[m]]
            found.append((taxels[order] - self.patch_offsets[patch], distances[order]))
        return found

    def body_wrenches(
        self, contacts: Contacts, body_positions: np.ndarray, body_rotations: np.ndarray
    ) -> np.ndarray:
        """Return the net wrench of all contacts of each pad's body about its origin, in its frame.

        It includes the torsional and rolling torques of contacts, and loads that no taxel takes.

        Returns:
            (p, 6) force [N] and torque [N m]; pads on one body have the same.
        """
        out = np.zeros((len(self.body_ids), 6))
        kernels.net_wrenches(
            contacts.values, contacts.ids, self._slot, body_positions, body_rotations, out
        )  # fmt: skip
        return out if len(self.pads) == len(self.body_ids) else out[self._pad_slots]

    def _points_on(self, patch: int, points: np.ndarray) -> np.ndarray:
        """Return points (m, 3) for a query of a patch, which must exist."""
        if not 0 <= patch < len(self.patch_ids):
            raise SceneError(f"patch {patch} does not exist; the skin has {len(self.patch_ids)}")
        return np.ascontiguousarray(points, float).reshape(-1, 3)

    def _sums_of(self, channels: int) -> np.ndarray:
        if channels not in self._sums:
            self._sums[channels] = np.zeros((len(self.positions), 1 + channels))
        return self._sums[channels]

    def _converted(self, out: np.ndarray, touch: TouchFunction) -> np.ndarray:
        """Turn sums (n, c) into the frame of a touch function and multiply them by its factors, in place."""
        if touch.frame == "taxel":
            kernels.to_taxel_axes(out, self.axes)
        if touch.factor:
            if touch.factor not in self._factors:
                self._factors[touch.factor] = touch.factor(self)[:, None]
            read = np.flatnonzero(out[:, 0])
            out[read] *= self._factors[touch.factor][read]
        return out

    def _make_room(self) -> None:
        """After a walk that found more than there was room for."""
        self._room = min(4 * self._room, len(self.positions))
        self._far[:] = np.inf

    def _compile(self, nbody: int) -> None:
        """Feels nothing once, so that the kernels are compiled here and not in the middle of a run."""
        poses = np.zeros((nbody, 3)), np.zeros((nbody, 3, 3))
        contacts = Contacts.empty(0)
        loads = self.loads(contacts, *poses)
        for dtype in (np.float32, np.float64):
            self.sense(loads, dtype=dtype)
            self.feel(contacts, *poses, touch="force_vector_taxel", dtype=dtype)
        if nbody and len(self.positions):
            loads = Loads.empty(1)
            loads.point[:], loads.normal[:], loads.force[:] = self.surface_positions[0], (0, 0, 1), (0, 0, 1)
            loads.other[:], loads.other_body[:], loads.skins[:] = 0, 0, 1
            self.sense(loads, response=RESPONSE_FUNCTIONS["elastic_foundation"])
            self.feel(contacts, *poses, response=RESPONSE_FUNCTIONS["elastic_foundation"])
            self.inside(loads)
        self.body_wrenches(contacts, *poses)
        self.world(*poses)


def _name(function: Callable) -> str:
    """Return the name of a user's function, which may be an object, for errors."""
    return getattr(function, "__name__", repr(function))

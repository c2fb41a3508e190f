"""The skin: what its taxels feel."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping

import mujoco
import numpy as np

from tactile_sim.engines.contacts import Contacts
from tactile_sim.errors import ConfigError, SceneError
from tactile_sim.geometry.solids import solids
from tactile_sim.skin import kernels
from tactile_sim.skin.elastic import Layer, add_readings
from tactile_sim.skin.hertz import STIFFNESS
from tactile_sim.skin.loads import BUILT_IN, LOAD, TOUCH_FUNCTIONS, Loads, TouchFunction
from tactile_sim.skin.patches import TaxelIndex, k_nearest_taxels, sort_patches
from tactile_sim.skin.placement.surface import BodySurface
from tactile_sim.skin.quadrature import quadrature
from tactile_sim.skin.responses import DISTANCES, ELASTIC, LAWS, NEAREST, RESPONSE_FUNCTIONS, Response, spread
from tactile_sim.skin.shares import Near, Shares, checked, flush, gather
from tactile_sim.skin.taxels import Taxels, choose

THICKNESS = 2e-3
"""Default thickness of the elastic layer [m]."""
STRAIGHT_OR_ALONG = {"euclidean": False, "surface": True}
"""Whether distances are along the surface."""
NOTHING = np.empty(0)


class Skin(Taxels):
    """Taxels that feel.

    `feel` goes from contacts to taxels. It is made of three steps, each of use by itself: `loads` are what
    contacts put on the patches, `shares` how these fall on taxels, and `sense` adds up what taxels tell of
    them. `nearest` and `near` find taxels around loads, as response functions need them; `nearest_taxels`,
    `k_nearest_taxels` and `taxels_within` those around any points.

    Attributes: those of `Taxels`, and ``stiffness`` [Pa] of `hertz`. One thread at a time: it works in memory
    of its own.
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
    ) -> None:
        """distance: straight, or along the surface; what comes before it, and errors, as in `Taxels`."""
        if not 0 < stiffness < np.inf:
            raise ConfigError(f"skin.stiffness: must be > 0 Pa and finite, got {stiffness}")
        if not 0 < thickness < np.inf:
            raise ConfigError(f"skin.thickness: must be > 0 m and finite, got {thickness}")
        super().__init__(model, scales, placement, kind)
        self.stiffness, self.thickness = stiffness, thickness
        self._along = choose("skin.distance", distance, STRAIGHT_OR_ALONG)
        number, steps = len(self.positions), len(self.neighbours[1])
        self._far = np.full(number, np.inf)
        self._index = tuple(
            TaxelIndex(
                self.positions,
                self.normals,
                *sort_patches(self.positions, self.patch_offsets, self.patch_spacings),
                *self.neighbours,
                self._far,
                np.empty((steps + 1 if self._along else 0, 2)),
                np.empty((number if self._along else 0, 3)),
            )
        )
        triangles = [body.triangles.astype(np.int64) + body.start for body in self.bodies]
        self.elastic_arrays: tuple[tuple, tuple, tuple, tuple] = (
            self._index,
            tuple(
                quadrature(
                    self.positions,
                    self.normals,
                    self.areas,
                    np.concatenate([np.empty((0, 3), np.int64), *triangles]),
                )
            ),
            tuple(solids(model)),
            tuple(
                Layer(
                    float(stiffness),
                    float(thickness),
                    np.full(number, np.inf),
                    np.zeros((number, 4)),
                    np.empty(number, np.int64),
                    np.empty(number, np.int64),
                )
            ),
        )
        """What `elastic` takes."""
        self._room = 32
        """Taxels to expect around a load."""
        self._sums: dict[int, np.ndarray] = {}
        """By number of channels, what `gather` works in."""
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
        """What taxels feel of contacts, (n, channels): as `sense` of their `loads`, with poses as there.

        Functions that come with the skin take one kernel for it all, which is twice as fast.
        """
        touch = choose("skin.touch_function", touch, TOUCH_FUNCTIONS)
        response = choose("skin.response_function", response, RESPONSE_FUNCTIONS)
        quantity, law = BUILT_IN.get(touch.evaluate), LAWS.get(response)
        if quantity is None or law is None:
            loads = self.loads(contacts, body_positions, body_rotations)
            return self.sense(loads, touch, response, dtype=dtype)
        out: np.ndarray = np.zeros((len(self.positions), touch.channels), dtype)
        if law == ELASTIC:
            loads, sums = self.loads(contacts, body_positions, body_rotations), self._sums_of(touch.channels)
            group = np.empty(len(loads), np.int64)
            touched = add_readings(loads.table, group, *self.elastic_arrays, quantity, touch.mean, sums)
            flush(touched, touch.mean, sums, out)
            return self.sense(loads, touch, response, dtype) if (group < 0).any() else out
        while not kernels.feel(
            contacts.values, contacts.ids, self._geoms, self.patch_bodies, body_positions, body_rotations,
            quantity, touch.mean, law, self.stiffness, self.areas, self._index, self._room,
            self._sums_of(touch.channels), out,
        ):  # fmt: skip
            self._make_room()
        return out

    def twin(self) -> Skin:
        """Return this skin with working memory of its own, for another thread."""
        twin = copy.copy(self)
        index, layer = TaxelIndex(*self._index), Layer(*self.elastic_arrays[-1])
        twin._far = self._far.copy()
        twin._index = tuple(
            index._replace(
                scratch_distance=twin._far,
                scratch_heap=index.scratch_heap.copy(),
                scratch_vector=index.scratch_vector.copy(),
            )
        )
        memory = {name: getattr(layer, name).copy() for name in ("gap", "sums", "taxel", "touched")}
        _, quad, solid, _ = self.elastic_arrays
        twin.elastic_arrays = (twin._index, quad, solid, tuple(layer._replace(**memory)))
        twin._sums = {}
        return twin

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
        response: str | Response | Shares | tuple[Loads, Shares] = "spread_linear",
        dtype: type = np.float64,
    ) -> np.ndarray:
        """What the taxels feel, (n, channels); the taxels of a body sum to its loads, but for a mean.

        touch and response: names in TOUCH_FUNCTIONS and RESPONSE_FUNCTIONS, or functions of one's own, or
        what `shares` gave. Values are added up in float64; they come in an array of dtype.
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
        return out

    def shares(
        self, loads: Loads, response: str | Response = "spread_linear"
    ) -> Shares | tuple[Loads, Shares]:
        """Return the shares of taxels in loads, for use with several touch functions.

        A response function such as `elastic_foundation` returns other loads in their place, and their shares.

        Raises:
            ConfigError: the name is unknown, or a user's function returned something invalid.
        """
        respond = choose("skin.response_function", response, RESPONSE_FUNCTIONS)
        shares = respond(self, loads)
        if respond in LAWS:
            return shares
        if isinstance(shares, tuple) and len(shares) == 2:
            loads, shares = shares
            return loads, checked(shares, _name(respond), len(loads), len(self.positions))
        return checked(shares, _name(respond), len(loads), len(self.positions))

    def nearest(self, loads: Loads) -> np.ndarray:
        """(m,) the taxel that takes each load, as `tactile_sim.skin.responses` tells."""
        return self.spread(loads, NEAREST)[1]

    def near(self, loads: Loads, reach: float | np.ndarray) -> Near:
        """The taxel that takes each load, and those within reach [m] of it (one, or (m,) for each load).

        Only those that face the load and are joined to the first by a path over such taxels.
        """
        return Near(*self.spread(loads, DISTANCES, np.full(len(loads), reach, float)))

    def spread(
        self, loads: Loads, law: int, reach: np.ndarray = NOTHING
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Begin, taxels and weights around loads by a law that `responses.spread` knows."""
        begin = np.empty(len(loads) + 1, np.int64)
        while True:
            room = self._room * len(loads)
            taxel, weight = np.empty(room, np.int64), np.empty(room)
            count = spread(
                loads.table, law, reach, self.stiffness, self.areas, self._index, begin, taxel, weight
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
        """(b, 6) net force [N] and torque [N m] of all contacts about each body's origin, in its frame.

        The torques that a contact passes by itself, torsional and rolling, are in it.
        """
        out = np.zeros((len(self.bodies), 6))
        kernels.net_wrenches(
            contacts.values, contacts.ids, self._slot, body_positions, body_rotations, out
        )  # fmt: skip
        return out

    def _points_on(self, patch: int, points: np.ndarray) -> np.ndarray:
        """Points (m, 3) to ask a patch about, which must be there."""
        if not 0 <= patch < len(self.patch_ids):
            raise SceneError(
                f"there is no patch {patch} of the skin: it has {len(self.patch_ids)}, from 0 on"
            )
        return np.ascontiguousarray(points, float).reshape(-1, 3)

    def _sums_of(self, channels: int) -> np.ndarray:
        if channels not in self._sums:
            self._sums[channels] = np.zeros((len(self.positions), 1 + channels))
        return self._sums[channels]

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
            self.feel(contacts, *poses, dtype=dtype)
        if nbody and len(self.positions):
            loads = Loads.empty(1)
            loads.point[:], loads.normal[:], loads.force[:] = self.positions[0], (0, 0, 1), (0, 0, 1)
            loads.other[:], loads.other_body[:], loads.skins[:] = 0, 0, 1
            self.sense(loads, response=RESPONSE_FUNCTIONS["elastic_foundation"])
            self.feel(contacts, *poses, response=RESPONSE_FUNCTIONS["elastic_foundation"])
        self.body_wrenches(contacts, *poses)
        self.world(*poses)


def _name(function: Callable) -> str:
    """How errors call a function of one's own, which may be an object."""
    return getattr(function, "__name__", repr(function))

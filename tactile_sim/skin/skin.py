"""The class `Skin`, which computes the readings of taxels from contacts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.common.errors import ConfigError, SceneError
from tactile_sim.common.schema import distance_array, float_type, is_index, known, positions, whole
from tactile_sim.engines.contacts import Contacts
from tactile_sim.geometry.solids import solids
from tactile_sim.skin.checks import (
    checked_factor,
    find_touch,
    given_shares,
    number_of,
    require_contacts,
    require_loads,
)
from tactile_sim.skin.layer_tables import layer_tables
from tactile_sim.skin.loads import Loads
from tactile_sim.skin.materials import (
    BONDS,
    POISSON_RATIO,
    POISSON_RATIO_RANGE,
    SENSOR_DEPTH_RANGE,
    STIFFNESS,
    STIFFNESS_RANGE,
    THICKNESS,
    THICKNESS_RANGE,
    by_body,
)
from tactile_sim.skin.pads.plan import PadPlan
from tactile_sim.skin.patches import PATCH
from tactile_sim.skin.placement.surface import BodySurface
from tactile_sim.skin.quadrature import quadrature
from tactile_sim.skin.responses import (
    DISTANCES,
    HERTZ,
    LAWS,
    NEAREST,
    OVER_AREAS,
    RESPONSE_FUNCTIONS,
    THICK,
    Response,
)
from tactile_sim.skin.shares import Near, Shares, checked
from tactile_sim.skin.taxels import Taxels, choose
from tactile_sim.skin.touch_functions import FORCE_VECTOR, TouchFunction, checked_values, name_of


class Reader:
    """Computes readings for one touch function and one response function."""

    def __init__(self, skin: Skin, touch: TouchFunction, response: Response, dtype: np.dtype):
        """Prepare the computation; see `Skin.reader`."""
        touch, quantity = find_touch(touch)
        law = number_of(response, LAWS)
        self.native = quantity is not None and law is not None
        """Whether both functions are built in."""
        self._skin, self._touch, self._response, self._dtype = skin, touch, response, dtype
        self._shape = len(skin.positions), touch.channels
        if quantity is not None and law is not None:
            self.function = skin._function(touch, quantity, law)

    def __call__(self, contacts: Contacts, positions: np.ndarray, rotations: np.ndarray) -> np.ndarray:
        """Return the readings (n, channels) due to contacts, without checking the arguments.

        Args:
            contacts: The contacts.
            positions: (nbody, 3) positions of the bodies in the world [m].
            rotations: (nbody, 3, 3) rotations from body frames to the world.
        """
        if not self.native:
            loads = self._skin.loads(contacts, positions, rotations)
            return self._skin.readings_from_loads(loads, self._touch, self._response, self._dtype.type)
        out: np.ndarray = np.zeros(self._shape, self._dtype)
        self._skin.native.read(self.function, contacts.values, contacts.ids, positions, rotations, out)
        return out

    def from_data(self, model: int, data: int) -> np.ndarray:
        """Return the readings (n, channels) due to the contacts in MuJoCo's data, if `native`.

        Args:
            model: Address of the model.
            data: Address of its data.
        """
        out: np.ndarray = np.zeros(self._shape, self._dtype)
        self._skin.native.read_data(self.function, model, data, out)
        return out


"""Function that maps contacts and the poses of all bodies to readings (n, channels)."""
ALONG_SURFACE = {"euclidean": False, "surface": True}
"""For each measure of distance, whether it follows the surface."""
NONE = np.empty(0)


class Skin(Taxels):
    """The skin of a model, which computes the readings of its taxels.

    The three steps of `readings_from_contacts` can also be called separately: `loads` converts contacts to
    loads on patches, `shares` distributes them over taxels, and `readings_from_loads` adds up the readings.

    `nearest`, `taxels_near_loads` and `spread` find taxels around loads, for response functions.
    `nearest_taxels`, `k_nearest_taxels` and `taxels_within` find taxels around arbitrary points.

    A skin is constant, so several threads can use it.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        scales: Mapping[int, float],
        placement: str = "even",
        kind: str | Callable[..., BodySurface] = "mesh",
        distance: str = "euclidean",
        stiffness: float | Mapping[int, float] = STIFFNESS,
        thickness: float | Mapping[int, float] = THICKNESS,
        pads: Sequence[PadPlan] = (),
        poisson_ratio: float | Mapping[int, float] = POISSON_RATIO,
        sensor_depth: float | Mapping[int, float] = 0.0,
        core: str = "bonded",
    ) -> None:
        """Place the taxels and prepare the search for them.

        Args:
            model: The model.
            scales: Spacing [m] of the taxels on each body to cover completely, keyed by body id.
            placement: Name in `PLACEMENTS`.
            kind: Name in `KINDS`, or a function that covers the geoms of a body.
            distance: How distances from a load are measured: ``euclidean`` or along the ``surface``.
            stiffness: Plane-strain modulus of the skin [Pa], which determines the size of contact areas: one
                value for all bodies, or a dictionary keyed by body id. Other bodies have the default.
            thickness: Thickness of the elastic layer [m], specified like ``stiffness``.
            pads: Pads in addition to those of ``scales``.
            poisson_ratio: Poisson's ratio of the layer, specified like ``stiffness``.
            sensor_depth: Depth of the taxels below the surface of the layer [m], likewise.
            core: Whether the layer is ``bonded`` to the body below it, or ``sliding`` on it. The last three
                are only used by `elastic_layer`.

        Raises:
            SceneError: The model is not a MuJoCo model, or a body or spacing is invalid.
            ConfigError: A name, a pad or a property of the layer is invalid, or there are too many taxels.
        """
        super().__init__(model, scales, placement, kind, pads)
        moduli = by_body("skin.stiffness", stiffness, STIFFNESS, STIFFNESS_RANGE, self.body_ids)
        layers = by_body("skin.thickness", thickness, THICKNESS, THICKNESS_RANGE, self.body_ids)
        self.patch_stiffness = moduli[self.patch_bodies]
        """(q,) plane-strain modulus of the skin of each patch [Pa]."""
        self.patch_thickness = layers[self.patch_bodies]
        """(q,) thickness of the elastic layer of each patch [m]."""
        ratios = by_body(
            "skin.poisson_ratio", poisson_ratio, POISSON_RATIO, POISSON_RATIO_RANGE, self.body_ids
        )
        depths = by_body("skin.sensor_depth", sensor_depth, 0.0, SENSOR_DEPTH_RANGE, self.body_ids)
        if (depths > layers).any():
            worst = int(np.argmax(depths - layers))
            name = model.body(int(self.body_ids[worst])).name
            raise ConfigError(
                f"skin.sensor_depth: of body {name!r}: must be at most its skin.thickness,"
                f" {layers[worst]:g} m, got {depths[worst]:g} m"
            )
        bonded = BONDS[known("skin.core: unknown name", core, BONDS, ConfigError)]
        kinds = list(zip(ratios.tolist(), (depths / layers).tolist(), [bonded] * len(ratios), strict=True))
        self._layers = {kind: k for k, kind in enumerate(dict.fromkeys(kinds))}
        self.along_surface = ALONG_SURFACE[
            known("skin.distance: unknown name", distance, ALONG_SURFACE, ConfigError)
        ]
        """Whether distances from a load follow the surface."""
        by_pad = self.kind == "mesh"
        offsets, each = (self.offsets, self.spacings) if by_pad else (self.patch_offsets, self.patch_spacings)
        spacings = np.repeat(each, np.diff(offsets))
        ignoring = np.repeat([pad.ignores_outside for pad in self.pads], np.diff(self.offsets)).astype(bool)
        self.extents = np.stack([self.areas, spacings, np.where(ignoring, spacings, np.inf)], axis=1)
        """(n, 3) area [m2] of each taxel, spacing of its pad [m], and maximum distance of a load that it
        receives [m], which is infinite by default."""
        self._has_limits = bool(ignoring.any())
        patches = np.zeros(len(self.patch_ids), PATCH)
        patches["start"], patches["stop"] = self.patch_offsets[:-1], self.patch_offsets[1:]
        patches["spacing"] = self.patch_spacings
        patches["modulus"], patches["thickness"] = self.patch_stiffness, self.patch_thickness
        patches["depth"] = depths[self.patch_bodies]
        patches["table"] = np.array([self._layers[kind] for kind in kinds], np.int64)[self.patch_bodies]
        self.quadrature, self.solids = quadrature(self), solids(model)
        self.native = _core.Skin(
            self.surface_positions, self.normals, self.axes, self.extents, *self.neighbors,
            self.along_surface, patches, self.patch_bodies, self._geoms, self._slot, len(self.body_ids),
            self.quadrature, self.solids,
        )  # fmt: skip
        self.layers = NONE
        """Tables of `layer_tables`, if `elastic_layer` is used."""
        self._functions: dict[tuple, _core.SkinFunction] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Skin:
        """Return this skin, because it is constant."""
        return self

    def readings_from_contacts(
        self,
        contacts: Contacts,
        body_positions: np.ndarray,
        body_rotations: np.ndarray,
        touch: str | TouchFunction = "force_vector",
        response: str | Response = "elastic_foundation",
        dtype: type = np.float64,
    ) -> np.ndarray:
        """Return the readings (n, channels) due to contacts.

        The result is the same as that of `readings_from_loads` for the `loads` of the contacts. Built-in
        touch and response functions are computed by native code.

        Args:
            contacts: The contacts.
            body_positions: (nbody, 3) positions of the bodies in the world [m].
            body_rotations: (nbody, 3, 3) rotations from body frames to the world.
            touch: Name in `TOUCH_FUNCTIONS`, or a user-defined touch function.
            response: Name in `RESPONSE_FUNCTIONS`, or a user-defined response function.
            dtype: Type of the result, float32 or float64. Values are summed in float64.

        Raises:
            ConfigError: A name is unknown, or a user-defined function is invalid.
            CommandError: Another argument is invalid, or the contacts are not those of this model.
        """
        read = self.reader(touch, response, dtype)
        require_contacts(self, contacts, body_positions, body_rotations)
        return read(contacts, body_positions, body_rotations)

    def reader(self, touch: str | TouchFunction, response: str | Response, dtype: type) -> Reader:
        """Return an object that computes readings from contacts without checking them.

        It is faster than `readings_from_contacts`, which describes the arguments, because they are checked
        only once.
        """
        touch, _ = find_touch(touch)
        respond = choose("skin.response_function", response, RESPONSE_FUNCTIONS)
        return Reader(self, touch, respond, float_type("dtype", dtype))

    def readings_from_loads(
        self,
        loads: Loads,
        touch: str | TouchFunction = "force_vector",
        response: str | Response | Shares | tuple[Loads, Shares] = "elastic_foundation",
        dtype: type = np.float64,
    ) -> np.ndarray:
        """Return the readings (n, channels) due to loads.

        Unless readings are means or have factors, the readings of a body's taxels sum to the body's loads.

        Args:
            loads: The loads.
            touch: Name in `TOUCH_FUNCTIONS`, or a user-defined touch function.
            response: Name in `RESPONSE_FUNCTIONS`, a user-defined response function, or the result of
                `shares`.
            dtype: Type of the result, float32 or float64. Values are summed in float64.

        Raises:
            ConfigError: A name is unknown, a touch function or shares are invalid, or a user-defined function
                returned an invalid result.
            CommandError: Another argument is invalid.
        """
        touch, _ = find_touch(touch)
        require_loads(self, loads)
        if isinstance(response, tuple):
            loads, shares = given_shares(self, loads, response)
        else:
            shared = self.shares(loads, response)
            loads, shares = (loads, shared) if isinstance(shared, Shares) else shared
        each = loads
        if touch.at_taxels:
            each = Loads.of_bytes(self.native.at_taxels(loads.records, shares.begin, shares.taxel))
        values = checked_values(touch, each)
        out: np.ndarray = np.zeros((len(self.positions), touch.channels), float_type("dtype", dtype))
        self.native.gather(self._function(touch), loads.records, *shares, values, out)
        return out

    def shares(
        self, loads: Loads, response: str | Response = "elastic_foundation"
    ) -> Shares | tuple[Loads, Shares]:
        """Distribute loads over taxels; the result can be used with several touch functions.

        If a response function such as `elastic_foundation` replaces the loads, or if loads outside the pads
        are left out, the new loads are returned together with the shares.

        Raises:
            ConfigError: The name is unknown, or a user-defined function returned an invalid result.
            CommandError: The loads are invalid.
        """
        require_loads(self, loads)
        respond = choose("skin.response_function", response, RESPONSE_FUNCTIONS)
        if self._has_limits:
            loads = loads[self.inside(loads, respond)]
        shares: Any = respond(self, loads)
        if number_of(respond, LAWS) is not None:
            return (loads, shares) if self._has_limits and isinstance(shares, Shares) else shares
        replaced = isinstance(shares, tuple) and len(shares) == 2
        if replaced:
            loads, shares = shares
            require_loads(self, loads)
        where = f"skin.response_function: result of {name_of(respond)}"
        shares = checked(shares, where, len(loads), len(self.positions))
        return (loads, shares) if replaced or self._has_limits else shares

    def loads(self, contacts: Contacts, body_positions: np.ndarray, body_rotations: np.ndarray) -> Loads:
        """Convert contacts to loads on the bodies with skin.

        Args:
            contacts: The contacts.
            body_positions: (nbody, 3) positions of the bodies in the world [m].
            body_rotations: (nbody, 3, 3) rotations from body frames to the world.

        Raises:
            CommandError: An argument is invalid, or the contacts are not those of this model.
        """
        require_contacts(self, contacts, body_positions, body_rotations)
        return Loads.of_bytes(
            self.native.loads(contacts.values, contacts.ids, body_positions, body_rotations)
        )

    def inside(self, loads: Loads, response: str | Response = "elastic_foundation") -> np.ndarray:
        """Return whether each load (m,) is inside the pads; False only on pads that ignore loads outside.

        A load is outside if its point is farther than one spacing from the nearest taxel, or if that taxel
        faces away from it. With `elastic_foundation` and `elastic_layer`, all contacts with another body are
        tested together at their center.

        Raises:
            ConfigError: The name of the response function is unknown.
            CommandError: The loads are invalid.
        """
        require_loads(self, loads)
        response = choose("skin.response_function", response, RESPONSE_FUNCTIONS)
        if not self._has_limits:
            return np.ones(len(loads), bool)
        return self.native.inside(loads.records, response in OVER_AREAS)

    def outside(
        self,
        contacts: Contacts,
        body_positions: np.ndarray,
        body_rotations: np.ndarray,
        response: str | Response = "elastic_foundation",
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sum up the loads outside the pads, see `inside`; the arguments are as in `loads` and `inside`.

        Returns:
            For each body with skin, in the order of ``body_ids``, the number of loads outside (b,) and the
            sum of their forces (b, 3) in the body's frame [N]. This sum and the forces on the body's taxels
            add up to the net contact force on the body.

        Raises:
            ConfigError: The name of the response function is unknown.
            CommandError: The contacts or poses are invalid.
        """
        loads = self.loads(contacts, body_positions, body_rotations)
        out = loads[~self.inside(loads, response)]
        forces = np.zeros((len(self.body_ids), 3))
        np.add.at(forces, out.body, out.force)
        return np.bincount(out.body, minlength=len(self.body_ids)), forces

    def body_wrenches(
        self, contacts: Contacts, body_positions: np.ndarray, body_rotations: np.ndarray
    ) -> np.ndarray:
        """Return the net wrench of all contacts on the body of each pad, about its origin and in its frame.

        It includes the torsional and rolling torques of contacts, and loads that no taxel receives.

        Returns:
            (p, 6) force [N] and torque [N m], 0 for pads on flexes. Pads on one body have the same wrench.

        Raises:
            CommandError: The contacts or poses are invalid.
        """
        require_contacts(self, contacts, body_positions, body_rotations)
        out = self.native.wrenches(contacts.values, contacts.ids, body_positions, body_rotations)
        return out if len(self.pads) == len(self.body_ids) else out[self._pad_slots]

    def nearest(self, loads: Loads) -> np.ndarray:
        """Return the taxel (m,) that receives each load, by the rule in `tactile_sim.skin.responses`."""
        return self.spread(loads, NEAREST)[1]

    def taxels_near_loads(self, loads: Loads, reach: float | np.ndarray) -> Near:
        """Return the taxel that receives each load and the taxels within reach that face the load.

        Taxels are only included if a path over such taxels connects them to the receiving taxel.

        Args:
            loads: The m loads.
            reach: Maximum distance [m], as a scalar or (m,).

        Raises:
            CommandError: The loads or the reach are invalid.
        """
        return Near(*self.spread(loads, DISTANCES, reach))

    def spread(
        self, loads: Loads, law: int, reach: float | np.ndarray = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the taxels around loads, with weights according to a law of `responses.spread`.

        Args:
            loads: The m loads.
            law: Number of the law, from DISTANCES to HERTZ.
            reach: Radius of the search [m], as a scalar or (m,), for the law `DISTANCES`.

        Returns:
            A tuple of three arrays:

            - ``begin`` (m + 1,): start of each load in the other two arrays; the last entry is k.
            - ``taxel`` (k,): indices of taxels in the skin, load by load.
            - ``weight`` (k,): weights of these taxels or, with the law `DISTANCES`, their distances [m].

        Raises:
            CommandError: An argument is invalid.
        """
        require_loads(self, loads)
        law = whole("law", law, DISTANCES, HERTZ)
        limits = distance_array("reach", reach, len(loads)) if law == DISTANCES else NONE
        return self.native.spread(loads.records, law, limits)

    # -- queries: taxels of one patch near points (m, 3), or one (3,), in the frame of its body [m].
    # -- Indices of taxels start at 0 in each patch; distances are as in `taxels_near_loads`. All raise
    # -- SceneError if the patch does not exist, and CommandError if another argument is invalid.

    def nearest_taxels(self, patch: int, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the taxel of a patch that is nearest to each point.

        Args:
            patch: Index of the patch.
            points: (m, 3) points, or one point (3,), in the frame of the patch's body [m].

        Returns:
            Indices of the taxels (m,), counted from 0 within the patch, and their distances (m,) [m].

        Raises:
            SceneError: The patch does not exist.
            CommandError: The points are invalid.
        """
        taxels, distances = self.k_nearest_taxels(patch, points, 1)
        return taxels[:, 0], distances[:, 0]

    def k_nearest_taxels(self, patch: int, points: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k taxels of a patch that are nearest to each point, nearest first.

        Args:
            patch: Index of the patch.
            points: (m, 3) points, or one point (3,), in the frame of the patch's body [m].
            k: Number of taxels. If the patch has fewer, all of them are returned.

        Returns:
            Indices of the taxels (m, k), counted from 0 within the patch, and their distances (m, k) [m]. For
            distances along the surface, taxels that are not connected to the point by a path come last, with
            infinite distance.

        Raises:
            SceneError: The patch does not exist.
            CommandError: The points or ``k`` are invalid.
        """
        points, k = self._points_on(patch, points), whole("k", k)
        start, stop = self.patch_offsets[patch : patch + 2].tolist()
        k = min(k, stop - start)
        taxels, distances = np.empty((len(points), k), np.int64), np.empty((len(points), k))
        if k == 0:
            return taxels, distances
        if not self.along_surface:
            taxels, distances = self.native.k_nearest(patch, points, k)
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
        """Find the taxels of a patch within a distance of each point, nearest first.

        Taxels are only included if a path over taxels within this distance connects them to the nearest one.

        Args:
            patch: Index of the patch.
            points: (m, 3) points, or one point (3,), in the frame of the patch's body [m].
            limit: Maximum distance [m], as a scalar or (m,).

        Returns:
            For each point, the indices of the k taxels (k,), counted from 0 within the patch, and their
            distances (k,) [m].

        Raises:
            SceneError: The patch does not exist.
            CommandError: The points or the limit are invalid.
        """
        points = self._points_on(patch, points)
        loads = Loads.empty(len(points))
        loads.patch[:], loads.point[:] = patch, points
        limits = distance_array("limit", limit, len(points))
        near = self.taxels_near_loads(loads, limits)
        found = []
        for m in range(len(points)):
            these = slice(near.begin[m], near.begin[m + 1])
            taxels, distances = near.taxel[these], near.distance[these]
            order = np.lexsort([taxels, distances])
            order = order[distances[order] <= limits[m]]
            found.append((taxels[order] - self.patch_offsets[patch], distances[order]))
        return found

    def _points_on(self, patch: int, points: np.ndarray) -> np.ndarray:
        """Convert the points of a query to an array (m, 3), and check that the patch exists."""
        if not is_index(patch, len(self.patch_ids)):
            raise SceneError(f"patch {patch!r} does not exist; the skin has {len(self.patch_ids)}")
        return np.ascontiguousarray(positions("points", points)).reshape(-1, 3)

    def tabulate_layers(self) -> None:
        """Compute what `elastic_layer` requires, once."""
        if not len(self.layers) and self._layers:
            self.layers = np.concatenate([layer_tables(*kind).ravel() for kind in self._layers])
            self.native.set_layers(self.layers)

    def _function(
        self, touch: TouchFunction, quantity: int = FORCE_VECTOR, law: int = NEAREST
    ) -> _core.SkinFunction:
        """Return the native description of a touch function's readings."""
        if law == THICK:
            self.tabulate_layers()
        key = touch.mean, touch.frame, touch.factor, quantity, law
        if key not in self._functions:
            factors = checked_factor(self, touch.factor) if touch.factor else NONE
            self._functions[key] = _core.SkinFunction(
                quantity, law, touch.mean, touch.frame == "taxel", factors
            )
        return self._functions[key]

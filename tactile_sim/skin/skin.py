"""The class `Skin`, which computes the readings of taxels from contacts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from tactile_sim.arguments import float_type
from tactile_sim.engines.contacts import Contacts
from tactile_sim.skin import kernels
from tactile_sim.skin.checks import (
    checked_factor,
    find_touch,
    given_shares,
    number_of,
    require_contacts,
    require_loads,
)
from tactile_sim.skin.layer import elastic_arrays
from tactile_sim.skin.loaded_taxels import LoadedTaxels
from tactile_sim.skin.loads import Loads
from tactile_sim.skin.materials import STIFFNESS, THICKNESS
from tactile_sim.skin.pads.plan import PadPlan
from tactile_sim.skin.patches import TaxelIndex
from tactile_sim.skin.placement.surface import BodySurface
from tactile_sim.skin.responses import LAWS, RESPONSE_FUNCTIONS, Response
from tactile_sim.skin.shares import Shares, at_taxels, checked, gather
from tactile_sim.skin.taxels import choose
from tactile_sim.skin.touch_functions import TouchFunction, checked_values, name_of

Reader = Callable[[Contacts, np.ndarray, np.ndarray], np.ndarray]
"""Function that maps contacts and the poses of all bodies to readings (n, channels)."""


class Skin(LoadedTaxels):
    """The skin of a model, which computes the readings of its taxels.

    The three steps of `readings_from_contacts` can also be called separately: `loads` converts contacts to
    loads on patches, `shares` distributes them over taxels, and `readings_from_loads` adds up the readings.

    A skin is not thread-safe, because its methods share scratch memory.
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
    ) -> None:
        """Place the taxels and compile the kernels.

        Args:
            model: The model.
            scales: As in `Taxels`.
            placement: As in `Taxels`.
            kind: As in `Taxels`.
            distance: As in `TaxelSearch`.
            stiffness: As in `TaxelSearch`.
            thickness: As in `TaxelSearch`.
            pads: As in `Taxels`.

        Raises:
            SceneError: As in `Taxels`.
            ConfigError: As in `TaxelSearch`.
        """
        super().__init__(model, scales, placement, kind, pads, distance, stiffness, thickness)
        index = TaxelIndex(*self._index)
        self.elastic_arrays = elastic_arrays(self, model, index)
        self.elastic_table = self.elastic_arrays.table()
        self._sums: dict[int, np.ndarray] = {}
        """Scratch memory of `gather`, by number of channels."""
        self._factors: dict[Callable[[Skin], np.ndarray], np.ndarray] = {}
        self._compile(model.nbody)

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
        touch and response functions run in a single kernel, which is twice as fast.

        Args:
            contacts: The contacts.
            body_positions: (nbody, 3) positions of the bodies in the world [m].
            body_rotations: (nbody, 3, 3) rotations from body frames to the world.
            touch: As in `readings_from_loads`.
            response: As in `readings_from_loads`.
            dtype: As in `readings_from_loads`.

        Raises:
            ConfigError: As in `readings_from_loads`.
            CommandError: Another argument is invalid, or the contacts are not those of this model.
        """
        read = self.reader(touch, response, dtype)
        require_contacts(self, contacts, body_positions, body_rotations)
        return read(contacts, body_positions, body_rotations)

    def reader(self, touch: str | TouchFunction, response: str | Response, dtype: type) -> Reader:
        """Return a function that computes readings from contacts and poses without checking them.

        Args:
            touch: As in `readings_from_loads`.
            response: As in `readings_from_loads`, but not shares.
            dtype: As in `readings_from_loads`.

        Returns:
            A function with the first three arguments and the result of `readings_from_contacts`. It is
            faster, because the arguments of this method are checked only once.

        Raises:
            ConfigError: As in `readings_from_loads`.
            CommandError: ``dtype`` is invalid.
        """
        touch, quantity = find_touch(touch)
        response = choose("skin.response_function", response, RESPONSE_FUNCTIONS)
        law, number = number_of(response, LAWS), float_type("dtype", dtype)
        if quantity is None or law is None:
            return lambda *state: self.readings_from_loads(self.loads(*state), touch, response, dtype=dtype)
        shape, sums = (len(self.positions), touch.channels), self._sums_of(touch.channels)

        def read(contacts: Contacts, positions: np.ndarray, rotations: np.ndarray) -> np.ndarray:
            out: np.ndarray = np.zeros(shape, number)
            while not kernels.read_contacts(
                contacts.values, contacts.ids, self._geoms, self.patch_bodies, positions, rotations,
                quantity, touch.mean, law, self._extents, self.elastic_table, self._room, sums, out,
            ):  # fmt: skip
                self._make_room()
            return self._converted(out, touch)

        return read

    def __deepcopy__(self, memo: dict[int, Any]) -> Skin:
        """Return `twin`, because everything else is constant."""
        return memo.setdefault(id(self), self.twin())

    def twin(self) -> Skin:
        """Return a copy of this skin with separate working memory, for another thread."""
        twin = copy.copy(self)
        twin._far = self._far.copy()
        index = TaxelIndex(*self._index)
        own = {name: getattr(index, name).copy() for name in ("scratch_heap", "scratch_vector")}
        twin._index = tuple(index._replace(scratch_distance=twin._far, **own))
        twin.elastic_arrays = self.elastic_arrays.twin(TaxelIndex(*twin._index))
        twin.elastic_table = twin.elastic_arrays.table()
        twin._sums = {}
        return twin

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
            positions = TaxelIndex(*self._index).positions
            each = Loads(at_taxels(loads.table, shares.begin, shares.taxel, positions))
        values = checked_values(touch, each)
        out: np.ndarray = np.zeros((len(self.positions), touch.channels), float_type("dtype", dtype))
        gather(
            loads.table, shares.begin, shares.taxel, shares.weight, values, touch.mean,
            self._sums_of(touch.channels), out,
        )  # fmt: skip
        return self._converted(out, touch)

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

    def _sums_of(self, channels: int) -> np.ndarray:
        if channels not in self._sums:
            self._sums[channels] = np.zeros((len(self.positions), 1 + channels))
        return self._sums[channels]

    def _converted(self, out: np.ndarray, touch: TouchFunction) -> np.ndarray:
        """Transform readings (n, c) to the touch function's frame and apply its factors, in place."""
        if touch.frame == "taxel":
            kernels.to_taxel_axes(out, self.axes)
        if touch.factor is not None:
            read = np.flatnonzero(out[:, 0])
            out[read] *= self._factors_of(touch.factor)[read]
        return out

    def _factors_of(self, factor: Callable[[Skin], np.ndarray]) -> np.ndarray:
        """Return the factors (n, 1) from the function `TouchFunction.factor`, which is only called once."""
        if factor not in self._factors:
            self._factors[factor] = checked_factor(self, factor)
        return self._factors[factor]

    def _compile(self, nbody: int) -> None:
        """Compute readings with no load and with one load, so that no kernel is compiled during a run."""
        poses = np.zeros((nbody, 3)), np.zeros((nbody, 3, 3))
        contacts = Contacts.empty(0)
        loads = self.loads(contacts, *poses)
        for dtype in (np.float32, np.float64):
            for response in ("spread_linear", "elastic_foundation"):
                self.readings_from_loads(loads, response=response, dtype=dtype)
                self.readings_from_contacts(contacts, *poses, "force_vector_taxel", response, dtype)
        if self._ngeom and len(self.positions):  # the load below is from geom 0
            loads = Loads.empty(1)
            loads.point[:], loads.normal[:], loads.force[:] = self.surface_positions[0], (0, 0, 1), (0, 0, 1)
            loads.other[:], loads.other_body[:] = 0, 0
            self.readings_from_loads(loads)
            self.readings_from_contacts(contacts, *poses)
            self.inside(loads)
        self.body_wrenches(contacts, *poses)
        self.world(*poses)

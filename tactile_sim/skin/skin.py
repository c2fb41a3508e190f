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
from tactile_sim.skin.contact_loads import resolve_loads
from tactile_sim.skin.layer import elastic_arrays
from tactile_sim.skin.loads import LOAD, Loads
from tactile_sim.skin.materials import STIFFNESS, THICKNESS
from tactile_sim.skin.pads.plan import PadPlan
from tactile_sim.skin.pairs import group_loads
from tactile_sim.skin.patches import TaxelIndex
from tactile_sim.skin.placement.surface import BodySurface
from tactile_sim.skin.responses import ELASTIC, LAWS, RESPONSE_FUNCTIONS, Response, elastic_foundation
from tactile_sim.skin.search import TaxelSearch
from tactile_sim.skin.shares import Shares, checked, gather
from tactile_sim.skin.taxels import choose
from tactile_sim.skin.touch_functions import TouchFunction, checked_values, name_of


class Skin(TaxelSearch):
    """The skin of a model, which computes the readings of its taxels.

    `feel` computes readings from contacts. Its three steps can also be called separately: `loads` converts
    contacts to loads on patches, `shares` distributes them over taxels, and `sense` adds up the readings.

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

    def feel(
        self,
        contacts: Contacts,
        body_positions: np.ndarray,
        body_rotations: np.ndarray,
        touch: str | TouchFunction = "force_vector",
        response: str | Response = "elastic_foundation",
        dtype: type = np.float64,
    ) -> np.ndarray:
        """Return the readings (n, channels) due to contacts.

        The result is the same as that of `sense` for the `loads` of the contacts. Built-in touch and response
        functions run in a single kernel, which is twice as fast.

        Args:
            contacts: The contacts.
            body_positions: (nbody, 3) positions of the bodies in the world [m].
            body_rotations: (nbody, 3, 3) rotations from body frames to the world.
            touch: As in `sense`.
            response: As in `sense`.
            dtype: As in `sense`.

        Raises:
            ConfigError: As in `sense`.
            CommandError: Another argument is invalid, or the contacts are not those of this model.
        """
        touch, quantity = find_touch(touch)
        response = choose("skin.response_function", response, RESPONSE_FUNCTIONS)
        law = number_of(response, LAWS)
        if quantity is None or law is None:
            loads = self.loads(contacts, body_positions, body_rotations)
            return self.sense(loads, touch, response, dtype=dtype)
        require_contacts(self, contacts, body_positions, body_rotations)
        out: np.ndarray = np.zeros((len(self.positions), touch.channels), float_type("dtype", dtype))
        sums = self._sums_of(touch.channels)
        state = contacts.values, contacts.ids, self._geoms, self.patch_bodies, body_positions, body_rotations
        settings: tuple = quantity, touch.mean, self._extents, self.elastic_table
        compute = kernels.feel_elastic
        if law != ELASTIC:
            compute, settings = kernels.feel, (quantity, touch.mean, law, self._extents, self._index)
        while not compute(*state, *settings, self._room, sums, out):
            self._make_room()
        return self._converted(out, touch)

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
        table = np.empty(2 * len(contacts), LOAD)
        m = resolve_loads(
            contacts.values, contacts.ids, self._geoms, self.patch_bodies, body_positions, body_rotations,
            table,
        )  # fmt: skip
        return Loads(table[:m])

    def inside(self, loads: Loads, response: str | Response = "elastic_foundation") -> np.ndarray:
        """Return whether each load (m,) is inside the pads.

        A load is outside if its point is farther than one spacing from the nearest taxel, or if that taxel
        faces away from it. The result is always True on pads that do not ignore outside loads. With
        `elastic_foundation`, all contacts with another body are tested together at their centre.

        Raises:
            ConfigError: The name of the response function is unknown.
            CommandError: The loads are invalid.
        """
        require_loads(self, loads)
        response = choose("skin.response_function", response, RESPONSE_FUNCTIONS)
        inside = np.ones(len(loads), bool)
        if self._has_limits:
            group, count = np.full(len(loads), -1), 0
            if response is elastic_foundation:
                count = group_loads(loads.table, group)
            kernels.mark_inside(loads.table, group, count, self._extents, self._index, inside)
        return inside

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
            ConfigError, CommandError: As in `loads` and `inside`.
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
        values = checked_values(touch, loads)
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

    def body_wrenches(
        self, contacts: Contacts, body_positions: np.ndarray, body_rotations: np.ndarray
    ) -> np.ndarray:
        """Return the net wrench of all contacts on the body of each pad, about its origin and in its frame.

        It includes the torsional and rolling torques of contacts, and loads that no taxel receives.

        Returns:
            (p, 6) force [N] and torque [N m], 0 for pads on flexes. Pads on one body have the same wrench.

        Raises:
            CommandError: As in `loads`.
        """
        require_contacts(self, contacts, body_positions, body_rotations)
        out = np.zeros((len(self.body_ids), 6))
        kernels.net_wrenches(contacts.values, contacts.ids, self._slot, body_positions, body_rotations, out)
        return out if len(self.pads) == len(self.body_ids) else out[self._pad_slots]

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
                self.sense(loads, response=response, dtype=dtype)
                self.feel(contacts, *poses, "force_vector_taxel", response, dtype)
        if self._ngeom and len(self.positions):  # the load below is from geom 0
            loads = Loads.empty(1)
            loads.point[:], loads.normal[:], loads.force[:] = self.surface_positions[0], (0, 0, 1), (0, 0, 1)
            loads.other[:], loads.other_body[:] = 0, 0
            self.sense(loads)
            self.feel(contacts, *poses)
            self.inside(loads)
        self.body_wrenches(contacts, *poses)
        self.world(*poses)

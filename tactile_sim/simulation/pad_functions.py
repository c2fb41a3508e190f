"""Touch and response functions of a simulation's pads."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tactile_sim import _core
from tactile_sim.common.schema import float_type
from tactile_sim.skin import TOUCH_FUNCTIONS
from tactile_sim.skin.pads import PadPlan
from tactile_sim.skin.skin import Reader
from tactile_sim.skin.taxels import choose
from tactile_sim.skin.touch_functions import TouchFunction

if TYPE_CHECKING:
    from tactile_sim.simulation import Simulation, Snapshot

Functions = tuple[str | None, str | None]
"""Names of a pad's touch and response functions; None means the default in ``skin``."""


class PadFunctions:
    """Touch and response function of each pad.

    A pad without its own function uses the default in ``skin``, which can change at run time.

    The readings of all pads are in one array (taxels, channels). It has as many channels as the pad with the
    most channels; channels that a pad does not have are 0.
    """

    def __init__(self, simulation: Simulation, plans: Sequence[PadPlan]):
        """Find the functions of each pad and group the taxels by them.

        Args:
            simulation: Simulation whose skin already exists.
            plans: Pads that are declared in ``skin.pads``.
        """
        self._simulation, skin = simulation, simulation.skin
        own = {plan.name: (plan.touch_function, plan.response_function) for plan in plans}
        self._quantities: dict[str, tuple[str, ...]] = {}
        self._units: dict[str, str] = {}
        self._readers: dict[tuple, list[tuple[Reader, np.ndarray]]] = {}
        """Results of `_make_readers` for names of touch functions; each message needs them."""
        self._pads: list[Functions] = [own.get(pad.name, (None, None)) for pad in skin.pads]
        self._rows = {
            functions: np.repeat(
                np.array([pad == functions for pad in self._pads], bool), np.diff(skin.offsets)
            )
            for functions in dict.fromkeys(self._pads or [(None, None)])
        }
        """Mask (taxels,) of the taxels that use each pair of touch and response function."""
        self.touches = list(dict.fromkeys(touch for touch, _ in self._rows))
        """Distinct touch functions of the pads; None means the default in ``skin``."""
        self._masks = {
            own: np.logical_or.reduce([rows for (touch, _), rows in self._rows.items() if touch == own])
            for own in self.touches
        }
        """Mask (taxels,) of the taxels that use each of `touches`."""
        modes = {plan.name: plan.sampling for plan in plans}
        common = simulation.settings.skin.sampling
        self.sampling = [modes.get(pad.name) or common for pad in skin.pads]
        """Sampling mode of each pad."""

    def __deepcopy__(self, memo: dict[int, Any]) -> PadFunctions:
        """Return the functions of a copied simulation, which read its skin."""
        new = memo[id(self)] = copy.copy(self)
        new._simulation, new._readers = copy.deepcopy(self._simulation, memo), {}
        return new

    @property
    def own(self) -> list[str]:
        """Names of the pads that have their own touch or response function."""
        pads = zip(self._simulation.skin.pads, self._pads, strict=True)
        return [pad.name for pad, functions in pads if functions != (None, None)]

    @property
    def quantities(self) -> tuple[str, ...]:
        """Name of the touch function of each pad."""
        common = self._simulation.settings.skin.touch_function
        if common not in self._quantities:  # needed for each message
            self._quantities[common] = tuple(touch or common for touch, _ in self._pads)
        return self._quantities[common]

    @property
    def responses(self) -> list[str]:
        """Name of the response function of each pad."""
        common = self._simulation.settings.skin.response_function
        return [response or common for _, response in self._pads]

    @property
    def unit(self) -> str:
        """Unit of all readings; empty if pads have different units."""
        common = self._simulation.settings.skin.touch_function
        if common not in self._units:  # needed for each message
            units = {TOUCH_FUNCTIONS[touch].unit for touch in self._used()}
            self._units[common] = units.pop() if len(units) == 1 else ""
        return self._units[common]

    @property
    def pad_channels(self) -> list[int]:
        """Number of channels of each pad."""
        return [TOUCH_FUNCTIONS[quantity].channels for quantity in self.quantities]

    @property
    def channels(self) -> int:
        """Largest number of channels of a pad."""
        return max(TOUCH_FUNCTIONS[touch].channels for touch in self._used())

    def _used(self) -> list[str]:
        """Return the names of the touch functions in `touches`."""
        return [touch or self._simulation.settings.skin.touch_function for touch in self.touches]

    def by_quantity(self) -> Iterator[tuple[str, np.ndarray]]:
        """Return the name of each touch function and the mask (taxels,) of its taxels, in order of `touches`.

        The order and the masks are constant. A name occurs twice if it is the default in ``skin`` and also
        set for some pads.
        """
        return zip(self._used(), self._masks.values(), strict=True)

    def by_response(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the name of a response function and a mask (taxels,) of the taxels that use it.

        A name can occur several times, with disjoint masks.
        """
        common = self._simulation.settings.skin.response_function
        for (_, response), rows in self._rows.items():
            yield response or common, rows

    def ideal_readings(
        self, snapshot: Snapshot, touch: str | TouchFunction | None, dtype: type = np.float64
    ) -> np.ndarray:
        """Return the readings (taxels, channels) of a snapshot, before sampling and the signal chain.

        Args:
            snapshot: Snapshot of the current state.
            touch: Touch function for all pads; None uses each pad's function.
            dtype: Type of the readings.

        Raises:
            ConfigError: The touch function is unknown.
            CommandError: ``dtype`` is neither float32 nor float64.
        """
        if dtype is not np.float64 and dtype is not np.float32:
            dtype = float_type("dtype", dtype).type
        if touch is None or isinstance(touch, str):
            readers = self._named_readers(touch, dtype)
        else:
            readers = self._make_readers(touch, dtype)
        if len(readers) == 1:
            return snapshot.read(readers[0][0])
        felt = [snapshot.read(reader) for reader, _ in readers]
        channels = max(part.shape[1] for part in felt)
        out: np.ndarray = np.zeros((len(felt[0]), channels), dtype)
        for part, (_, rows) in zip(felt, readers, strict=True):
            out[rows, : part.shape[1]] = part[rows]
        return out

    def native_reader(self) -> _core.SkinFunction | None:
        """Return what native code needs to compute the ideal readings of all pads, or None if it cannot."""
        (reader, _), *others = self._named_readers(None, np.float64)
        return reader.function if reader.native and self.unit and not others else None

    def _named_readers(self, touch: str | None, dtype: type) -> list[tuple[Reader, np.ndarray]]:
        """Return the result of `_make_readers`, which is computed once."""
        common = self._simulation.settings.skin
        key = touch, dtype, common.touch_function, common.response_function
        readers = self._readers.get(key)
        if readers is None:
            readers = self._readers[key] = self._make_readers(touch, dtype)
        return readers

    def _make_readers(
        self, touch: str | TouchFunction | None, dtype: type
    ) -> list[tuple[Reader, np.ndarray]]:
        """Return functions that compute readings, each with the mask (taxels,) of its taxels."""
        common = self._simulation.settings.skin
        chosen = None if touch is None else choose("ideal_readings: touch_function", touch, TOUCH_FUNCTIONS)
        masks: dict[tuple[str | TouchFunction, str], np.ndarray] = {}
        for (own, response), rows in self._rows.items():
            pair = chosen or own or common.touch_function, response or common.response_function
            masks[pair] = masks[pair] | rows if pair in masks else rows
        return [(self._simulation.skin.reader(*pair, dtype), rows) for pair, rows in masks.items()]

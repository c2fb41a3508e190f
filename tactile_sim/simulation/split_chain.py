"""Combine the signal chains of pads that have different touch functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tactile_sim.common.names import match
from tactile_sim.signal_chain import SignalChain
from tactile_sim.signal_chain.stages import make_stages
from tactile_sim.skin import TOUCH_FUNCTIONS, Pad

if TYPE_CHECKING:
    from tactile_sim.simulation import Simulation


class _Part(NamedTuple):
    """Input from which a `SignalChain` is built: some pads of a skin, and arrays of all taxels of the skin.

    It implements the protocol `Sensed`.
    """

    pads: Sequence[Pad]
    positions: np.ndarray
    normals: np.ndarray
    neighbors: tuple[np.ndarray, np.ndarray]


def make_chain(simulation: Simulation) -> SignalChain | SplitChain:
    """Return the signal chain of a simulation, split if its pads have different touch functions.

    Args:
        simulation: Simulation whose skin, stages and functions already exist.

    Raises:
        ConfigError: A stage, a parameter or a pad name in ``skin.sensor`` is invalid.
    """
    settings, stages = simulation.settings, simulation.stages
    rest = simulation.engine.timestep, settings.seed, settings.source
    groups = list(simulation.functions.by_quantity())
    if len(groups) == 1:
        return SignalChain(simulation.skin, stages, *rest, TOUCH_FUNCTIONS[groups[0][0]].frame)
    skin, where = simulation.skin, f"{settings.source}: skin.sensor"
    names = [pad.name for pad in skin.pads]
    make_stages(stages, names, where)  # checks all entries, including those that match no pad of a group
    chosen = match(stages, names, where, "pad") if stages else {}
    chains = []
    for touch, rows in groups:
        pads = [pad for pad in skin.pads if rows[pad.start : pad.stop].all()]
        own: dict[str, Mapping[str, Any]] = {
            pad.name: stages[chosen[pad.name]] for pad in pads if pad.name in chosen
        }
        part = _Part(pads, skin.positions, skin.normals, skin.neighbors)
        chains.append(SignalChain(part, own, *rest, TOUCH_FUNCTIONS[touch].frame))
    return SplitChain(simulation, chains)


class SplitChain:
    """One signal chain for each touch function of a simulation's pads, used like a single `SignalChain`.

    Readings are arrays (taxels, channels) of all taxels of the skin. They have as many channels as the touch
    function with the most channels; channels that a taxel does not have are 0.
    """

    def __init__(self, simulation: Simulation, chains: Sequence[SignalChain]):
        """Combine ``chains``, one for each touch function in ``simulation.functions.by_quantity``."""
        self._simulation, self._chains = simulation, list(chains)

    def of_pad(self, pad: int) -> SignalChain:
        """Return the chain that processes the pad with this index in ``skin.pads``."""
        first = self._simulation.skin.pads[pad].start
        quantities = self._simulation.functions.by_quantity()
        return next(chain for chain, (_, rows) in zip(self._chains, quantities, strict=True) if rows[first])

    @property
    def staged(self) -> np.ndarray:
        """(pads,) bool, True for pads of the skin that have signal-chain stages."""
        staged = np.zeros(len(self._simulation.skin.pads), bool)
        index = self._simulation.skin.pad_index
        for chain, (_, rows) in zip(self._chains, self._simulation.functions.by_quantity(), strict=True):
            staged[np.unique(index[rows])] = chain.staged
        return staged

    def switch(self, enabled: Mapping[str, Mapping[str, bool]]) -> None:
        """Switch stages on or off.

        Args:
            enabled: For each pad name, whether each stage is on, keyed by the name of the stage.
        """
        for chain in self._chains:
            chain.switch(enabled)

    @property
    def has_memory(self) -> bool:
        """True if the readings of any chain depend on earlier ones."""
        return any(chain.has_memory for chain in self._chains)

    @property
    def idle(self) -> bool:
        """True if all chains return readings unchanged."""
        return all(chain.idle for chain in self._chains)

    @property
    def valid(self) -> np.ndarray:
        """(taxels,) uint8, 0 where the last output is invalid; empty if no output can be invalid."""
        marked = [chain.valid for chain in self._chains if len(chain.valid)]
        return np.minimum.reduce(marked) if marked else np.empty(0, np.uint8)

    @property
    def history(self) -> dict[str, np.ndarray]:
        """Last stored outputs (samples, taxels, channels) of each pad, oldest first, keyed by pad name."""
        return {name: values for chain in self._chains for name, values in chain.history.items()}

    @property
    def zero(self) -> np.ndarray | None:
        """Readings (taxels, channels) that the tare subtracts; None before the first tare."""
        zeros = [chain.zero for chain in self._chains]
        if all(zero is None for zero in zeros):
            return None
        taxels = len(self._simulation.skin.positions)
        return self._join([np.zeros((taxels, 1)) if zero is None else zero for zero in zeros])

    @zero.setter
    def zero(self, values: np.ndarray | None) -> None:
        parts = [None] * len(self._chains) if values is None else self._parts(values)
        for chain, part in zip(self._chains, parts, strict=True):
            chain.zero = part

    def read(self, step: int, reading: np.ndarray) -> np.ndarray:
        """Return the output (taxels, channels) for an ideal reading, and store it.

        Must be called once for each tactile message.

        Args:
            step: Number of steps since the reset.
            reading: (taxels, channels) ideal reading.
        """
        parts = zip(self._chains, self._parts(reading), strict=True)
        return self._join([chain.read(step, part) for chain, part in parts])

    def peek(self, step: int, reading: np.ndarray) -> np.ndarray:
        """Return the output that `read` would return for the same arguments, without storing it."""
        parts = zip(self._chains, self._parts(reading), strict=True)
        return self._join([chain.peek(step, part) for chain, part in parts])

    def tare(self, step: int, reading: np.ndarray) -> None:
        """Subtract the current output from all later outputs.

        Args:
            step: Number of steps since the reset.
            reading: (taxels, channels) ideal reading from which the current output is computed.
        """
        for chain, part in zip(self._chains, self._parts(reading), strict=True):
            chain.tare(step, part)

    def restart(self, seed: int | None = None) -> None:
        """Restart the step count, random numbers and memory of all chains. The tare is kept.

        Args:
            seed: New seed; None continues with the next random numbers of the current seed.

        Raises:
            CommandError: The seed is invalid.
        """
        for chain in self._chains:
            chain.restart(seed)

    def forget(self, frame: str = "body") -> None:
        """Restart the chain of all pads that use the default touch function in ``skin``, and drop their tare.

        `Simulation.update` calls this when the default changes. Pads with their own touch function are not
        affected.

        Args:
            frame: Frame of the new touch function's vector readings: ``body``, ``taxel`` or ``world``.
        """
        for chain, own in zip(self._chains, self._simulation.functions.touches, strict=True):
            if own is None:
                chain.forget(frame)

    def _parts(self, values: np.ndarray) -> list[np.ndarray]:
        """Split readings (taxels, channels) into one array per chain, with only that chain's channels."""
        quantities = self._simulation.functions.by_quantity()
        return [values[:, : TOUCH_FUNCTIONS[touch].channels] for touch, _ in quantities]

    def _join(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        """Combine the readings of all chains into one array (taxels, channels)."""
        functions = self._simulation.functions
        out = np.zeros((len(parts[0]), functions.channels))
        for part, (_, rows) in zip(parts, functions.by_quantity(), strict=True):
            out[rows, : part.shape[1]] = part[rows]
        return out
